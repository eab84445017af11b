import { der } from '../der/builder.ts';
import { type DerReader, readDer } from '../der/reader.ts';
import { context, contextConstructed, tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm } from './algorithm.ts';
import { type Extension, readExtensions } from './extension.ts';
import { type Name, readName } from './name.ts';

/** The fields of a CertTemplate that a requester may fill in (RFC 4211 §5); others are not read. */
interface CertTemplate {
  /** Contents octets of the INTEGER; only in requests that name a certificate that exists. */
  readonly serial: Uint8Array | undefined;
  readonly issuer: Name | undefined;
  readonly subject: Name | undefined;
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Uint8Array | undefined;
  readonly extensions: readonly Extension[];
}

/** RFC 4211 §4. */
type ProofOfPossession =
  | { readonly kind: 'none' | 'raVerified' | 'keyEncipherment' | 'keyAgreement' | 'signatureOverInput' }
  | { readonly kind: 'signature'; readonly algorithm: SignatureAlgorithm; readonly signature: Uint8Array };

/** RFC 4211 §3. */
export interface CertReqMsg {
  readonly der: Uint8Array;
  /** CertRequest in DER: what the proof of possession signs. */
  readonly signed: Uint8Array;
  readonly certReqId: number;
  readonly template: CertTemplate;
  /** RFC 4211 §6, in their order: OID, and the DER of the value. */
  readonly controls: readonly { readonly type: string; readonly value: Uint8Array }[];
  readonly proof: ProofOfPossession;
}

const mostControls = 32;

/** One CertReqMsg in DER (RFC 4211 §3). Faults: malformed; badAlgorithm for the algorithm of the proof. */
export function parseCertReqMsg(der: Uint8Array): CertReqMsg {
  return readDer(der, (reader) => {
    const message = reader.sequence();
    const signed = message.element(tag.sequence);
    const proof = readProof(message);
    // regInfo: nothing in it is used.
    if (message.peek() === tag.sequence) message.element();
    message.finish();
    return { der, signed, ...readDer(signed, (r) => readCertRequest(r.sequence())), proof };
  });
}

function readCertRequest(request: DerReader): Pick<CertReqMsg, 'certReqId' | 'template' | 'controls'> {
  const certReqId = request.smallInteger(2 ** 31 - 1);
  const template = readTemplate(request.sequence());
  const controls: { type: string; value: Uint8Array }[] = [];
  const list = request.optional(tag.sequence);
  while (list && !list.empty) {
    const control = list.sequence();
    controls.push({ type: control.oid(), value: control.element() });
    control.finish();
    if (controls.length > mostControls)
      throw new Fault('malformed', 'certificate request with too many controls');
  }
  request.finish();
  return { certReqId, template, controls };
}

/** Tags are implicit, save those of the names, as Name is a CHOICE. */
function readTemplate(reader: DerReader): CertTemplate {
  skip(reader, context(0)); // version
  const serial = reader.peek() === context(1) ? reader.integerBytes(context(1)) : undefined;
  skip(reader, contextConstructed(2)); // signingAlg
  const issuer = readExplicitName(reader, 3);
  skip(reader, contextConstructed(4)); // validity
  const subject = readExplicitName(reader, 5);
  const spki = retagged(reader, 6);
  skip(reader, context(7)); // issuerUID
  skip(reader, context(8)); // subjectUID
  const extensions = retagged(reader, 9);
  reader.finish();
  return { serial, issuer, subject, spki, extensions: extensions ? readDer(extensions, readExtensions) : [] };
}

function skip(reader: DerReader, identifier: number): void {
  if (reader.peek() === identifier) reader.element();
}

function readExplicitName(reader: DerReader, n: number): Name | undefined {
  const explicit = reader.optional(contextConstructed(n));
  if (!explicit) return undefined;
  const name = readName(explicit);
  explicit.finish();
  return name;
}

/** The SEQUENCE that stands under `[n] IMPLICIT`, with its own tag. */
function retagged(reader: DerReader, n: number): Uint8Array | undefined {
  if (reader.peek() !== contextConstructed(n)) return undefined;
  const contents = reader.contents(contextConstructed(n));
  return der((b) => b.sequence(contents));
}

function readProof(message: DerReader): ProofOfPossession {
  switch (message.peek()) {
    case context(0):
      if (message.contents(context(0)).length > 0) throw new Fault('malformed', 'bad raVerified');
      return { kind: 'raVerified' };
    case contextConstructed(1):
      return readSignature(message.read(contextConstructed(1)));
    case contextConstructed(2):
      message.element();
      return { kind: 'keyEncipherment' };
    case contextConstructed(3):
      message.element();
      return { kind: 'keyAgreement' };
    default:
      return { kind: 'none' };
  }
}

/** POPOSigningKey (RFC 4211 §4.1). */
function readSignature(proof: DerReader): ProofOfPossession {
  const input = proof.optional(contextConstructed(0));
  const algorithm = readSignatureAlgorithm(proof);
  const signature = proof.bitStringBytes();
  proof.finish();
  return input ? { kind: 'signatureOverInput' } : { kind: 'signature', algorithm, signature };
}
