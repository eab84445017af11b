import type { Recipient } from '#adapters/wire/cms/enveloped-data.ts';
import type { KeyFormat } from '#adapters/wire/cms/key-package.ts';
import { type Certificate, keyUsageOf, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { keyIdentifier, type PublicKey } from '#core/x509/public-key.ts';
import { Refusal } from './refusal.ts';

type OfCertificate = Extract<Recipient, { kind: 'certificate' }>;
type OfPassword = Extract<Recipient, { kind: 'password' }>;

/** To whom private keys that were made here are encrypted; `lacks`: the key usage that forbids it. */
export type KeyRecipient =
  | (OfCertificate & { readonly lacks?: string | undefined })
  | Omit<OfPassword, 'wrap'>;

/** In which form clients want private keys that were made here. */
export interface KeyDelivery {
  readonly format: KeyFormat;
  readonly wrap: OfPassword['wrap'];
}

/** RFC 9483 §4.1.6.1 and §4.1.6.2: keyEncipherment for key transport, keyAgreement for key agreement. */
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

/** Before there is a certificate: who cannot be sent its key has no use for it. */
export function demandRecipient(recipient: KeyRecipient): void {
  if (recipient.kind === 'password' || recipient.lacks === undefined) return;
  throw new Refusal(
    'notAuthorized',
    `no private key can be encrypted to the certificate of the sender: its key usage has no ${recipient.lacks}`,
  );
}
