import { type DerBuilder, der } from '../der/builder.ts';
import { fromHex, hex, sameBytes } from '../der/bytes.ts';
import { encodeOid } from '../der/oid.ts';
import { DerReader, readDer } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { attributeTypeNamed, attributeTypeOf } from './attribute-type.ts';
import { encodeString, foldString, holdsString, readString, stringTags } from './directory-string.ts';
import { oid } from './oids.ts';

export interface NameAttribute {
  /** The attribute type (OID). */
  readonly type: string;
  /** The text. For a value that is not a string: `#` and its DER in hexadecimal. */
  readonly value: string;
  /** The identifier octet of the value. */
  readonly tag: number;
}

/** A relative distinguished name; usually one attribute. */
export type Rdn = readonly NameAttribute[];

/** A distinguished name (RFC 5280 §4.1.2.4), most significant RDN first. */
export interface Name {
  readonly der: Uint8Array;
  readonly rdns: readonly Rdn[];
}

const mostAttributes = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const emptyName: Name = { der: Uint8Array.of(tag.sequence, 0), rdns: [] };

/** Consumes a Name. Faults: malformed. */
export function readName(reader: DerReader): Name {
  const encoded = reader.element(tag.sequence);
  if (encoded.length === emptyName.der.length) return emptyName;
  const sequence = new DerReader(encoded).enter(tag.sequence);
  const rdns: Rdn[] = [];
  let count = 0;
  while (!sequence.empty) {
    const set = sequence.set();
    const rdn: NameAttribute[] = [];
    do {
      if (++count > mostAttributes) throw new Fault('malformed', 'the name has too many attributes');
      rdn.push(readAttribute(set.sequence()));
    } while (!set.empty);
    rdns.push(rdn);
  }
  return { der: encoded, rdns };
}

function readAttribute(reader: DerReader): NameAttribute {
  const type = reader.oid();
  const identifier = reader.peek();
  const value = stringTags.has(identifier)
    ? readString(reader, identifier)
    : `#${hex(reader.element()).toLowerCase()}`;
  reader.finish();
  return { type, value, tag: identifier };
}

/** Encodes a name. Faults: malformed for a value that its string type cannot hold. */
export function buildName(rdns: readonly Rdn[]): Name {
  if (rdns.length === 0) return emptyName;
  const count = rdns.reduce((sum, rdn) => sum + rdn.length, 0);
  if (count > mostAttributes || rdns.some((rdn) => rdn.length === 0)) {
    throw new Fault('malformed', `a name must have 1 to ${mostAttributes} attributes and no empty RDN`);
  }
  // Sort as DER requires (X.690 §11.6), so that `rdns` has the order of the encoding.
  const ordered = rdns.map((rdn) => (rdn.length === 1 ? rdn : sorted(rdn)));
  const encoded = der((b) =>
    b.sequence((s) => {
      for (const rdn of ordered) {
        s.set((set) => {
          for (const one of rdn) addAttribute(set, one);
        });
      }
    }),
  );
  return { der: encoded, rdns: ordered };
}

const sorted = (rdn: Rdn): Rdn =>
  rdn
    .map((one) => ({ one, encoded: der((b) => addAttribute(b, one)) }))
    .sort((a, b) => Buffer.compare(a.encoded, b.encoded))
    .map(({ one }) => one);

function addAttribute(builder: DerBuilder, attribute: NameAttribute): void {
  builder.sequence((s) => {
    s.oid(attribute.type);
    if (stringTags.has(attribute.tag)) {
      const contents = encodeString(attribute.value, attribute.tag);
      if (!contents) throw unfit(attribute.type, 'has characters that its string type cannot hold');
      s.add(attribute.tag, contents);
    } else {
      s.raw(encodedValue(attribute.value));
    }
  });
}

/** Decodes the hexadecimal DER after `#`: one element. */
function encodedValue(text: string): Uint8Array {
  const encoded = text.startsWith('#') ? fromHex(text.slice(1)) : undefined;
  if (!encoded) throw new Fault('malformed', 'name: # must be followed by DER in hexadecimal');
  return readDer(encoded, (reader) => reader.element());
}

const nameOf = (type: string): string => attributeTypeOf(type)?.name ?? type;
const unfit = (type: string, what: string): Fault => new Fault('malformed', `name: ${nameOf(type)} ${what}`);

/**
 * Returns an attribute with the string type that RFC 5280 §4.1.2.4 prescribes, or else UTF8String. Faults: malformed
 * for an unknown type, a length beyond RFC 5280 §A.1, control characters, or characters that the string type lacks.
 */
