import type { Recipient } from '#adapters/wire/cms/enveloped-data.ts';
import type { KeyFormat } from '#adapters/wire/cms/key-package.ts';
import { type Certificate, keyUsageOf, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { keyIdentifier, type PublicKey } from '#core/x509/public-key.ts';
import { Refusal } from './refusal.ts';

type OfCertificate = Extract<Recipient, { kind: 'certificate' }>;
type OfPassword = Extract<Recipient, { kind: 'password' }>;

/** The recipient of an encrypted private key that Postern generated; `lacks`: the key usage it would need and does not have. */
export type KeyRecipient =
  | (OfCertificate & { readonly lacks?: string | undefined })
  | Omit<OfPassword, 'wrap'>;

/** The format in which private keys that Postern generated are delivered. */
export interface KeyDelivery {
  readonly format: KeyFormat;
  readonly wrap: OfPassword['wrap'];
}

/**
 * Returns the holder of a certificate as recipient. Key transport needs keyEncipherment (RFC 9483 §4.1.6.1), key agreement needs
 * keyAgreement (§4.1.6.2).
 */
export function recipientOf(certificate: Certificate, key: PublicKey): KeyRecipient {
  const usages = keyUsageOf(certificate);
  const needed = key.type.startsWith('rsa-')
    ? 'keyEncipherment'
    : key.type.startsWith('p-')
      ? 'keyAgreement'
      : undefined;
  const lacks = usages && needed && !usages.includes(needed) ? needed : undefined;
  const identifier = subjectKeyIdentifierOf(certificate) ?? keyIdentifier(key);
  return { kind: 'certificate', key, keyIdentifier: identifier, lacks };
}

/** Throws a Refusal, before anything is issued, if the key could not be encrypted to the recipient. */
export function requireRecipient(recipient: KeyRecipient): void {
  if (recipient.kind === 'password' || recipient.lacks === undefined) return;
  throw new Refusal(
    'notAuthorized',
    `the private key cannot be encrypted to the sender's certificate: its key usage lacks ${recipient.lacks}`,
  );
}
