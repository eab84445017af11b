import { DerReader } from '../der/reader.ts';
import { contextConstructed, tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm, signatureAlgorithmFits } from './algorithm.ts';
import { type CertReqMsg, parseCertReqMsg } from './crmf.ts';
import { readString, stringTags } from './directory-string.ts';
import { type Extension, readExtensions } from './extension.ts';
import { decodeSubjectAltName } from './extensions/identity.ts';
import type { GeneralName } from './general-name.ts';
import { emptyName, type Name, readName } from './name.ts';
import { decodeNameChange, type NameChange } from './name-change.ts';
import { oid } from './oids.ts';
import { decodePublicKey, type PublicKey, verifySignature } from './public-key.ts';
import { demandForm } from './request-form.ts';

const proven: unique symbol = Symbol('proof of possession');

/** A certificate request whose proof of possession has been verified. Only this file creates one. */
export interface VerifiedRequest {
  readonly kind: 'pkcs10' | 'crmf';
  readonly subject: Name;
  readonly publicKey: PublicKey;
  /** The requested extensions. */
  readonly extensions: readonly Extension[];
  /** Decoded from the extensions. */
  readonly subjectAltNames: readonly GeneralName[];
  readonly challengePassword: string | undefined;
  /** The new names that a renewal requests. */
  readonly nameChange: NameChange | undefined;
  /** The request as received: CertificationRequest or CertReqMsg. */
  readonly der: Uint8Array;
  readonly [proven]: true;
}

const bad = (detail: string): Fault => new Fault('badCsr', detail);

/**
 * Decodes and verifies a PKCS#10 request (DER, RFC 2986 §4). Faults: malformed; badCsr for contradictory attributes and
 * for encodings that are not DER (`demandForm`); badAlgorithm for a key or signature algorithm that is not accepted;
 * badProof if the signature is not by the key in the request.
 */
export function verifyPkcs10(der: Uint8Array): VerifiedRequest {
  const request = new DerReader(der).enter(tag.sequence);
  const signed = request.element(tag.sequence);
  const { subject, spki, attributes } = readInfo(new DerReader(signed).enter(tag.sequence));
  const publicKey = decodePublicKey(spki);
  const algorithm = readSignatureAlgorithm(request);
  const signature = request.bitStringBytes();
  request.finish();
  demandProof(publicKey, algorithm, signed, signature);
  const { extensions, challengePassword, nameChange } = attributes;
  const subjectAltNames = readSubjectAltNames(extensions);
  demandForm({ subject, subjectAltNames, extensions });
  if (nameChange) {
    const { subject: other = emptyName, subjectAltNames: others = noNames } = nameChange;
    demandForm({ subject: other, subjectAltNames: others, extensions: noExtensions });
  }
  return {
    kind: 'pkcs10',
    subject,
    publicKey,
    extensions,
    subjectAltNames,
    challengePassword,
    nameChange,
    der,
    [proven]: true,
  };
}

/** The contents of a request whose key and signature have not been checked. */
interface UnprovenRequest {
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly spki: Uint8Array;
  readonly challengePassword: string | undefined;
  /** OIDs. */
  readonly attributeTypes: readonly string[];
}

/** Decodes a PKCS#10 request and ignores its key and signature. Faults: malformed; badCsr as in `verifyPkcs10`. */
export function readUnproven(der: Uint8Array): UnprovenRequest {
  const request = new DerReader(der).enter(tag.sequence);
  const { subject, spki, attributes } = readInfo(request.sequence());
  request.element(tag.sequence);
  request.bitString();
  request.finish();
  const { extensions, challengePassword, types } = attributes;
  demandForm({ subject, subjectAltNames: readSubjectAltNames(extensions), extensions });
  return { subject, extensions, spki, challengePassword, attributeTypes: types };
}

function demandProof(
  key: PublicKey,
  algorithm: SignatureAlgorithm,
  signed: Uint8Array,
  signature: Uint8Array,
): void {
  if (!signatureAlgorithmFits(algorithm, key.type)) {
    throw new Fault('badAlgorithm', `a ${key.type} key cannot sign with ${algorithm}`);
  }
  if (!verifySignature(key, algorithm, signed, signature)) {
    throw new Fault('badProof', 'the signature of the request does not verify with the key in the request');
  }
}

