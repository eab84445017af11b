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

/** How responses to one sender are protected, and the sender they name. */
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

/** Certificates already parsed: those of CAs and credentials are the same few objects for all messages. */
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

/** Returns the chain without roots: a receiver does not trust a root because a message contains it (RFC 9483 §3.3). */
export const withoutRoots = (chain: readonly Uint8Array[]): readonly Uint8Array[] =>
  chain.filter((certificate) => !identityOf(certificate).isRoot);

/** Protects responses with the shared secret of the request, a new salt, and the iteration count of the request. */
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

/** Protects responses with the signature credential of the domain. */
export function signatureSeal(credential: ProtectionCredential): Seal {
  const { certificate, algorithm, sign } = credential;
  const { subject, keyIdentifier } = identityOf(certificate);
  return {
    sender: subject,
    senderKID: keyIdentifier,
    protector: signatureProtection(algorithm, sign),
    certificates: allCertificates(credential),
  };
}

/** Returns all certificates that a receiver may need to check a signature, whichever root of a renewed CA it trusts. */
const allCertificates = ({ certificate, chain, links }: ProtectionCredential): readonly Uint8Array[] => [
  certificate,
  ...withoutRoots(chain),
  ...links,
];

interface KeyServices {
  readonly gateway: Pick<Gateway, 'protection'>;
  readonly entropy: Entropy;
  readonly keyDelivery: KeyDelivery;
}

/**
 * Encrypts a generated private key to its recipient. The credential that signs messages also signs the key package: a CA may be
 * its own key generation authority (RFC 9483 §1.6).
 */
export async function sealPrivateKey(
  { gateway, entropy, keyDelivery }: KeyServices,
  domain: string | undefined,
  key: GeneratedKey,
  recipient: KeyRecipient,
): Promise<EncryptedKey> {
  const credential = await gateway.protection(domain);
  const { certificate, algorithm, sign } = credential;
  const { keyIdentifier } = identityOf(certificate);
  if (!keyIdentifier) throw new Error('the protection credential has no key identifier');
  const signer = { certificates: allCertificates(credential), keyIdentifier, algorithm, sign };
  const random = (octets: number) => entropy.bytes(octets);
  const { format, wrap } = keyDelivery;
  const to = recipient.kind === 'password' ? { ...recipient, wrap } : recipient;
  return { kind: 'envelopedData', der: await envelopePrivateKey(key, signer, to, random, format) };
}

const nonceOctets = 16;

interface Extras {
  /** The pvno of the response; by default that of the request, or the nearest supported one (RFC 9810 §7). */
  readonly pvno?: 2 | 3;
  readonly generalInfo?: readonly TypedValue[];
  /** Certificates for extraCerts, after those that check the protection; duplicates are removed. */
  readonly certificates?: readonly Uint8Array[];
}

/** Builds the response to a message (RFC 9483 §3.1). */
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
  // extraCerts are not covered by the MAC. The stored response omits them, and `complete` adds them again.
  const kept = await buildPkiMessage(header, body, { protector });
  return { message: withExtraCerts(kept, certificates), kept, nonce };
}

/** Returns a stored response as it was first sent: adds the certificate chain that is not stored with it. */
export async function complete(
  { transactions }: Pick<Gateway, 'transactions'>,
  transaction: Transaction,
  answer: Uint8Array,
): Promise<Uint8Array> {
  if (transaction.certificate === null || !lacksChain(answer)) return answer;
  return withExtraCerts(answer, withoutRoots(await transactions.chainOf(transaction)));
}

/** Whether a response holds a certificate and no extraCerts. */
function lacksChain(answer: Uint8Array): boolean {
  const { extraCerts, body } = parsePkiMessage(answer);
  if (extraCerts.length > 0 || !('responses' in body) || body.type === 'popdecr') return false;
  return body.responses.some(({ certifiedKeyPair }) => certifiedKeyPair !== undefined);
}
