import { type DerReader, readDer } from '../der/reader.ts';
import { context, contextConstructed, tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm } from './algorithm.ts';
import { type Extension, readExtensions } from './extension.ts';
import { type Name, readName } from './name.ts';

/** A CertTemplate (RFC 4211 §5) without the obsolete unique identifiers. */
export interface CertTemplate {
  readonly der: Uint8Array;
  /** The encoded value: 2 for version 3. */
  readonly version: number | undefined;
  /** AlgorithmIdentifier in DER. */
  readonly signingAlg: Uint8Array | undefined;
  /** Milliseconds since 1970. */
  readonly validity:
    | { readonly notBefore: number | undefined; readonly notAfter: number | undefined }
    | undefined;
  /** Contents octets of the INTEGER. Only in requests about an existing certificate. */
  readonly serial: Uint8Array | undefined;
  readonly issuer: Name | undefined;
  readonly subject: Name | undefined;
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Uint8Array | undefined;
  readonly extensions: readonly Extension[];
}

/** RFC 4211 §4. */
export type ProofOfPossession =
  | { readonly kind: 'none' | 'raVerified' }
  | {
      readonly kind: 'signature';
      readonly algorithm: SignatureAlgorithm;
      readonly signature: Uint8Array;
    }
  /** A signature over POPOSigningKeyInput (`input`, DER), used if the template has no subject or no public key. */
  | {
      readonly kind: 'signatureOverInput';
      readonly input: Uint8Array;
      readonly algorithm: SignatureAlgorithm;
      readonly signature: Uint8Array;
    }
  /** POPOPrivKey (RFC 4211 §4.2). `value`: contents octets of the alternative. */
  | {
      readonly kind: 'keyEncipherment' | 'keyAgreement';
      readonly method: PrivateKeyMethod;
      readonly value: Uint8Array;
    };

type PrivateKeyMethod = keyof typeof privateKeyMethods;

/** The identifier octets of the alternatives of POPOPrivKey. The tags are implicit. */
export const privateKeyMethods = {
  thisMessage: context(0),
  subsequentMessage: context(1),
  dhMac: context(2),
  agreeMac: contextConstructed(3),
  encryptedKey: contextConstructed(4),
} as const;

/** A control or an element of regInfo: OID and value (DER). */
export interface Control {
  readonly type: string;
  readonly value: Uint8Array;
}

/** RFC 4211 §3. */
export interface CertReqMsg {
  /** Distinguishes it from other kinds of requests. */
  readonly kind: 'crmf';
  readonly der: Uint8Array;
  /** The CertRequest (DER), over which the proof of possession is signed. */
  readonly signed: Uint8Array;
  readonly certReqId: number;
  readonly template: CertTemplate;
  /** RFC 4211 §6, in the order of the message. */
  readonly controls: readonly Control[];
  readonly proof: ProofOfPossession;
  /** RFC 4211 §7, in the order of the message. */
  readonly regInfo: readonly Control[];
}

const mostControls = 32;

/** Decodes a CertReqMsg (DER, RFC 4211 §3). Faults: malformed; badAlgorithm for the algorithm of the proof. */
export function parseCertReqMsg(der: Uint8Array): CertReqMsg {
  return readDer(der, (reader) => {
    const message = reader.sequence();
    const signed = message.element(tag.sequence);
    const proof = readProof(message);
    const regInfo = readControls(message);
    message.finish();
    const { certReqId, template, controls } = readDer(signed, readCertRequest);
    return { kind: 'crmf', der, signed, certReqId, template, controls, proof, regInfo };
  });
}

function readCertRequest(reader: DerReader): Pick<CertReqMsg, 'certReqId' | 'template' | 'controls'> {
  const request = reader.sequence();
  const certReqId = request.smallInteger(2 ** 31 - 1);
  const template = parseCertTemplate(request.element(tag.sequence));
  const controls = readControls(request);
  request.finish();
  return { certReqId, template, controls };
}

/**
 * Reads controls or regInfo. Both are SEQUENCE SIZE (1..MAX) OF AttributeTypeAndValue, and absent rather than empty.
 */
function readControls(reader: DerReader): Control[] {
  const controls: Control[] = [];
  const list = reader.optional(tag.sequence);
  if (list?.empty) throw new Fault('malformed', 'certificate request with an empty list of controls');
  while (list && !list.empty) {
    const control = list.sequence();
    controls.push({ type: control.oid(), value: control.element() });
    control.finish();
    if (controls.length > mostControls)
      throw new Fault('malformed', 'certificate request with too many controls');
  }
  return controls;
}

/** Decodes a CertTemplate (DER, RFC 4211 §5). Faults: malformed. */
export function parseCertTemplate(template: Uint8Array): CertTemplate {
  return readDer(template, (reader) => readTemplate(template, reader.sequence()));
}

