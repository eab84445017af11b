import type { DerReader } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';

const utf16 = new TextDecoder('utf-16be', { fatal: true, ignoreBOM: true });
const utf8 = new TextEncoder();

export const stringTags: ReadonlySet<number> = new Set([
  tag.utf8String,
  tag.printableString,
  tag.teletexString,
  tag.ia5String,
  tag.visibleString,
  tag.universalString,
  tag.bmpString,
  tag.numericString,
]);

const bad = (what: string): Fault => new Fault('malformed', `bad ${what}`);

/** Consumes a string of the type `identifier`, one of `stringTags`. Faults: malformed. */
export function readString(reader: DerReader, identifier: number): string {
  const text = decode(reader, identifier);
  // Some readers take a NUL for the end of the name: "bank.example\0.attacker.example".
  if (text.includes('\0')) throw bad('string: NUL');
  return text;
}

function decode(reader: DerReader, identifier: number): string {
  switch (identifier) {
    case tag.utf8String:
      return reader.utf8String();
    case tag.teletexString:
      // The standard says T.61; all implementations use Latin-1.
      return Buffer.from(reader.contents(identifier)).toString('latin1');
    case tag.bmpString:
      return readUtf16(reader.contents(identifier));
    case tag.universalString:
      return readUtf32(reader.contents(identifier));
    default:
      return reader.asciiString(identifier);
  }
}

function readUtf16(contents: Uint8Array): string {
  try {
    return utf16.decode(contents);
  } catch {
    throw bad('BMPString');
  }
}

function readUtf32(contents: Uint8Array): string {
  if (contents.length % 4 !== 0) throw bad('UniversalString');
  const units = new DataView(contents.buffer, contents.byteOffset, contents.byteLength);
  let text = '';
  for (let at = 0; at < contents.length; at += 4) {
    const point = units.getUint32(at);
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) throw bad('UniversalString');
    text += String.fromCodePoint(point);
  }
  return text;
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;
const ascii = /^[\x01-\x7f]*$/;

/**
 * Encodes `text` as the contents octets of this string type. Returns undefined if its character set lacks a character.
 */
export function encodeString(text: string, identifier: number): Uint8Array | undefined {
  if (!text.isWellFormed() || text.includes('\0')) return undefined;
  switch (identifier) {
    case tag.utf8String:
      return utf8.encode(text);
    case tag.bmpString:
      return /[\ud800-\udfff]/.test(text) ? undefined : Buffer.from(text, 'utf16le').swap16();
    case tag.universalString: {
      const points = Array.from(text, (character) => character.codePointAt(0)!);
      const contents = Buffer.alloc(points.length * 4);
      for (const [i, point] of points.entries()) contents.writeUInt32BE(point, i * 4);
      return contents;
    }
    case tag.teletexString:
      return /^[\x01-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
    case tag.printableString:
      return printable.test(text) ? utf8.encode(text) : undefined;
    case tag.visibleString:
      return /^[ -~]*$/.test(text) ? utf8.encode(text) : undefined;
    case tag.numericString:
      return /^[0-9 ]*$/.test(text) ? utf8.encode(text) : undefined;
    default:
      return ascii.test(text) ? utf8.encode(text) : undefined;
  }
}

/** Returns whether this string type can hold `text`. */
export const holdsString = (text: string, identifier: number): boolean =>
  identifier === tag.utf8String
    ? text.isWellFormed() && !text.includes('\0')
    : encodeString(text, identifier) !== undefined;

/** Text that folding only converts to upper case: printable ASCII without runs of white space. */
const plain = /^(?! )(?!.* {2})[ -~]*(?<! )$/;
/** Characters that RFC 4518 §2.2 maps to nothing, and control characters other than white space. */
const nothing = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\ufffc]/gu;

/**
 * Returns the text that comparisons use (RFC 5280 §7.1, RFC 4518): letter case folded, compatibility forms normalised,
 * runs of white space collapsed, and no white space at the ends or invisible characters.
 */
export const foldString = (text: string): string =>
  plain.test(text)
    ? text.toLowerCase()
    : text
        .replace(/[\t-\r\u0085]/g, ' ')
        .replace(nothing, '')
        .normalize('NFKC')
        .toUpperCase() // so that ß and SS, ſ and s are the same
        .toLowerCase()
        .replace(/\s+/gu, ' ')
        .trim();