export function attribute(typeNameOrOid: string, value: string): NameAttribute {
  const known = attributeTypeNamed(typeNameOrOid) ?? attributeTypeOf(typeNameOrOid);
  if (!known && !/^\d/.test(typeNameOrOid)) {
    throw new Fault('malformed', `name: unknown attribute type ${typeNameOrOid.slice(0, 80)}`);
  }
  if (!known) encodeOid(typeNameOrOid);
  const type = known?.oid ?? typeNameOrOid;
  const misfit = attributeProblem(type, value);
  if (misfit) throw misfit;
  return { type, value, tag: known?.tag ?? tag.utf8String };
}

const usualLimits = { tag: tag.utf8String, shortest: 1, longest: 32768 };

/** Returns the Fault malformed that `attribute` throws for this type (OID) and value, or undefined. */
export function attributeProblem(type: string, value: string): Fault | undefined {
  const { tag: identifier, shortest, longest } = attributeTypeOf(type) ?? usualLimits;
  // Characters, not UTF-16 units; a text short enough in units needs no counting.
  const length = value.length <= longest ? value.length : [...value].length;
  if (length < shortest || length > longest) {
    const range = shortest === longest ? `${longest}` : `${shortest} to ${longest}`;
    return unfit(type, `needs ${range} characters, it has ${length}`);
  }
  if (/\p{Cc}/u.test(value)) return unfit(type, 'has control characters');
  if (holdsString(value, identifier)) return undefined;
  return unfit(type, 'has characters that its string type cannot hold');
}

/** Returns the common name; if there are several, the most specific one. */
export function commonName(name: Name): string | undefined {
  for (let i = name.rdns.length - 1; i >= 0; i--) {
    for (const { type, value } of name.rdns[i]!) if (type === oid.commonName) return value;
  }
  return undefined;
}

/** Compares names by RFC 5280 §7.1, which ignores letter case, white space and string types. */
export function sameName(a: Name, b: Name): boolean {
  if (sameBytes(a.der, b.der)) return true;
  return a.rdns.length === b.rdns.length && a.rdns.every((rdn, i) => sameRdn(rdn, b.rdns[i]!));
}

/** Compares RDNs as sets, without regard to order. */
function sameRdn(a: Rdn, b: Rdn): boolean {
  if (a.length !== b.length) return false;
  if (a.length === 1) return sameAttribute(a[0]!, b[0]!);
  // Fold each value once. Comparing every pair would fold each value up to 64 times.
  const others = b.map(foldAttribute).sort();
  return a
    .map(foldAttribute)
    .sort()
    .every((text, i) => text === others[i]);
}

/** Returns a text that is the same for equal attributes, and different for others. */
export const foldAttribute = ({ type, value, tag: identifier }: NameAttribute): string =>
  stringTags.has(identifier) ? `${type}=${foldString(value)}` : `${type} ${value}`;

function sameAttribute(a: NameAttribute, b: NameAttribute): boolean {
  if (a.type !== b.type || stringTags.has(a.tag) !== stringTags.has(b.tag)) return false;
  return a.value === b.value || (stringTags.has(a.tag) && foldString(a.value) === foldString(b.value));
}

/**
 * Formats a name by RFC 4514 §2: least significant RDN first; attributes of unknown type, and values that are not
 * strings, as `#` and DER.
 */
export function formatDistinguishedName(name: Name): string {
  const { rdns } = name;
  let encoded: readonly (readonly Uint8Array[])[] | undefined;
  let text = '';
  for (let n = rdns.length - 1; n >= 0; n--) {
    const rdn = rdns[n]!;
    for (let at = 0; at < rdn.length; at++) {
      if (at > 0) text += '+';
      else if (text !== '') text += ',';
      const { type, value, tag: identifier } = rdn[at]!;
      const known = attributeTypeOf(type)?.name;
      if (!stringTags.has(identifier)) text += `${known ?? type}=${value}`;
      else if (known) text += `${known}=${escapeValue(value)}`;
      else {
        encoded ??= valuesIn(name);
        text += `${type}=#${hex(encoded[n]![at]!).toLowerCase()}`;
      }
    }
  }
  return text;
}

/**
 * Returns the DER of each value from the encoded name. It is not encoded anew, because other software writes values
 * that Postern would not write, such as any character in a PrintableString.
 */
const valuesIn = ({ der: encoded }: Name): Uint8Array[][] =>
  readDer(encoded, (reader) =>
    readEach(reader.sequence(), (rdns) =>
      readEach(rdns.set(), (rdn) => {
        const attribute = rdn.sequence();
        attribute.oid();
        return attribute.element();
      }),
    ),
  );