/**
 * Returns whether the template has a public key. To request a key from the CA, a client omits it or sends one with an
 * empty BIT STRING (RFC 9483 §4.1.6). Faults: malformed.
 */
export const hasPublicKey = ({ spki }: Pick<CertTemplate, 'spki'>): boolean =>
  spki !== undefined &&
  readDer(spki, (reader) => {
    const info = reader.sequence();
    info.element(tag.sequence);
    return info.bitString().bytes.length > 0;
  });

/** Tags are implicit, except those of names and times, because Name and Time are CHOICEs. */
function readTemplate(encoded: Uint8Array, reader: DerReader): CertTemplate {
  const version =
    reader.peek() === context(0) ? readVersion(reader.shortIntegerBytes(context(0))) : undefined;
  const serial = reader.peek() === context(1) ? reader.shortIntegerBytes(context(1)) : undefined;
  const signingAlg = asSequence(reader, 2);
  const issuer = readExplicitName(reader, 3);
  const optionalValidity = reader.optional(contextConstructed(4));
  const validity = optionalValidity && readValidity(optionalValidity);
  const subject = readExplicitName(reader, 5);
  const spki = asSequence(reader, 6);
  skip(reader, context(7)); // issuerUID
  skip(reader, context(8)); // subjectUID
  const extensions = asSequence(reader, 9);
  reader.finish();
  return {
    der: encoded,
    version,
    serial,
    signingAlg,
    issuer,
    validity,
    subject,
    spki,
    extensions: extensions ? readDer(extensions, readExtensions) : [],
  };
}

/** Decodes the contents octets of an INTEGER of one octet. Faults: malformed. */
function readVersion(octets: Uint8Array): number {
  if (octets.length !== 1 || octets[0]! > 127)
    throw new Fault('malformed', 'the certificate template has an unsupported version');
  return octets[0]!;
}

/** Reads OptionalValidity. */
function readValidity(reader: DerReader): CertTemplate['validity'] {
  const notBefore = readExplicitTime(reader, 0);
  const notAfter = readExplicitTime(reader, 1);
  reader.finish();
  return { notBefore, notAfter };
}

function readExplicitTime(reader: DerReader, n: number): number | undefined {
  const explicit = reader.optional(contextConstructed(n));
  const time = explicit?.time();
  explicit?.finish();
  return time;
}

function skip(reader: DerReader, identifier: number): void {
  if (reader.peek() === identifier) reader.skip();
}

function readExplicitName(reader: DerReader, n: number): Name | undefined {
  const explicit = reader.optional(contextConstructed(n));
  if (!explicit) return undefined;
  const name = readName(explicit);
  explicit.finish();
  return name;
}

/** Returns the SEQUENCE under `[n] IMPLICIT`, with its own tag. */
function asSequence(reader: DerReader, n: number): Uint8Array | undefined {
  if (reader.peek() !== contextConstructed(n)) return undefined;
  const encoded = new Uint8Array(reader.element());
  encoded[0] = tag.sequence;
  return encoded;
}

function readProof(message: DerReader): ProofOfPossession {
  switch (message.peek()) {
    case context(0):
      if (message.contents(context(0)).length > 0)
        throw new Fault('malformed', 'raVerified is not encoded correctly');
      return { kind: 'raVerified' };
    case contextConstructed(1):
      return readSignature(message.read(contextConstructed(1)));
    case contextConstructed(2):
      return { kind: 'keyEncipherment', ...readPrivateKeyProof(message.read(contextConstructed(2))) };
    case contextConstructed(3):
      return { kind: 'keyAgreement', ...readPrivateKeyProof(message.read(contextConstructed(3))) };
    default:
      return { kind: 'none' };
  }
}

/** Reads POPOSigningKey (RFC 4211 §4.1). */
function readSignature(proof: DerReader): ProofOfPossession {
  const input = asSequence(proof, 0);
  const algorithm = readSignatureAlgorithm(proof);
  const signature = proof.bitStringBytes();
  proof.finish();
  return input
    ? { kind: 'signatureOverInput', input, algorithm, signature }
    : { kind: 'signature', algorithm, signature };
}

/** Reads POPOPrivKey. Its tag is explicit, because it is a CHOICE. */
function readPrivateKeyProof(proof: DerReader): { method: PrivateKeyMethod; value: Uint8Array } {
  for (const method of Object.keys(privateKeyMethods) as PrivateKeyMethod[]) {
    if (proof.peek() !== privateKeyMethods[method]) continue;
    const value = proof.contents(privateKeyMethods[method]);
    proof.finish();
    return { method, value };
  }
  throw new Fault('malformed', 'the type of the proof of possession is unknown');
}
