import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { EncryptedKey } from '#adapters/wire/cmp/encrypted-key.ts';
import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import {
  buildPkiMessage,
  type Protector,
  parsePkiMessage,
  type SealedPkiMessage,
  withExtraCerts,
} from '#adapters/wire/cmp/message.ts';
import { macProtection, type Protection, signatureProtection } from '#adapters/wire/cmp/protection.ts';
import type { TypedValue } from '#adapters/wire/cmp/typed-value.ts';
import { envelopePrivateKey, type GeneratedKey } from '#adapters/wire/cms/key-package.ts';
import type { ProtectionCredential } from '#core/ca/protection-credential.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Clock, Entropy } from '#core/ports/platform.ts';
import type { Transaction } from '#core/records/transaction.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import { parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { emptyName, type Name, sameName } from '#core/x509/name.ts';
import type { KeyDelivery, KeyRecipient } from './key-recipient.ts';

/** How answers to one sender are protected, and who makes them. */
export interface Seal {
  readonly sender: Name;
  readonly senderKID: Uint8Array | undefined;
  readonly protector: Protector | undefined;
  /** What the receiver needs to check the protection, the signer's certificate first. */
  readonly certificates: readonly Uint8Array[];
}

export const noSeal: Seal = {
  sender: emptyName,
  senderKID: undefined,
  protector: undefined,
  certificates: [],
};

/** The certificates of CAs and credentials are the same few objects over and over: each is read once. */
const read = new WeakMap<Uint8Array, Identity>();

interface Identity {
  readonly subject: Name;
  readonly keyIdentifier: Uint8Array | undefined;
  readonly isRoot: boolean;
}

function identityOf(certificate: Uint8Array): Identity {
  const known = read.get(certificate);
  if (known) return known;
  const parsed = parseCertificate(certificate);
  const { subject, issuer } = parsed;
  const identity = {
    subject,
    keyIdentifier: subjectKeyIdentifierOf(parsed),
    isRoot: sameName(subject, issuer),
  };
  read.set(certificate, identity);
  return identity;
}

/** RFC 9483 §3.3: nobody trusts a root because it was sent along. */
export const withoutRoots = (chain: readonly Uint8Array[]): readonly Uint8Array[] =>
  chain.filter((certificate) => !identityOf(certificate).isRoot);

/** With the shared secret that the request bears out, a salt of its own, and a work factor like the request's. */
export async function macSeal(
  gateway: Pick<Gateway, 'caCertificates'>,
  entropy: Entropy,
  domain: string | undefined,
  request: PkiHeader,
  { parameters }: Extract<Protection, { kind: 'mac' }>,
  secret: Uint8Array,
): Promise<Seal> {
  const [ca] = await gateway.caCertificates(domain);
  return {
    sender: ca ? identityOf(ca).subject : emptyName,
    senderKID: request.senderKID,
    protector: macProtection(secret, parameters, (octets) => entropy.bytes(octets)),
    certificates: [],
  };
}

/** With the domain's own credential, whatever the request was protected with. */
export function signatureSeal(credential: ProtectionCredential): Seal {
  const { certificate, algorithm, sign } = credential;
  const { subject, keyIdentifier } = identityOf(certificate);
  return {
    sender: subject,
    senderKID: keyIdentifier,
    protector: signatureProtection(algorithm, sign),
    certificates: whole(credential),
  };
}

/** All that it takes to check a signature, whichever of the roots of one name is trusted. */
const whole = ({ certificate, chain, links }: ProtectionCredential): readonly Uint8Array[] => [
  certificate,
  ...withoutRoots(chain),
  ...links,
];

interface KeySurroundings {
  readonly gateway: Pick<Gateway, 'protection'>;
  readonly entropy: Entropy;
  readonly keyDelivery: KeyDelivery;
}

/** By the credential that signs messages: that of a CA may also be that of its key generation authority (RFC 9483 §1.6). */
export async function sealPrivateKey(
  { gateway, entropy, keyDelivery }: KeySurroundings,
  domain: string | undefined,
  key: GeneratedKey,
  recipient: KeyRecipient,
): Promise<EncryptedKey> {
  const credential = await gateway.protection(domain);
  const { certificate, algorithm, sign } = credential;
  const { keyIdentifier } = identityOf(certificate);
  if (!keyIdentifier) throw new Error('the protection credential has no key identifier');
  const signer = { certificates: whole(credential), keyIdentifier, algorithm, sign };
  const random = (octets: number) => entropy.bytes(octets);
  const { format, wrap } = keyDelivery;
  const to = recipient.kind === 'password' ? { ...recipient, wrap } : recipient;
  return { kind: 'envelopedData', der: await envelopePrivateKey(key, signer, to, random, format) };
}

const nonceOctets = 16;

interface Extras {
  /** Of the answer; usually that of the request, or the nearest that is supported (RFC 9810 §7). */
  readonly pvno?: 2 | 3;
  readonly generalInfo?: readonly TypedValue[];
  /** To go along; those that check the protection go first, and none goes twice. */
  readonly certificates?: readonly Uint8Array[];
}

/** Makes the answer to a message (RFC 9483 §3.1). */
export async function reply(
  { clock, entropy }: { readonly clock: Clock; readonly entropy: Entropy },
  request: Pick<SealedPkiMessage, 'header'>,
  seal: Seal,
  body: PkiBody,
  { pvno = request.header.pvno < 3 ? 2 : 3, generalInfo = [], certificates = [] }: Extras = {},
): Promise<ResponseMessage> {
  const { sender, transactionID, senderNonce } = request.header;
  const nonce = entropy.bytes(nonceOctets);
  const header = {
    pvno,
    sender: { kind: 'directory', value: seal.sender },
    recipient: sender,
    messageTime: clock.now(),
    senderKID: seal.senderKID,
    transactionID,
    senderNonce: nonce,
    recipNonce: senderNonce,
    generalInfo,
  } as const;
  const { protector } = seal;
  if (seal.certificates.length > 0) {
    const extraCerts = [...new Set([...seal.certificates, ...certificates])];
    return { message: await buildPkiMessage(header, body, { protector, extraCerts }), nonce };
  }
  // What goes along with a MAC is known without it: `complete` puts it back.
  const kept = await buildPkiMessage(header, body, { protector });
  return { message: withExtraCerts(kept, certificates), kept, nonce };
}

/** An answer that is given again, as it was: what had been left out of it is the chain of the certificate in it. */
export async function complete(
  { transactions }: Pick<Gateway, 'transactions'>,
  transaction: Transaction,
  answer: Uint8Array,
): Promise<Uint8Array> {
  if (transaction.certificate === null || !bringsCertificate(answer)) return answer;
  return withExtraCerts(answer, withoutRoots(await transactions.chainOf(transaction)));
}

/** Whether there is a certificate in it, and none beside it. */
function bringsCertificate(answer: Uint8Array): boolean {
  const { extraCerts, body } = parsePkiMessage(answer);
  if (extraCerts.length > 0 || !('responses' in body) || body.type === 'popdecr') return false;
  return body.responses.some(({ certifiedKeyPair }) => certifiedKeyPair !== undefined);
}
