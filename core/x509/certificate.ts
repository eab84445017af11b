import { hash } from 'node:crypto';
import { der } from '../der/builder.ts';
import { cachingLast, hex, sameBytes } from '../der/bytes.ts';
import { DerReader, readDer } from '../der/reader.ts';
import { context, contextConstructed, tag } from '../der/tag.ts';
import { wholeSecond } from '../der/time.ts';
import { Fault } from '../fault.ts';
import {
  knownSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
} from './algorithm.ts';
import { addExtensions, demandDistinct, type Extension, readExtensions } from './extension.ts';
import {
  type AuthorityKeyIdentifier,
  decodeAuthorityKeyIdentifier,
  decodeSubjectAltName,
  decodeSubjectKeyIdentifier,
} from './extensions/identity.ts';
import {
  type BasicConstraints,
  decodeBasicConstraints,
  decodeExtendedKeyUsage,
  decodeKeyUsage,
  type KeyUsage,
} from './extensions/usage.ts';
import type { GeneralName } from './general-name.ts';
import { type Name, readName } from './name.ts';
import { oid } from './oids.ts';

export interface Certificate {
  readonly der: Uint8Array;
  /** The signed part (DER). */
  readonly tbs: Uint8Array;
  /** 1 (no extensions), 2 or 3. */
  readonly version: 1 | 2 | 3;
  /** Contents octets of the INTEGER. */
  readonly serial: Uint8Array;
  /** Upper-case hexadecimal, two digits per octet, without a leading zero octet; with `-` if negative. */
  readonly serialNumber: string;
  /** Undefined if it is unknown or weak. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
  readonly signature: Uint8Array;
  readonly issuer: Name;
  readonly subject: Name;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The identifier octets with which the times are encoded. */
  readonly timeTags: readonly [notBefore: number, notAfter: number];
  /** SubjectPublicKeyInfo (DER) with any type of key. */
  readonly spki: Uint8Array;
  /** Whether the issuer or the subject has a unique identifier. */
  readonly hasUniqueIdentifiers: boolean;
  readonly extensions: readonly Extension[];
}

/** Decodes a Certificate (DER, RFC 5280 §4.1). Faults: malformed. */
export function parseCertificate(der: Uint8Array): Certificate {
  return readDer(der, (reader) => {
    const certificate = reader.sequence();
    const tbs = certificate.element(tag.sequence);
    const algorithm = certificate.element(tag.sequence);
    const signature = certificate.bitStringBytes();
    certificate.finish();
    return { der, tbs, ...readDer(tbs, (r) => readTbs(r.sequence(), algorithm)), signature };
  });
}

/** The contents of a certificate, whether or not it is signed yet. */
export type TbsCertificate = Omit<Certificate, 'der' | 'signature'>;

/** The contents without the hexadecimal serial number. */
export type OutlinedCertificate = Omit<TbsCertificate, 'serialNumber'>;

/** Decodes a TBSCertificate (DER) that has not been signed yet. Faults: malformed. */
export function parseTbsCertificate(tbs: Uint8Array): TbsCertificate {
  return { tbs, ...readDer(tbs, (reader) => readTbs(reader.sequence())) };
}

function readTbs(tbs: DerReader, outerAlgorithm?: Uint8Array): Omit<TbsCertificate, 'tbs'> {
  const version = readVersion(tbs);
  const serial = tbs.shortIntegerBytes();
  const algorithm = tbs.element(tag.sequence);
  // RFC 5280 §4.1.1.2: both must be equal. Only the inner one is signed.
  if (outerAlgorithm && !sameBytes(algorithm, outerAlgorithm)) {
    throw new Fault('malformed', 'the certificate names two different signature algorithms');
  }
  const issuer = readIssuer(tbs.element(tag.sequence));
  const validity = tbs.sequence();
  const notBeforeTag = validity.peek();
  const notBefore = validity.time();
  const notAfterTag = validity.peek();
  const notAfter = validity.time();
  validity.finish();
  const subject = readName(tbs);
  const spki = tbs.element(tag.sequence);
  const hasUniqueIdentifiers = version > 1 && skipUniqueIdentifiers(tbs);
  const extensions = version === 3 ? readOptionalExtensions(tbs) : [];
  tbs.finish();
  return {
    version,
    serial,
    serialNumber: formatSerial(serial),
    signatureAlgorithm: knownSignatureAlgorithm(algorithm),
    issuer,
    subject,
    notBefore,
    notAfter,
    timeTags: [notBeforeTag, notAfterTag],
    spki,
    hasUniqueIdentifiers,
    extensions,
  };
}

