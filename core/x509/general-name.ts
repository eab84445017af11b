import type { DerBuilder } from '../der/builder.ts';
import { fromHex, hex, sameBytes } from '../der/bytes.ts';
import { encodeOid } from '../der/oid.ts';
import { type DerReader, readDer } from '../der/reader.ts';
import { context, contextConstructed, tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { formatIpAddress, parseIpAddress } from './ip-address.ts';
import { formatDistinguishedName, type Name, parseDistinguishedName, readName, sameName } from './name.ts';

/** RFC 5280 §4.2.1.6. */
export type GeneralName =
  /** `value`: the value inside `[0] EXPLICIT` (DER). */
  | { readonly kind: 'otherName'; readonly type: string; readonly value: Uint8Array }
  /** ASCII without control characters. */
  | { readonly kind: 'email' | 'dns' | 'uri'; readonly value: string }
  | { readonly kind: 'directory'; readonly value: Name }
  /** 4 or 16 octets. In name constraints (§4.2.1.10) address and mask, 8 or 32 octets. */
  | { readonly kind: 'ip'; readonly value: Uint8Array }
  /** OID. */
  | { readonly kind: 'registeredId'; readonly value: string }
  /** x400Address or ediPartyName: identifier octet and contents. */
  | { readonly kind: 'other'; readonly tag: number; readonly value: Uint8Array };

const textTags = { email: context(1), dns: context(2), uri: context(6) } as const;
const otherName = contextConstructed(0);
const x400Address = contextConstructed(3);
const directoryName = contextConstructed(4);
const ediPartyName = contextConstructed(5);
const ipAddress = context(7);
const registeredId = context(8);

const mostNames = 256;
const bad = (what: string): Fault => new Fault('malformed', `general name: ${what}`);

/** Consumes one GeneralName. Faults: malformed. */
export function readGeneralName(reader: DerReader): GeneralName {
  const identifier = reader.peek();
  switch (identifier) {
    case textTags.dns:
      return { kind: 'dns', value: readText(reader, identifier) };
    case textTags.email:
      return { kind: 'email', value: readText(reader, identifier) };
    case textTags.uri:
      return { kind: 'uri', value: readText(reader, identifier) };
    case ipAddress:
      return { kind: 'ip', value: readIpAddress(reader) };
    case directoryName:
      return { kind: 'directory', value: readWhole(reader, identifier, readName) };
    case registeredId:
      return { kind: 'registeredId', value: reader.oid(identifier) };
    case otherName:
      return readWhole(reader, identifier, readOtherName);
    case x400Address:
    case ediPartyName:
      return { kind: 'other', tag: identifier, value: reader.contents(identifier) };
    default:
      throw bad('unknown kind');
  }
}

function readWhole<T>(reader: DerReader, identifier: number, read: (inner: DerReader) => T): T {
  const inner = reader.read(identifier);
  const value = read(inner);
  inner.finish();
  return value;
}

function readText(reader: DerReader, identifier: number): string {
  const text = reader.asciiString(identifier);
  // Some readers take a NUL or a line break for the end of the name.
  if (/[\x00-\x1f\x7f]/.test(text)) throw bad('control characters');
  return text;
}

function readIpAddress(reader: DerReader): Uint8Array {
  const value = reader.contents(ipAddress);
  if (![4, 8, 16, 32].includes(value.length)) throw bad('IP address of wrong length');
  return value;
}

function readOtherName(reader: DerReader): GeneralName {
  return {
    kind: 'otherName',
    type: reader.oid(),
    value: readWhole(reader, contextConstructed(0), (inner) => inner.element()),
  };
}

/** Consumes GeneralNames (1 to 256 names) with their own tag or the implicit tag `identifier`. Faults: malformed. */
export function readGeneralNames(reader: DerReader, identifier: number = tag.sequence): GeneralName[] {
  const sequence = reader.read(identifier);
  const names: GeneralName[] = [];
  do {
    names.push(readGeneralName(sequence));
    if (names.length > mostNames) throw bad('too many');
  } while (!sequence.empty);
  return names;
}

export function addGeneralName(builder: DerBuilder, name: GeneralName): void {
  switch (name.kind) {
    case 'email':
    case 'dns':
    case 'uri':
      builder.string(name.value, textTags[name.kind]);
      break;
    case 'ip':
      builder.add(ipAddress, name.value);
      break;
    case 'directory':
      builder.add(directoryName, name.value.der);
      break;
    case 'registeredId':
      builder.oid(name.value, registeredId);
      break;
    case 'otherName':
      builder.add(otherName, (b) => b.oid(name.type).explicit(0, name.value));
      break;
    case 'other':
      builder.add(name.tag, name.value);
  }
}

/** Adds GeneralNames with their own tag or the implicit tag `identifier`. */
export function addGeneralNames(
  builder: DerBuilder,
  names: readonly GeneralName[],
  identifier: number = tag.sequence,
): void {
  builder.add(identifier, (b) => {
    for (const name of names) addGeneralName(b, name);
  });
}

/**
 * Formats a name: `DNS:a.example`, `IP:10.0.0.1`, `URI:…`, `email:…`, `DirName:CN=…`, `RID:1.2.3`,
 * `otherName:1.2.3;#0c01…`.
 */
export function formatGeneralName(name: GeneralName): string {
  switch (name.kind) {
    case 'dns':
      return `DNS:${name.value}`;
    case 'email':
      return `email:${name.value}`;
    case 'uri':
      return `URI:${name.value}`;
    case 'ip':
      return `IP:${formatIpRange(name.value)}`;
    case 'directory':
      return `DirName:${formatDistinguishedName(name.value)}`;
    case 'registeredId':
      return `RID:${name.value}`;
    case 'otherName':
      return `otherName:${name.type};#${hex(name.value).toLowerCase()}`;
    case 'other':
      return `${name.tag === x400Address ? 'x400Address' : 'ediPartyName'}:#${hex(name.value).toLowerCase()}`;
  }
}

function formatIpRange(octets: Uint8Array): string {
  if (octets.length === 4 || octets.length === 16) return formatIpAddress(octets);
  const half = octets.length / 2;
  return `${formatIpAddress(octets.subarray(0, half))}/${formatIpAddress(octets.subarray(half))}`;
}

/** Parses the format of `formatGeneralName`, with prefixes in any letter case. Faults: malformed. */
export function parseGeneralName(text: string): GeneralName {
  const colon = text.indexOf(':');
  const value = text.slice(colon + 1);
  switch (text.slice(0, colon).toLowerCase()) {
    case 'dns':
      return { kind: 'dns', value: checked(dnsForm, 'DNS name', value, 253) };
    case 'email':
      return { kind: 'email', value: checked(emailForm, 'email address', value, 320) };
    case 'uri':
      return { kind: 'uri', value: checked(uriForm, 'URI', value, 2048) };
    case 'ip':
      return { kind: 'ip', value: parseIpRange(value) };
    case 'dirname':
      return { kind: 'directory', value: parseDistinguishedName(value) };
    case 'rid':
      encodeOid(value);
      return { kind: 'registeredId', value };
    case 'othername':
      return parseOtherName(value);
    case 'x400address':
      return { kind: 'other', tag: x400Address, value: parseHex(value) };
    case 'edipartyname':
      return { kind: 'other', tag: ediPartyName, value: parseHex(value) };
    default:
      throw bad(
        `"${text.slice(0, 80)}" does not start with DNS:, IP:, URI:, email:, DirName: or another kind`,
      );
  }
}

/** Labels as in RFC 1123 §2.1, also with `_` for services. The first label may be `*`. */
const dnsForm =
  /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;
const emailForm = /^[\x21-\x3f\x41-\x7e]+@[a-z0-9.-]+$/i;
const uriForm = /^[a-z][a-z0-9+.-]*:[\x21-\x7e]+$/i;

function checked(form: RegExp, what: string, value: string, longest: number): string {
  if (value.length > longest || !form.test(value)) throw bad(`not a ${what}: ${value.slice(0, 80)}`);
  return value;
}

function parseIpRange(text: string): Uint8Array {
  const [address, mask, ...more] = text.split('/').map(parseIpAddress) as [Uint8Array, Uint8Array?];
  if (!mask) return address;
  if (more.length > 0 || mask.length !== address.length)
    throw bad(`not an address and mask: ${text.slice(0, 80)}`);
  return Uint8Array.from([...address, ...mask]);
}

function parseOtherName(text: string): GeneralName {
  const [type = '', digits = ''] = text.split(';', 2);
  encodeOid(type);
  return { kind: 'otherName', type, value: readDer(parseHex(digits), (reader) => reader.element()) };
}

function parseHex(text: string): Uint8Array {
  const octets = text.startsWith('#') ? fromHex(text.slice(1)) : undefined;
  if (!octets) throw bad('requires # followed by hexadecimal digits');
  return octets;
}

/**
 * Compares DNS names and the hosts of email addresses in any letter case (RFC 5280 §7.2, §7.5), directory names like
 * `sameName`, and other names exactly.
 */
export function sameGeneralName(a: GeneralName, b: GeneralName): boolean {
  switch (a.kind) {
    case 'dns':
      return b.kind === 'dns' && a.value.toLowerCase() === b.value.toLowerCase();
    case 'email':
      return b.kind === 'email' && foldHost(a.value) === foldHost(b.value);
    case 'uri':
    case 'registeredId':
      return b.kind === a.kind && a.value === b.value;
    case 'directory':
      return b.kind === 'directory' && sameName(a.value, b.value);
    case 'ip':
      return b.kind === 'ip' && sameBytes(a.value, b.value);
    case 'otherName':
      return b.kind === 'otherName' && a.type === b.type && sameBytes(a.value, b.value);
    case 'other':
      return b.kind === 'other' && a.tag === b.tag && sameBytes(a.value, b.value);
  }
}

/** Returns an email address with its host in lower case. */
export function foldHost(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + address.slice(at).toLowerCase();
}

/** Returns whether both lists contain the same names, in any order and number. */
export const sameGeneralNames = (a: readonly GeneralName[], b: readonly GeneralName[]): boolean =>
  a.every((name) => b.some((other) => sameGeneralName(name, other))) &&
  b.every((name) => a.some((other) => sameGeneralName(name, other)));