function readEach<T>(members: DerReader, read: (members: DerReader) => T): T[] {
  const values: T[] = [];
  while (!members.empty) values.push(read(members));
  return values;
}

/** Returns whether the attributes of each RDN are in DER order (X.690 §11.6). */
export function isSorted(name: Name): boolean {
  if (name.rdns.every((rdn) => rdn.length === 1)) return true;
  const rdns = readDer(name.der, (reader) =>
    readEach(reader.sequence(), (each) => readEach(each.set(), (rdn) => rdn.element())),
  );
  return rdns.every((rdn) => rdn.every((one, n) => n === 0 || Buffer.compare(rdn[n - 1]!, one) <= 0));
}

const toEscape = /["+,;<>\\\x01-\x1f\x7f]|^[ #]| $/;

/** Escapes a value by RFC 4514 §2.4. Control characters become pairs of digits, to keep them out of logs. */
function escapeValue(value: string): string {
  if (!toEscape.test(value)) return value;
  let text = value
    .replace(/["+,;<>\\]/g, '\\$&')
    .replace(/[\x01-\x1f\x7f]/g, (c) => `\\${hex(Uint8Array.of(c.charCodeAt(0)))}`);
  if (/^[ #]/.test(text)) text = `\\${text}`;
  if (value.length > 1 && value.endsWith(' ')) text = `${text.slice(0, -1)}\\ `;
  return text;
}

const longestText = 65536;

/**
 * Parses a name by RFC 4514 §3. Spaces around `,`, `+` and `=` are allowed; an attribute type is a name in any letter
 * case, or an OID. Faults: malformed.
 */
export function parseDistinguishedName(text: string): Name {
  if (text.length > longestText) throw new Fault('malformed', 'name: too long');
  if (text.trim() === '') return emptyName;
  const rdns: Rdn[] = [];
  let at = 0;
  do {
    const rdn: NameAttribute[] = [];
    do {
      const parsed = parseAttribute(text, at);
      rdn.push(parsed.attribute);
      at = parsed.end + 1;
    } while (text[at - 1] === '+');
    rdns.push(rdn);
  } while (at <= text.length);
  return buildName(rdns.reverse());
}

const typeForm = / *([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+) *= */y;
const hexForm = /#((?:[0-9A-Fa-f]{2})+) *(?=[,+]|$)/y;
/** A run of plain characters, a pair of digits, or an escaped special. */
const piece = /([^"+,;<>\\\0]+)|\\([0-9A-Fa-f]{2})|\\([ "#+,;<=>\\])/y;

/** Parses the attribute at `start`. Returns it and the position of the separator after it, or of the end. */
function parseAttribute(text: string, start: number): { attribute: NameAttribute; end: number } {
  const type = match(typeForm, text, start)?.[1];
  if (!type) throw new Fault('malformed', `name: no "type=value" at position ${start}`);
  const valueAt = typeForm.lastIndex;
  if (text[valueAt] === '#') {
    const digits = match(hexForm, text, valueAt)?.[1];
    if (!digits) throw new Fault('malformed', `name: bad # value at position ${valueAt}`);
    return { attribute: encodedAttribute(type, digits), end: hexForm.lastIndex };
  }
  const octets: Uint8Array[] = [];
  let end = valueAt;
  let unescapedSpaces = 0;
  for (let found = match(piece, text, end); found; found = match(piece, text, end)) {
    const [, plain, pair, special] = found;
    octets.push(pair ? fromHex(pair)! : Buffer.from(plain ?? special!));
    unescapedSpaces = plain ? spacesAtEnd(plain) : 0;
    end = piece.lastIndex;
  }
  if (end < text.length && text[end] !== ',' && text[end] !== '+') {
    throw new Fault('malformed', `name: the character at position ${end} must be escaped`);
  }
  const value = Buffer.concat(octets);
  return { attribute: attribute(type, decodeUtf8(value.subarray(0, value.length - unescapedSpaces))), end };
}

/** Counts trailing spaces from the end. A regular expression would take quadratic time. */
function spacesAtEnd(text: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === ' ') end--;
  return text.length - end;
}

function match(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

function decodeUtf8(octets: Uint8Array): string {
  try {
    return utf8.decode(octets);
  } catch {
    throw new Fault('malformed', 'name: escaped octets are not UTF-8');
  }
}

function encodedAttribute(typeNameOrOid: string, digits: string): NameAttribute {
  const type = attributeTypeNamed(typeNameOrOid)?.oid ?? typeNameOrOid;
  const encoded = der((b) => b.sequence((s) => s.oid(type).raw(fromHex(digits)!)));
  return readDer(encoded, (reader) => readAttribute(reader.sequence()));
}
