import { Fault } from '../fault.ts';
import { decodeOid } from './oid.ts';
import { tag } from './tag.ts';
import { parseTime } from './time.ts';

/**
 * Octets. The longest integers outside keys are serial numbers. Some have more than the 20 octets of RFC 5280 §4.1.2.2.
 */
const longestInteger = 64;

const bad = (what: string): Fault => new Fault('malformed', `DER: ${what}`);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// A string built character by character is a tree of pieces that every later use has to flatten.
const latin1 = Buffer.prototype.latin1Slice;

/** A BIT STRING. The last `unused` (0 to 7) bits of `bytes` do not count; in DER they are zero. */
export interface BitString {
  readonly unused: number;
  readonly bytes: Uint8Array;
}

/**
 * Reads DER (X.690 §10, §11) from a fixed range of octets, as cryptobyte does: each call consumes one element or throws
 * Fault malformed. Indefinite and non-minimal lengths, multi-octet tags, padded integers and trailing octets are
 * rejected. Results are views of the input, not copies.
 */
export class DerReader {
  readonly bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get empty(): boolean {
    return this.#at >= this.#end;
  }

  /** Returns the next identifier octet, or -1 at the end. */
  peek(): number {
    return this.#at < this.#end ? this.bytes[this.#at]! : -1;
  }

