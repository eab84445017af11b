import { encodeOid } from './oid.ts';
import { contextConstructed, tag } from './tag.ts';
import { formatGeneralizedTime, formatTime } from './time.ts';

const utf8 = new TextEncoder();

/** The encodings of OIDs that the code itself names; bounded, as OIDs may also come from configuration. */
const encodedOids = new Map<string, Uint8Array>();
const mostCachedOids = 1000;

function oidContents(oid: string): Uint8Array {
  const known = encodedOids.get(oid);
  if (known) return known;
  const encoded = encodeOid(oid);
  if (encodedOids.size < mostCachedOids) encodedOids.set(oid, encoded);
  return encoded;
}

type Body = Uint8Array | ((builder: DerBuilder) => void);

const largestKept = 4096;

/**
 * Writes DER into one growing buffer. A nested closure writes the contents of an element, as in cryptobyte's Builder.
 */
export class DerBuilder {
  #buffer = new Uint8Array(1024);
  #length = 0;

  /** Adds an element with this identifier octet. Its contents are the given bytes, or what the closure adds. */
  add(identifier: number, body: Body): this {
    if (typeof body !== 'function') {
      this.#header(identifier, body.length);
      return this.raw(body);
    }
    const start = this.begin(identifier);
    body(this);
    return this.end(start);
  }

  /** Begins an element that `end` completes: the same as `add` with a closure, but without the cost of one. */
  begin(identifier: number): number {
    this.#reserve(2);
    this.#buffer[this.#length] = identifier;
    this.#length += 2;
    return this.#length;
  }

  /**
   * Ends the element whose contents begin at `start`: writes their length, and moves them if it needs several octets.
   */
  end(start: number): this {
    const length = this.#length - start;
    if (length < 0x80) {
      this.#buffer[start - 1] = length;
      return this;
    }
    const octets = lengthOctets(length);
    this.#reserve(octets);
    this.#buffer.copyWithin(start + octets, start, this.#length);
    this.#buffer[start - 1] = 0x80 | octets;
    for (let i = 0; i < octets; i++) this.#buffer[start + i] = (length >>> (8 * (octets - 1 - i))) & 0xff;
    this.#length += octets;
    return this;
  }

  /** Adds an element that is already encoded. */
  raw(encoded: Uint8Array): this {
    this.#reserve(encoded.length);
    this.#buffer.set(encoded, this.#length);
    this.#length += encoded.length;
    return this;
  }

  sequence(body: Body): this {
    return this.add(tag.sequence, body);
  }

  /** Adds a SET with one member, or with members that the caller adds in DER order. See also `setOf`, which sorts. */
  set(body: Body): this {
    return this.add(tag.set, body);
  }

  /** Adds a SET OF with its members in ascending order of their encodings (X.690 §11.6). */
  setOf(members: readonly Uint8Array[], identifier: number = tag.set): this {
    const sorted = [...members].sort(Buffer.compare);
    return this.add(identifier, (b) => {
      for (const member of sorted) b.raw(member);
    });
  }

  /** Adds `[n] EXPLICIT`. */
  explicit(n: number, body: Body): this {
    return this.add(contextConstructed(n), body);
  }

  boolean(value: boolean, identifier: number = tag.boolean): this {
    return this.#single(identifier, value ? 0xff : 0);
  }

  integer(value: number | bigint, identifier: number = tag.integer): this {
    if (value >= 0 && value < 0x80) return this.#single(identifier, Number(value));
    let left = BigInt(value);
    const octets: number[] = [];
    for (;;) {
      const octet = Number(left & 0xffn);
      octets.unshift(octet);
      left >>= 8n;
      if ((left === 0n && octet < 0x80) || (left === -1n && octet >= 0x80)) break;
    }
    return this.add(identifier, Uint8Array.from(octets));
  }

