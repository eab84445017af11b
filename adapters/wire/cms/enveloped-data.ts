import { createCipheriv } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { context } from '#core/der/tag.ts';
import type { PublicKey } from '#core/x509/public-key.ts';
import { aes256Cbc, aesBlockOctets, aesKeyOctets } from './algorithms.ts';
import { keyAgreementRecipient } from './key-agreement.ts';
import { keyTransportRecipient } from './key-transport.ts';
import { type Password, passwordRecipient } from './password-recipient.ts';

/** The recipient who can decrypt the content: the holder of a certified key or of a password. */
export type Recipient =
  | {
      readonly kind: 'certificate';
      readonly key: PublicKey;
      /** The subject key identifier of the certificate. */
      readonly keyIdentifier: Uint8Array;
    }
  | ({ readonly kind: 'password' } & Password);

type Random = (octets: number) => Uint8Array;

/**
 * Builds EnvelopedData (DER, RFC 5652 §6.1, profiled by RFC 9483 §4.1.6) without ContentInfo. The content is encrypted
 * with AES-256-CBC for one recipient: key transport to RSA, ephemeral-static ECDH to P-256, P-384 and P-521, or PBKDF2
 * for passwords. Faults: badAlgorithm for a key that cannot be used for encryption.
 */
export async function buildEnvelopedData(
  contentType: string,
  content: Uint8Array,
  recipient: Recipient,
  random: Random,
): Promise<Uint8Array> {
  const key = random(aesKeyOctets);
  const iv = random(aesBlockOctets);
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()]);
  const info = await recipientInfo(key, recipient, random);
  return der((b) =>
    b.sequence((envelopedData) => {
      // RFC 5652 §6.1: version 3 with a PasswordRecipientInfo, 2 if the recipient is identified by its key identifier.
      envelopedData.integer(recipient.kind === 'password' ? 3 : 2).setOf([info]);
      envelopedData.sequence((inner) =>
        inner.oid(contentType).raw(aes256Cbc(iv)).octetString(encrypted, context(0)),
      );
    }),
  );
}

async function recipientInfo(key: Uint8Array, recipient: Recipient, random: Random): Promise<Uint8Array> {
  if (recipient.kind === 'password') return passwordRecipient(key, recipient, random);
  return recipient.key.type.startsWith('rsa-')
    ? keyTransportRecipient(key, recipient.key, recipient.keyIdentifier)
    : keyAgreementRecipient(key, recipient.key, recipient.keyIdentifier, random);
}