const readIssuer = cachingLast((issuer) => readDer(issuer, readName));

function readVersion(tbs: DerReader): 1 | 2 | 3 {
  const explicit = tbs.optional(contextConstructed(0));
  if (!explicit) return 1;
  const version = explicit.smallInteger(2);
  explicit.finish();
  return (version + 1) as 1 | 2 | 3;
}

/** Returns whether the certificate has unique identifiers. */
function skipUniqueIdentifiers(tbs: DerReader): boolean {
  const next = tbs.peek();
  if (next === context(1)) tbs.bitString(context(1));
  if (tbs.peek() === context(2)) tbs.bitString(context(2));
  return tbs.peek() !== next;
}

function readOptionalExtensions(tbs: DerReader): Extension[] {
  const explicit = tbs.optional(contextConstructed(3));
  if (!explicit) return [];
  const extensions = readExtensions(explicit);
  explicit.finish();
  return extensions;
}

/** Formats the contents octets of an INTEGER as the `serialNumber` of a certificate. */
export function formatSerial(serial: Uint8Array): string {
  if (serial[0]! >= 0x80) return `-${formatMagnitude(serial)}`;
  return hex(serial.length > 1 && serial[0] === 0 ? serial.subarray(1) : serial);
}

function formatMagnitude(negative: Uint8Array): string {
  const digits = ((1n << BigInt(negative.length * 8)) - BigInt(`0x${hex(negative)}`)).toString(16);
  return digits.padStart(digits.length + (digits.length % 2), '0').toUpperCase();
}

/** Returns the extension with this OID. */
export function extension(
  certificate: { readonly extensions: readonly Extension[] },
  which: string,
): Extension | undefined {
  for (const one of certificate.extensions) if (one.oid === which) return one;
  return undefined;
}

type Extended = { readonly extensions: readonly Extension[] };

/** Returns the decoded value of an extension; undefined if it is absent. */
export function decoded<T>(
  certificate: Extended,
  which: string,
  decode: (value: Uint8Array) => T,
): T | undefined {
  const found = extension(certificate, which);
  return found && decode(found.value);
}

// Each function returns undefined if the extension is absent, and throws Fault malformed if its value is invalid.

const keyUsage = cachingLast<readonly KeyUsage[]>(decodeKeyUsage);
const extendedKeyUsage = cachingLast<readonly string[]>(decodeExtendedKeyUsage);
const basicConstraints = cachingLast(decodeBasicConstraints);
const authorityKeyIdentifier = cachingLast(decodeAuthorityKeyIdentifier);

export const keyUsageOf = (certificate: Extended): readonly KeyUsage[] | undefined =>
  decoded(certificate, oid.keyUsage, keyUsage);

/** Returns the OIDs of the purposes. */
export const extendedKeyUsageOf = (certificate: Extended): readonly string[] | undefined =>
  decoded(certificate, oid.extendedKeyUsage, extendedKeyUsage);

export const basicConstraintsOf = (certificate: Extended): BasicConstraints | undefined =>
  decoded(certificate, oid.basicConstraints, basicConstraints);

/** Returns an empty list if the extension is absent. */
export const subjectAltNamesOf = (certificate: Extended): readonly GeneralName[] =>
  decoded(certificate, oid.subjectAltName, decodeSubjectAltName) ?? noNames;

const noNames: readonly GeneralName[] = [];

export const subjectKeyIdentifierOf = (certificate: Extended): Uint8Array | undefined =>
  decoded(certificate, oid.subjectKeyIdentifier, decodeSubjectKeyIdentifier);

export const authorityKeyIdentifierOf = (certificate: Extended): AuthorityKeyIdentifier | undefined =>
  decoded(certificate, oid.authorityKeyIdentifier, authorityKeyIdentifier);

export interface CertificateTemplate {
  /** Magnitude, most significant octet first. Positive; at most 20 octets when encoded. */
  readonly serial: Uint8Array;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly issuer: Name;
  /** Milliseconds since 1970; the fraction of the second is dropped. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: Name;
  /** DER. */
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
}

const version3 = Uint8Array.of(0xa0, 3, tag.integer, 1, 2);

