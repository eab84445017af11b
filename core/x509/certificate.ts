import { hash } from 'node:crypto';
import { der } from '../der/builder.ts';
import { hex, remembering, sameBytes } from '../der/bytes.ts';
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
  /** What is signed, in DER. */
  readonly tbs: Uint8Array;
  /** 1 (no extensions), 2 or 3. */
  readonly version: 1 | 2 | 3;
  /** Contents octets of the INTEGER. */
  readonly serial: Uint8Array;
  /** Upper-case hexadecimal of the number, two digits an octet, no leading zero octet; `-` before a negative one. */
  readonly serialNumber: string;
  /** Undefined when unknown or weak. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
  readonly signature: Uint8Array;
  readonly issuer: Name;
  readonly subject: Name;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** How they are encoded: identifier octets. */
  readonly timeTags: readonly [notBefore: number, notAfter: number];
  /** SubjectPublicKeyInfo in DER, of any kind of key. */
  readonly spki: Uint8Array;
  /** Of issuer or subject. */
  readonly hasUniqueIdentifiers: boolean;
  readonly extensions: readonly Extension[];
}

/** A Certificate in DER (RFC 5280 §4.1). Faults: malformed. */
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

/** What a certificate says, signed or not. */
export type TbsCertificate = Omit<Certificate, 'der' | 'signature'>;

/** The same but for the number in digits. */
export type OutlinedCertificate = Omit<TbsCertificate, 'serialNumber'>;

/** A TBSCertificate in DER, of a certificate that is yet to be signed. Faults: malformed. */
export function parseTbsCertificate(tbs: Uint8Array): TbsCertificate {
  return { tbs, ...readDer(tbs, (reader) => readTbs(reader.sequence())) };
}

function readTbs(tbs: DerReader, outerAlgorithm?: Uint8Array): Omit<TbsCertificate, 'tbs'> {
  const version = readVersion(tbs);
  const serial = tbs.shortIntegerBytes();
  const algorithm = tbs.element(tag.sequence);
  // RFC 5280 §4.1.1.2: both must be the same; only the inner one is signed.
  if (outerAlgorithm && !sameBytes(algorithm, outerAlgorithm)) {
    throw new Fault('malformed', 'certificate names two signature algorithms');
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

const readIssuer = remembering((issuer) => readDer(issuer, readName));

function readVersion(tbs: DerReader): 1 | 2 | 3 {
  const explicit = tbs.optional(contextConstructed(0));
  if (!explicit) return 1;
  const version = explicit.smallInteger(2);
  explicit.finish();
  return (version + 1) as 1 | 2 | 3;
}

/** Whether there are any. */
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

/** Contents octets of an INTEGER → `serialNumber` of a certificate. */
export function formatSerial(serial: Uint8Array): string {
  if (serial[0]! >= 0x80) return `-${formatMagnitude(serial)}`;
  return hex(serial.length > 1 && serial[0] === 0 ? serial.subarray(1) : serial);
}

function formatMagnitude(negative: Uint8Array): string {
  const digits = ((1n << BigInt(negative.length * 8)) - BigInt(`0x${hex(negative)}`)).toString(16);
  return digits.padStart(digits.length + (digits.length % 2), '0').toUpperCase();
}

/** By OID. */
export function extension(
  certificate: { readonly extensions: readonly Extension[] },
  which: string,
): Extension | undefined {
  for (const one of certificate.extensions) if (one.oid === which) return one;
  return undefined;
}

type Extended = { readonly extensions: readonly Extension[] };

/** What an extension says; undefined when it is missing. */
export function decoded<T>(
  certificate: Extended,
  which: string,
  decode: (value: Uint8Array) => T,
): T | undefined {
  const found = extension(certificate, which);
  return found && decode(found.value);
}

// Each is undefined when the extension is missing, and throws Fault malformed when it is not what it should be.

const keyUsage = remembering<readonly KeyUsage[]>(decodeKeyUsage);
const extendedKeyUsage = remembering<readonly string[]>(decodeExtendedKeyUsage);
const basicConstraints = remembering(decodeBasicConstraints);
const authorityKeyIdentifier = remembering(decodeAuthorityKeyIdentifier);

export const keyUsageOf = (certificate: Extended): readonly KeyUsage[] | undefined =>
  decoded(certificate, oid.keyUsage, keyUsage);

/** OIDs of purposes. */
export const extendedKeyUsageOf = (certificate: Extended): readonly string[] | undefined =>
  decoded(certificate, oid.extendedKeyUsage, extendedKeyUsage);

export const basicConstraintsOf = (certificate: Extended): BasicConstraints | undefined =>
  decoded(certificate, oid.basicConstraints, basicConstraints);

/** Empty when the extension is missing. */
export const subjectAltNamesOf = (certificate: Extended): readonly GeneralName[] =>
  decoded(certificate, oid.subjectAltName, decodeSubjectAltName) ?? noNames;

const noNames: readonly GeneralName[] = [];

export const subjectKeyIdentifierOf = (certificate: Extended): Uint8Array | undefined =>
  decoded(certificate, oid.subjectKeyIdentifier, decodeSubjectKeyIdentifier);

export const authorityKeyIdentifierOf = (certificate: Extended): AuthorityKeyIdentifier | undefined =>
  decoded(certificate, oid.authorityKeyIdentifier, authorityKeyIdentifier);

export interface CertificateTemplate {
  /** Magnitude, most significant octet first: positive, and at most 20 octets when encoded. */
  readonly serial: Uint8Array;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly issuer: Name;
  /** Milliseconds since 1970; the fraction of the second is cut off. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly subject: Name;
  /** DER. */
  readonly spki: Uint8Array;
  readonly extensions: readonly Extension[];
}

const version3 = Uint8Array.of(0xa0, 3, tag.integer, 1, 2);

/** TBSCertificate of version 3 in DER, to be signed. Faults: malformed for a serial number out of range. */
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

/** What is issued within one second by one profile is valid for the same time. */
function encodedValidity(notBefore: number, notAfter: number): Uint8Array {
  if (lastValidity.notBefore !== notBefore || lastValidity.notAfter !== notAfter) {
    const encoded = der((b) => b.sequence((validity) => validity.time(notBefore).time(notAfter)));
    lastValidity = { notBefore, notAfter, encoded };
  }
  return lastValidity.encoded;
}

/**
 * What `parseTbsCertificate` reads from `tbs`, which has been built from `template`, without decoding again what is known. The
 * outline of `tbs` is read nevertheless: each part has to be just one element, in its place. Faults: malformed, as there.
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

/** As it was encoded where the magnitude needed an octet for its sign, or had too many. */
function serialIn(tbs: Uint8Array): Uint8Array {
  const outline = new DerReader(tbs).enter(tag.sequence);
  outline.skip(contextConstructed(0));
  return outline.integerBytes();
}

function demandPart(outline: DerReader, which: number, length: number): void {
  if (outline.skip(which) !== length) throw new Fault('malformed', 'certificate out of shape');
}

/** RFC 5280 §4.1.2.2. */
function checkSerial(serial: Uint8Array): void {
  let skip = 0;
  while (serial[skip] === 0) skip++;
  const length = serial.length - skip;
  if (length === 0 || length > 20 || (length === 20 && serial[skip]! >= 0x80)) {
    throw new Fault('malformed', 'certificate serial numbers are positive and have at most 20 octets');
  }
}

/** The certificate in DER. `signature`: as X.509 has it (ECDSA in DER). */
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

/** SHA-256 of the DER in upper-case hexadecimal. */
export const fingerprint = (der: Uint8Array): string => hash('sha256', der, 'hex').toUpperCase();
