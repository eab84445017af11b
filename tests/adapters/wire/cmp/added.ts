import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';

/** One DER element: its contents octets, or the elements that it consists of. */
interface Element {
  readonly identifier: number;
  readonly contents: Uint8Array | readonly Element[];
}

const constructed = 0x20;
const nullElement: Element = { identifier: 5, contents: new Uint8Array() };

/** Returns one copy of `encoded` for each of its constructed elements, with a NULL appended to that element. */
export const withSomethingAdded = (encoded: Uint8Array): readonly Uint8Array[] =>
  variants(elementOf(encoded)).map(encode);

function elementOf(encoded: Uint8Array): Element {
  const identifier = encoded[0]!;
  return readDer(encoded, (reader) => {
    const inner = reader.read(identifier);
    if ((identifier & constructed) === 0) return { identifier, contents: inner.rest() };
    const contents: Element[] = [];
    while (!inner.empty) contents.push(elementOf(inner.element()));
    return { identifier, contents };
  });
}

function variants({ identifier, contents }: Element): readonly Element[] {
  if (contents instanceof Uint8Array) return [];
  const changed = contents.flatMap((member, n) =>
    variants(member).map((variant) => ({ identifier, contents: contents.with(n, variant) })),
  );
  return [...changed, { identifier, contents: [...contents, nullElement] }];
}

const encode = ({ identifier, contents }: Element): Uint8Array =>
  der((b) =>
    b.add(identifier, contents instanceof Uint8Array ? contents : Buffer.concat(contents.map(encode))),
  );
