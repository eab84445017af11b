import { Fault } from '../fault.ts';

/** Larger arcs are rejected. The largest arcs in use are UUIDs (X.667 §7). */
const arcLimit = 1n << 128n;
/** The most octets of an arc whose value a double represents exactly. */
const longestPlain = 7;
const longestOid = 64;

/**
 * The OIDs decoded last, by a hash of their octets, because certificates and requests repeat the same few dozen. A new
 * OID replaces the one with the same hash, so untrusted input can slow decoding down but not fill the memory.
 */
const decoded: { readonly contents: Uint8Array; readonly text: string }[] = [];
const places = 512;

/**
 * Decodes the contents octets of an OBJECT IDENTIFIER, from `start` to `end`, to dotted decimal (X.690 §8.19). Faults:
 * malformed.
 */
export function decodeOid(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end <= start || end - start > longestOid) throw new Fault('malformed', 'DER: the OID is not valid');
  let hash = 0;
  for (let at = start; at < end; at++) hash = (hash * 31 + bytes[at]!) % places;
  const known = decoded[hash];
  if (known && holds(known.contents, bytes, start, end)) return known.text;
  const text = interned(toText(bytes, start, end));
  // `slice` of a Buffer does not copy, so copy explicitly.
  decoded[hash] = { contents: new Uint8Array(bytes.subarray(start, end)), text };
  return text;
}

/** Returns the engine's own copy of a property name. Equal copies are one string, so comparing them is cheap. */
const interned = (text: string): string => Object.keys({ [text]: 0 })[0]!;

function holds(contents: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (contents.length !== end - start) return false;
  for (let i = 0; i < contents.length; i++) if (contents[i] !== bytes[start + i]) return false;
  return true;
}

function toText(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  let from = start;
  for (let at = start; at < end; at++) {
    if (bytes[at]! >= 0x80) continue;
    if (bytes[from] === 0x80) throw new Fault('malformed', 'DER: OID arc with leading zeros');
    const arc = toArc(bytes, from, at + 1);
    if (text === '') {
      const first = arc < 40 ? 0 : arc < 80 ? 1 : 2;
      text = `${first}.${BigInt(arc) - BigInt(first * 40)}`;
    } else {
      text += `.${arc}`;
    }
    from = at + 1;
  }
  if (from < end) throw new Fault('malformed', 'DER: truncated OID');
  return text;
}

function toArc(bytes: Uint8Array, from: number, end: number): number | bigint {
  if (end - from <= longestPlain) {
    let arc = 0;
    for (let at = from; at < end; at++) arc = arc * 128 + (bytes[at]! & 0x7f);
    return arc;
  }
  let arc = 0n;
  for (let at = from; at < end; at++) arc = (arc << 7n) | BigInt(bytes[at]! & 0x7f);
  if (arc >= arcLimit) throw new Fault('malformed', 'DER: OID arc too large');
  return arc;
}

/** Encodes dotted decimal as contents octets. Faults: malformed. */
export function encodeOid(text: string): Uint8Array {
  if (!/^[0-2](\.(0|[1-9]\d{0,38}))+$/.test(text))
    throw new Fault('malformed', `not an OID: ${text.slice(0, 80)}`);
  const [first, second, ...rest] = text.split('.').map(BigInt) as [bigint, bigint, ...bigint[]];
  if (first < 2 && second > 39) throw new Fault('malformed', `not an OID: ${text.slice(0, 80)}`);
  const octets: number[] = [];
  for (const arc of [first * 40n + second, ...rest]) {
    if (arc >= arcLimit) throw new Fault('malformed', `OID arc too large: ${text.slice(0, 80)}`);
    const at = octets.length;
    octets.push(Number(arc % 128n));
    for (let left = arc / 128n; left > 0n; left /= 128n) octets.splice(at, 0, Number(left % 128n) | 0x80);
  }
  if (octets.length > longestOid) throw new Fault('malformed', `OID too long: ${text.slice(0, 80)}`);
  return Uint8Array.from(octets);
}