  /** Returns the octets that have not been consumed. */
  rest(): Uint8Array {
    return this.bytes.subarray(this.#at, this.#end);
  }

  /** Consumes nothing; throws if anything is left. Call it at the end of every structure. */
  finish(): void {
    if (this.#at !== this.#end) throw bad('trailing bytes');
  }

  /** Consumes an element with this identifier octet and returns a reader for its contents. */
  read(expected: number): DerReader {
    const start = this.#header(expected);
    return new DerReader(this.bytes, start, this.#at);
  }

  /** Like `read`, for the last element of this reader: returns this reader itself, at the start of the contents. */
  enter(expected: number): this {
    const start = this.#header(expected);
    this.finish();
    this.#at = start;
    return this;
  }

  /** Like `read` if the next element has this identifier octet; otherwise consumes nothing and returns undefined. */
  optional(expected: number): DerReader | undefined {
    return this.peek() === expected ? this.read(expected) : undefined;
  }

  /** Consumes one element with any tag, or with `expected`, and returns all of it including its header. */
  element(expected: number = this.peek()): Uint8Array {
    const from = this.#at;
    this.#header(expected);
    return this.bytes.subarray(from, this.#at);
  }

  /** Consumes the next element if it equals `encoded`, a whole element. Returns whether it does. */
  takes(encoded: Uint8Array): boolean {
    const { bytes } = this;
    const at = this.#at;
    if (encoded.length > this.#end - at) return false;
    for (let i = 0; i < encoded.length; i++) if (bytes[at + i] !== encoded[i]) return false;
    this.#at = at + encoded.length;
    return true;
  }

  /** Consumes an element like `element` and returns its number of octets. */
  skip(expected: number = this.peek()): number {
    const from = this.#at;
    this.#header(expected);
    return this.#at - from;
  }

  /** Consumes an element and returns its contents octets. */
  contents(expected: number): Uint8Array {
    return this.bytes.subarray(this.#header(expected), this.#at);
  }

  /** Consumes an element and returns the number of its contents octets. */
  skipContents(expected: number): number {
    const start = this.#header(expected);
    return this.#at - start;
  }

  sequence(): DerReader {
    return this.read(tag.sequence);
  }

  set(): DerReader {
    return this.read(tag.set);
  }

  boolean(expected: number = tag.boolean): boolean {
    const start = this.#header(expected);
    const octet = this.bytes[start];
    if (this.#at - start !== 1 || (octet !== 0 && octet !== 0xff)) throw bad('bad BOOLEAN');
    return octet === 0xff;
  }

  /** Consumes an INTEGER and returns its contents octets (two's complement), checked to be minimal. */
  integerBytes(expected: number = tag.integer): Uint8Array {
    return this.bytes.subarray(this.#integer(expected), this.#at);
  }

  /** Like `integerBytes`, for an INTEGER of at most 64 octets, such as a serial number. */
  shortIntegerBytes(expected: number = tag.integer): Uint8Array {
    const value = this.integerBytes(expected);
    if (value.length > longestInteger) throw bad('INTEGER too long');
    return value;
  }

  /** Consumes an INTEGER like `integerBytes` and returns the number of its contents octets. */
  skipInteger(expected: number = tag.integer): number {
    const start = this.#integer(expected);
    return this.#at - start;
  }

  /** Consumes an INTEGER of at most 64 octets. The length is checked before the value is built. */
  integer(expected: number = tag.integer): bigint {
    const value = this.shortIntegerBytes(expected);
    return BigInt.asIntN(8 * value.length, BigInt(`0x${value.toHex()}`));
  }

  /** Consumes an INTEGER between 0 and `max` (at most 2^48). */
  smallInteger(max: number, expected: number = tag.integer): number {
    const { bytes } = this;
    const start = this.#integer(expected);
    const end = this.#at;
    if (bytes[start]! >= 0x80 || end - start > 7) throw bad('INTEGER out of range');
    let n = 0;
    for (let at = start; at < end; at++) n = n * 256 + bytes[at]!;
    if (n > max) throw bad('INTEGER out of range');
    return n;
  }

  oid(expected: number = tag.oid): string {
    const start = this.#header(expected);
    return decodeOid(this.bytes, start, this.#at);
  }

  octetString(expected: number = tag.octetString): Uint8Array {
    return this.contents(expected);
  }

  bitString(expected: number = tag.bitString): BitString {
    const start = this.#bitString(expected);
    return { unused: this.bytes[start]!, bytes: this.bytes.subarray(start + 1, this.#at) };
  }

  /** Consumes a BIT STRING of whole octets, such as a key or a signature. */
  bitStringBytes(expected: number = tag.bitString): Uint8Array {
    const start = this.#bitString(expected);
    if (this.bytes[start] !== 0) throw bad('BIT STRING is not whole octets');
    return this.bytes.subarray(start + 1, this.#at);
  }

  null(): void {
    if (this.skipContents(tag.null) !== 0) throw bad('bad NULL');
  }

  utf8String(expected: number = tag.utf8String): string {
    const start = this.#header(expected);
    const text = this.#ascii(start);
    if (text !== undefined) return text;
    try {
      return utf8.decode(this.bytes.subarray(start, this.#at));
    } catch {
      throw bad('bad UTF-8');
    }
  }

  /** Consumes an IA5String, or another string of octets below 0x80. */
  asciiString(expected: number = tag.ia5String): string {
    const text = this.#ascii(this.#header(expected));
    if (text === undefined) throw bad('not ASCII');
    return text;
  }

  /** Consumes a UTCTime or GeneralizedTime as restricted by RFC 5280 §4.1.2.5. Returns milliseconds since 1970. */
  time(): number {
    const which = this.peek();
    if (which !== tag.utcTime && which !== tag.generalizedTime) throw bad('no time');
    return parseTime(which, this.asciiString(which));
  }

  /** Consumes a GeneralizedTime in the form of `time`, in any year. */
  generalizedTime(expected: number = tag.generalizedTime): number {
    return parseTime(tag.generalizedTime, this.asciiString(expected));
  }

  /** Returns the octets from `start` to the current position, or undefined if one is above 0x7f. */
  #ascii(start: number): string | undefined {
    const { bytes } = this;
    const end = this.#at;
    for (let at = start; at < end; at++) if (bytes[at]! >= 0x80) return undefined;
    return latin1.call(bytes, start, end);
  }

  /** Consumes a BIT STRING and returns the position of its contents, which begin with the number of unused bits. */
  #bitString(expected: number): number {
    const { bytes } = this;
    const start = this.#header(expected);
    const end = this.#at;
    const unused = start < end ? bytes[start]! : 8;
    if (unused > 7 || (unused > 0 && end - start === 1)) throw bad('bad BIT STRING');
    if (unused > 0 && (bytes[end - 1]! & ((1 << unused) - 1)) !== 0) throw bad('BIT STRING padding not zero');
    return start;
  }

  /** Consumes an INTEGER, checked to be minimal, and returns the position of its contents. */
  #integer(expected: number): number {
    const { bytes } = this;
    const start = this.#header(expected);
    const length = this.#at - start;
    if (length === 0) throw bad('empty INTEGER');
    const first = bytes[start]!;
    if (
      length > 1 &&
      ((first === 0 && bytes[start + 1]! < 0x80) || (first === 0xff && bytes[start + 1]! >= 0x80))
    ) {
      throw bad('INTEGER not minimal');
    }
    return start;
  }

  /** Consumes an element and returns the position of its contents. */
  #header(expected: number): number {
    const { bytes } = this;
    const end = this.#end;
    let at = this.#at;
    if (at >= end) throw bad('too short');
    const identifier = bytes[at++]!;
    if (identifier !== expected) throw bad(`unexpected tag 0x${identifier.toString(16).padStart(2, '0')}`);
    if ((identifier & 0x1f) === 0x1f) throw bad('multi-octet tag');
    if (at >= end) throw bad('too short');
    let length = bytes[at++]!;
    if (length >= 0x80) {
      const octets = length & 0x7f;
      if (octets === 0 || octets > 4) throw bad('bad length');
      if (at + octets > end) throw bad('too short');
      if (bytes[at] === 0) throw bad('length not minimal');
      length = 0;
      for (let i = 0; i < octets; i++) length = length * 256 + bytes[at++]!;
      if (length < 0x80) throw bad('length not minimal');
    }
    if (length > end - at) throw bad('too short');
    this.#at = at + length;
    return at;
  }
}

/** Reads one whole DER value: `read` must consume all of `bytes`. Faults: malformed. */
export function readDer<T>(bytes: Uint8Array, read: (reader: DerReader) => T): T {
  const reader = new DerReader(bytes);
  const value = read(reader);
  reader.finish();
  return value;
}
