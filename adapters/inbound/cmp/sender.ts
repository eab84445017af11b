import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import type { SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { toFault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Entropy } from '#core/ports/platform.ts';
import type { Target } from '#core/requester/evidence.ts';
import type { Requester } from '#core/requester/requester.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { type KeyRecipient, recipientOf } from './key-recipient.ts';
import { Refusal } from './refusal.ts';
import { macSeal, type Seal, signatureSeal } from './reply.ts';

/** The authenticated sender of a message, and how responses to it are protected: with a MAC or a signature like the message. */
export interface Sender {
  readonly requester: Requester;
  readonly seal: Seal;
  readonly protection: 'mac' | 'signature';
  /** The recipient of secrets in responses: the holder of the key that protected the message. */
  readonly recipient: KeyRecipient;
  /** When the certificate or secret that protects the message expires, in milliseconds since 1970. */
  readonly expires: number;
}

/** Rejects a sender that knows the shared secret. The response is protected with that secret: the sender can check nothing else. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted';
  readonly seal: Seal;

  /** `cause`: the Fault of `admit`. */
  constructor(seal: Seal, cause: unknown) {
    super('the sender is authenticated, but not admitted', { cause });
    this.seal = seal;
  }
}

/** A certificate is valid until the end of the second that notAfter names. */
const second = 1000;

/** The latest GeneralizedTime (RFC 5280 §4.1.2.5): a shared secret does not expire. */
const never = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The minimum of PBKDF2 iterations for the encryption of private keys, which need more protection than one message's MAC. */
const fewestIterations = 10_000;

type Admitting = Pick<Gateway, 'admit' | 'protection' | 'caCertificates'>;

/**
 * Checks the protection of a message and admits its sender (RFC 9483 §3.2, §3.5). Throws Refusal `badMessageCheck` or
 * `signerNotTrusted`, Fault `badAlgorithm` or those of `admit`, and NotAdmitted if the MAC was right and `admit` failed.
 */
export function identify(
  gateway: Admitting,
  entropy: Entropy,
  message: SealedPkiMessage,
  target: Target,
  { address, secure }: { readonly address: string; readonly secure: boolean },
): Promise<Sender> {
  if ((message.protection === undefined) !== (message.header.protectionAlg === undefined)) {
    throw new Refusal(
      'badMessageCheck',
      'the message has only one of protectionAlg and protection; it needs both',
    );
  }
  const protection = readProtection(message);
  switch (protection.kind) {
    case 'none':
      throw new Refusal('badMessageCheck', 'the message must be protected');
    case 'mac':
      return byMac(gateway, entropy, message, protection, target, { address, secure });
    case 'signature':
      return bySignature(gateway, message, protection, target, address);
  }
}

type Of<K> = Extract<ReturnType<typeof readProtection>, { kind: K }>;

async function byMac(
  gateway: Admitting,
  entropy: Entropy,
  { header }: SealedPkiMessage,
  protection: Of<'mac'>,
  target: Target,
  from: { readonly address: string; readonly secure: boolean },
): Promise<Sender> {
  let shared: Uint8Array | undefined;
  const verify = async (secret: Uint8Array): Promise<boolean> => {
    const right = await protection.verify(secret);
    if (right) shared = secret;
    return right;
  };
  const reference = readReference(header.senderKID);
  const sealWith = (secret: Uint8Array): Promise<Seal> =>
    macSeal(gateway, entropy, target.domain, header, protection, secret);
  const requester = await gateway
    .admit({ kind: 'mac', reference, verify, ...from }, target)
    .catch(async (error: unknown) => {
      // Only `forbidden` may reveal that the secret was right; a sender that guesses must not learn it in any other case.
      const isKnown = toFault(error).code === 'forbidden';
      const seal = shared && isKnown ? await sealWith(shared).catch(() => undefined) : undefined;
      throw seal ? new NotAdmitted(seal, error) : error;
    });
  if (!shared) throw new Error('a sender was admitted whose MAC was not verified');
  const seal = await sealWith(shared);
  const iterations = Math.max(fewestIterations, protection.parameters.iterations);
  const recipient = { kind: 'password', password: shared, iterations } as const;
  return { requester, seal, protection: 'mac', recipient, expires: never };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads senderKID, which names the shared secret (RFC 9483 §3.1). */
function readReference(senderKID: Uint8Array | undefined): string {
  try {
    if (senderKID?.length) return utf8.decode(senderKID);
  } catch {
    throw new Refusal('badMessageCheck', 'senderKID must be the name or the number of a device in UTF-8');
  }
  throw new Refusal('badMessageCheck', 'senderKID is missing: it names the device whose secret is used');
}

async function bySignature(
  gateway: Admitting,
  message: SealedPkiMessage,
  protection: Of<'signature'>,
  target: Target,
  address: string,
): Promise<Sender> {
  const { signer, others } = readExtraCerts(message);
  const key = readPublicKey(signer.spki);
  if (!protection.verify(key)) {
    throw new Refusal(
      'badMessageCheck',
      'the signature does not verify with the key of the first certificate in extraCerts',
    );
  }
  const certificates = [signer, ...others].map(({ der }) => der);
  const requester = await gateway
    .admit({ kind: 'signature', certificates, address }, target)
    .catch((error: unknown) => {
      throw untrusted(error);
    });
  // Without a domain in the path, an IDevID may belong to a domain other than the default one.
  const seal = signatureSeal(await gateway.protection(requester.domain.uniqueName));
  const recipient = recipientOf(signer, key);
  return { requester, seal, protection: 'signature', recipient, expires: signer.notAfter + second };
}

/** The signature was right, so an authentication failure means that the certificate is not trusted. */
function untrusted(error: unknown): unknown {
  const { code, detail } = toFault(error);
  return code === 'unauthenticated' ? new Refusal('signerNotTrusted', detail, { cause: error }) : error;
}
