import { Fault } from '../fault.ts';

/** Arcs beyond this are refused: every registered one is smaller, and a double holds them exactly. */
const largestArc = 2 ** 48;
const longestOid = 64;

/**
 * What was decoded last, found by a hash of the octets: certificates and requests repeat the same few dozen. An OID that nobody
 * has seen takes the place of another, so strangers can only slow it down.
 */
const decoded: { readonly contents: Uint8Array; readonly text: string }[] = [];
const places = 512;

/** Contents octets of an OBJECT IDENTIFIER, or those from `start` to `end` → dotted decimal (X.690 §8.19). Faults: malformed. */
export function decodeOid(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end <= start || end - start > longestOid) throw new Fault('malformed', 'DER: bad OID');
  let hash = 0;
  for (let at = start; at < end; at++) hash = (hash * 31 + bytes[at]!) % places;
  const known = decoded[hash];
  if (known && holds(known.contents, bytes, start, end)) return known.text;
  const text = interned(toText(bytes, start, end));
  // A copy: what `slice` gives of a Buffer is the Buffer's own octets.
  decoded[hash] = { contents: new Uint8Array(bytes.subarray(start, end)), text };
  return text;
}

/** As a name of a property, and in the source, a text is there once: comparing two of those takes no look at their characters. */
const interned = (text: string): string => Object.keys({ [text]: 0 })[0]!;

function holds(contents: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (contents.length !== end - start) return false;
  for (let i = 0; i < contents.length; i++) if (contents[i] !== bytes[start + i]) return false;
  return true;
}

function toText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  let arc = 0;
  let fresh = true;
  for (let at = start; at < end; at++) {
    const octet = bytes[at]!;
    if (fresh && octet === 0x80) throw new Fault('malformed', 'DER: OID arc with leading zeros');
    arc = arc * 128 + (octet & 0x7f);
    if (arc > largestArc) throw new Fault('malformed', 'DER: OID arc too large');
    fresh = octet < 0x80;
    if (!fresh) continue;
    if (text === '') {
      const first = arc < 40 ? 0 : arc < 80 ? 1 : 2;
      text = `${first}.${arc - first * 40}`;
    } else {
      text += `.${arc}`;
    }
    arc = 0;
  }
  if (!fresh) throw new Fault('malformed', 'DER: truncated OID');
  return text;
}

/** Dotted decimal → contents octets. Faults: malformed. */
export function encodeOid(text: string): Uint8Array {
  if (!/^[0-2](\.(0|[1-9]\d{0,14}))+$/.test(text))
    throw new Fault('malformed', `not an OID: ${text.slice(0, 80)}`);
  const [first, second, ...rest] = text.split('.').map(Number) as [number, number, ...number[]];
  if (first < 2 && second > 39) throw new Fault('malformed', `not an OID: ${text.slice(0, 80)}`);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    if (arc > largestArc) throw new Fault('malformed', `OID arc too large: ${text.slice(0, 80)}`);
    const at = octets.length;
    octets.push(arc % 128);
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      octets.splice(at, 0, (left % 128) | 0x80);
    }
  }
  if (octets.length > longestOid) throw new Fault('malformed', `OID too long: ${text.slice(0, 80)}`);
  return Uint8Array.from(octets);
}