/**
 * Decodes and verifies a CertReqMsg (DER, RFC 4211 §3; RFC 9483 §4.1.1: proof of possession by a signature).
 * `raVerified`: whether the sender is a registration authority that may vouch for the possession. Faults: malformed;
 * badCsr without a public key and as in `demandForm`; badAlgorithm; badProof.
 */
export const verifyCertReqMsg = (
  der: Uint8Array,
  options: { readonly raVerified: boolean },
): VerifiedRequest => verifyParsed(parseCertReqMsg(der), options);

/** Like `verifyCertReqMsg`, for a decoded message. Faults: malformed; badCsr; badAlgorithm; badProof. */
export function verifyParsed(
  { der, template, proof, signed }: CertReqMsg,
  options: { readonly raVerified: boolean },
): VerifiedRequest {
  const { subject = emptyName, spki, extensions } = template;
  if (!spki) throw bad('the certificate template has no public key');
  const publicKey = decodePublicKey(spki);
  if (proof.kind === 'signature') demandProof(publicKey, proof.algorithm, signed, proof.signature);
  else if (proof.kind !== 'raVerified') {
    throw new Fault(
      'badProof',
      `the proof of possession must be a signature over the request, not ${proof.kind}`,
    );
  } else if (!options.raVerified) {
    throw new Fault('badProof', 'raVerified is accepted only from registration authorities');
  }
  const subjectAltNames = readSubjectAltNames(extensions);
  demandForm({ subject, subjectAltNames, extensions });
  return {
    kind: 'crmf',
    subject,
    publicKey,
    extensions,
    subjectAltNames,
    challengePassword: undefined,
    nameChange: undefined,
    der,
    [proven]: true,
  };
}

interface Attributes {
  readonly extensions: readonly Extension[];
  readonly challengePassword: string | undefined;
  readonly nameChange: NameChange | undefined;
  /** OIDs of all attributes. */
  readonly types: readonly string[];
}

/** Reads CertificationRequestInfo. */
function readInfo(info: DerReader): { subject: Name; spki: Uint8Array; attributes: Attributes } {
  if (info.smallInteger(255) !== 0) throw bad('certification request of unknown version');
  const subject = readName(info);
  const spki = info.element(tag.sequence);
  // Not optional in RFC 2986, but some clients omit an empty set.
  const attributes = readAttributes(info.optional(contextConstructed(0)));
  info.finish();
  return { subject, spki, attributes };
}

const mostAttributes = 64;

const noExtensions: readonly Extension[] = [];
const noAttributes: Attributes = {
  extensions: noExtensions,
  challengePassword: undefined,
  nameChange: undefined,
  types: [],
};

/** Reads the attributes of RFC 2985 §5.4 and ignores those of other types. */
function readAttributes(reader: DerReader | undefined): Attributes {
  if (!reader || reader.empty) return noAttributes;
  let extensions: readonly Extension[] | undefined;
  let challengePassword: string | undefined;
  let nameChange: NameChange | undefined;
  const types: string[] = [];
  while (!reader.empty) {
    const attribute = reader.sequence();
    const type = attribute.oid();
    const values = attribute.set();
    attribute.finish();
    if (types.includes(type)) throw bad(`attribute ${type} occurs twice`);
    if (types.push(type) > mostAttributes) throw bad('too many attributes');
    if (type === oid.extensionRequest || type === oid.microsoftExtensionRequest) {
      if (extensions) throw bad('extensions are requested twice');
      extensions = single(values, readExtensions);
    } else if (type === oid.challengePassword) {
      challengePassword = single(values, readChallengePassword);
    } else if (type === oid.changeSubjectName) {
      nameChange = single(values, (value) => decodeNameChange(value.element()));
    }
  }
  return { extensions: extensions ?? noExtensions, challengePassword, nameChange, types };
}

function single<T>(values: DerReader, read: (value: DerReader) => T): T {
  const value = read(values);
  if (!values.empty) throw bad('an attribute has several values');
  return value;
}

function readChallengePassword(value: DerReader): string {
  const identifier = value.peek();
  if (!stringTags.has(identifier)) throw bad('the challenge password is not a string');
  return readString(value, identifier);
}

const noNames: readonly GeneralName[] = [];

function readSubjectAltNames(extensions: readonly Extension[]): readonly GeneralName[] {
  for (const { oid: type, value } of extensions) {
    if (type === oid.subjectAltName) return decodeSubjectAltName(value);
  }
  return noNames;
}
