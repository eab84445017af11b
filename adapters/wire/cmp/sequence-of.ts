import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

/** The SIZE of a SEQUENCE OF, with a maximum even where ASN.1 has none. */
interface Size {
  readonly least: 0 | 1;
  readonly most: number;
}

/** Consumes a SEQUENCE OF, also with an implicit tag. `read` consumes one member. Faults: malformed. */
export function readSequenceOf<T>(reader: DerReader, size: Size, read: (members: DerReader) => T): T[] {
  const members = reader.sequence();
  const values: T[] = [];
  while (!members.empty) {
    if (values.length === size.most)
      throw new Fault('malformed', `CMP: a list has more than ${size.most} elements`);
    values.push(read(members));
  }
  if (values.length < size.least) throw new Fault('malformed', 'CMP: empty list');
  return values;
}

/** Adds a SEQUENCE OF. `add` encodes one member. */
export function addSequenceOf<T>(
  builder: DerBuilder,
  values: readonly T[],
  add: (builder: DerBuilder, value: T) => void,
): void {
  builder.sequence((s) => {
    for (const value of values) add(s, value);
  });
}

/**
 * Applies `read` to the contents of `[n] EXPLICIT`; returns undefined if the next element has another tag. Faults:
 * malformed.
 */
export function readExplicit<T>(
  reader: DerReader,
  identifier: number,
  read: (inner: DerReader) => T,
): T | undefined {
  const inner = reader.optional(identifier);
  if (!inner) return undefined;
  const value = read(inner);
  inner.finish();
  return value;
}

/** Consumes a SEQUENCE without decoding it: a certificate, CRL or algorithm. Faults: malformed. */
export const readEncoded = (reader: DerReader): Uint8Array => reader.element(tag.sequence);

export const addEncoded = (builder: DerBuilder, encoded: Uint8Array): void => void builder.raw(encoded);