/** Builds a TBSCertificate of version 3 (DER). Faults: malformed for a serial number out of range. */
export function buildTbsCertificate(template: CertificateTemplate): Uint8Array {
  checkSerial(template.serial);
  return der((b) => {
    const tbs = b.begin(tag.sequence);
    b.raw(version3);
    b.unsigned(template.serial);
    b.raw(signatureAlgorithmIdentifier(template.signatureAlgorithm));
    b.raw(template.issuer.der);
    b.raw(encodedValidity(template.notBefore, template.notAfter));
    b.raw(template.subject.der);
    b.raw(template.spki);
    if (template.extensions.length > 0) {
      const explicit = b.begin(contextConstructed(3));
      addExtensions(b, template.extensions);
      b.end(explicit);
    }
    b.end(tbs);
  });
}

let lastValidity = { notBefore: Number.NaN, notAfter: Number.NaN, encoded: version3 as Uint8Array };

/** Caches the last validity period: certificates that one profile issues within a second have the same one. */
function encodedValidity(notBefore: number, notAfter: number): Uint8Array {
  if (lastValidity.notBefore !== notBefore || lastValidity.notAfter !== notAfter) {
    const encoded = der((b) => b.sequence((validity) => validity.time(notBefore).time(notAfter)));
    lastValidity = { notBefore, notAfter, encoded };
  }
  return lastValidity.encoded;
}

/**
 * Returns the same as `parseTbsCertificate` for a `tbs` that was built from `template`, without decoding known values
 * again. Checks that each part is exactly one element at its position. Faults: malformed.
 */
export function outlineTbsCertificate(tbs: Uint8Array, template: CertificateTemplate): OutlinedCertificate {
  const { signatureAlgorithm, issuer, subject, spki, extensions } = template;
  demandDistinct(extensions);
  const outline = new DerReader(tbs).enter(tag.sequence);
  demandPart(outline, contextConstructed(0), version3.length);
  const serialOctets = outline.skipInteger();
  outline.skip(tag.sequence);
  demandPart(outline, tag.sequence, issuer.der.length);
  const validity = outline.sequence();
  const notBeforeTag = validity.peek();
  validity.skip();
  const notAfterTag = validity.peek();
  validity.skip();
  validity.finish();
  demandPart(outline, tag.sequence, subject.der.length);
  demandPart(outline, tag.sequence, spki.length);
  if (extensions.length > 0) outline.skip(contextConstructed(3));
  outline.finish();
  return {
    tbs,
    version: 3,
    serial: serialOctets === template.serial.length ? template.serial : serialIn(tbs),
    signatureAlgorithm,
    issuer,
    subject,
    notBefore: wholeSecond(template.notBefore),
    notAfter: wholeSecond(template.notAfter),
    timeTags: [notBeforeTag, notAfterTag],
    spki,
    hasUniqueIdentifiers: false,
    extensions,
  };
}

/** Returns the serial number as encoded: the builder adds a sign octet or drops leading zeros if needed. */
function serialIn(tbs: Uint8Array): Uint8Array {
  const outline = new DerReader(tbs).enter(tag.sequence);
  outline.skip(contextConstructed(0));
  return outline.integerBytes();
}

function demandPart(outline: DerReader, which: number, length: number): void {
  if (outline.skip(which) !== length)
    throw new Fault('malformed', 'the certificate has an unexpected structure');
}

/** RFC 5280 §4.1.2.2. */
function checkSerial(serial: Uint8Array): void {
  let skip = 0;
  while (serial[skip] === 0) skip++;
  const length = serial.length - skip;
  if (length === 0 || length > 20 || (length === 20 && serial[skip]! >= 0x80)) {
    throw new Fault('malformed', 'a certificate serial number must be positive and have at most 20 octets');
  }
}

/** Returns the certificate (DER). `signature`: as encoded in X.509 (ECDSA: DER). */
export function assembleCertificate(
  tbs: Uint8Array,
  algorithm: SignatureAlgorithm,
  signature: Uint8Array,
): Uint8Array {
  return der((b) => {
    const certificate = b.begin(tag.sequence);
    b.raw(tbs).raw(signatureAlgorithmIdentifier(algorithm)).bitString(signature);
    b.end(certificate);
  });
}

/** Returns the SHA-256 of the DER in upper-case hexadecimal. */
export const fingerprint = (der: Uint8Array): string => hash('sha256', der, 'hex').toUpperCase();