  /** Adds a non-negative INTEGER, given as its magnitude with the most significant octet first. */
  unsigned(magnitude: Uint8Array, identifier: number = tag.integer): this {
    let skip = 0;
    while (magnitude[skip] === 0) skip++;
    const value = skip === 0 ? magnitude : magnitude.subarray(skip);
    if (value.length > 0 && value[0]! < 0x80) return this.add(identifier, value);
    this.#header(identifier, value.length + 1);
    this.#reserve(1);
    this.#buffer[this.#length++] = 0;
    return this.raw(value);
  }

  oid(oid: string, identifier: number = tag.oid): this {
    return this.add(identifier, oidContents(oid));
  }

  octetString(body: Body, identifier: number = tag.octetString): this {
    return this.add(identifier, body);
  }

  /** Adds a BIT STRING. The low `unused` bits of the last octet must be zero. */
  bitString(bytes: Uint8Array, unused = 0, identifier: number = tag.bitString): this {
    this.#header(identifier, bytes.length + 1);
    this.#reserve(1);
    this.#buffer[this.#length++] = unused;
    return this.raw(bytes);
  }

  /** Adds a BIT STRING of named bits, bit 0 first, without trailing zero bits (X.690 §11.2.2). */
  namedBits(bits: readonly boolean[], identifier: number = tag.bitString): this {
    const last = bits.lastIndexOf(true);
    const bytes = new Uint8Array(Math.ceil((last + 1) / 8));
    for (let i = 0; i <= last; i++) if (bits[i]) bytes[i >> 3]! |= 0x80 >> (i & 7);
    return this.bitString(bytes, last < 0 ? 0 : 7 - (last & 7), identifier);
  }

  null(): this {
    this.#header(tag.null, 0);
    return this;
  }

  /** Adds a UTF8String or, with `identifier`, another string type whose octets are UTF-8 or ASCII. */
  string(text: string, identifier: number = tag.utf8String): this {
    return this.add(identifier, utf8.encode(text));
  }

  /** Adds a UTCTime or GeneralizedTime, depending on the year (RFC 5280 §4.1.2.5). */
  time(milliseconds: number): this {
    const { tag: identifier, text } = formatTime(milliseconds);
    return this.string(text, identifier);
  }

  /** Adds a GeneralizedTime, in any year, without fractions of a second. */
  generalizedTime(milliseconds: number, identifier: number = tag.generalizedTime): this {
    return this.string(formatGeneralizedTime(milliseconds), identifier);
  }

  get length(): number {
    return this.#length;
  }

  /** Returns a view of what was written, valid until something is added. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Returns a copy of what was written. */
  finish(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }

  /** Empties the builder for another value. Returns undefined if its buffer has grown too large to be kept. */
  emptied(): this | undefined {
    this.#length = 0;
    return this.#buffer.length <= largestKept ? this : undefined;
  }

  /** Adds an element whose contents are one octet. */
  #single(identifier: number, octet: number): this {
    this.#header(identifier, 1);
    this.#reserve(1);
    this.#buffer[this.#length++] = octet;
    return this;
  }

  #header(identifier: number, length: number): void {
    this.#reserve(6);
    this.#buffer[this.#length++] = identifier;
    if (length < 0x80) {
      this.#buffer[this.#length++] = length;
      return;
    }
    const octets = lengthOctets(length);
    this.#buffer[this.#length++] = 0x80 | octets;
    for (let i = octets - 1; i >= 0; i--) this.#buffer[this.#length++] = (length >>> (8 * i)) & 0xff;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

const lengthOctets = (length: number): number =>
  length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4;

/** A builder that is not in use, because a new buffer for each value costs more than encoding most values. */
let spare: DerBuilder | undefined;

/** Returns the DER value that `build` writes. */
export function der(build: (builder: DerBuilder) => void): Uint8Array {
  const builder = spare ?? new DerBuilder();
  spare = undefined;
  build(builder);
  const value = builder.finish();
  spare = builder.emptied();
  return value;
}
