/** An element of DER as a tree that can be changed: lengths are made when it is written. */
export interface Element {
  tag: number;
  /** Octets before the members: the count of unused bits of a BIT STRING with DER in it. */
  prefix: Uint8Array;
  /** What the contents are made of; undefined for contents that are octets. */
  members: Element[] | undefined;
  contents: Uint8Array;
  /** How its length is written: as DER has it, in more octets than needed, indefinite, or one too much. */
  length: 'der' | 'long' | 'indefinite' | 'wrong';
}

const none = new Uint8Array(0);
const bitString = 0x03;
const octetString = 0x04;
const constructed = 0x20;
const deepest = 40;

export const leaf = (tag: number, contents: Uint8Array): Element => ({
  tag,
  prefix: none,
  members: undefined,
  contents,
  length: 'der',
});

export const branch = (tag: number, members: Element[]): Element => ({ ...leaf(tag, none), members });

/** The elements that stand one after the other in `bytes`; undefined where there is something else. */
export function readElements(bytes: Uint8Array, depth = 0): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at]!;
    const first = bytes[at + 1];
    if (first === undefined || first === 0x80 || depth > deepest) return undefined;
    const octets = first > 0x80 ? first & 0x7f : 0;
    let length = octets === 0 ? first : 0;
    for (let n = 0; n < octets; n++) length = length * 256 + (bytes[at + 2 + n] ?? 0);
    const start = at + 2 + octets;
    if (start + length > bytes.length) return undefined;
    elements.push(readElement(tag, bytes.subarray(start, start + length), depth));
    at = start + length;
  }
  return elements;
}

function readElement(tag: number, contents: Uint8Array, depth: number): Element {
  const prefix = tag === bitString && contents[0] === 0 ? contents.subarray(0, 1) : none;
  const inner = contents.subarray(prefix.length);
  const mayHaveMembers = (tag & constructed) !== 0 || tag === octetString || tag === bitString;
  const members = mayHaveMembers && inner.length > 0 ? readElements(inner, depth + 1) : undefined;
  return { ...leaf(tag, contents), prefix: members ? prefix : none, members };
}

export function writeElements(elements: readonly Element[]): Uint8Array {
  return Buffer.concat(elements.map(write));
}

function write(element: Element): Uint8Array {
  const { tag, prefix, members, contents, length } = element;
  const body = members ? Buffer.concat([prefix, writeElements(members)]) : contents;
  if (length === 'indefinite') return Buffer.concat([Uint8Array.of(tag, 0x80), body, Uint8Array.of(0, 0)]);
  const count = body.length + (length === 'wrong' ? 1 : 0);
  const short = length !== 'long' && count < 0x80;
  const header = short
    ? Uint8Array.of(tag, count)
    : Uint8Array.of(tag, 0x84, count >>> 24, (count >>> 16) & 0xff, (count >>> 8) & 0xff, count & 0xff);
  return Buffer.concat([short || length === 'long' ? header : minimal(tag, count), body]);
}

function minimal(tag: number, length: number): Uint8Array {
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left & 0xff);
  return Uint8Array.of(tag, 0x80 | octets.length, ...octets);
}
