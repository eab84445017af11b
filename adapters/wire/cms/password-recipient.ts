import { createCipheriv, pbkdf2 } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { aes256Cbc, aes256Wrap, aesBlockOctets, aesKeyOctets, wrapAesKey } from './algorithms.ts';

export interface Password {
  readonly password: Uint8Array;
  /** Iterations of PBKDF2 with HMAC-SHA256. */
  readonly iterations: number;
  /**
   * AES key wrap (RFC 3394), required by RFC 9483 §4.1.6.3, or PWRI-KEK (RFC 3211), the only one that OpenSSL reads.
   */
  readonly wrap: 'aesWrap' | 'pwriKek';
}

const pbkdf2Oid = '1.2.840.113549.1.5.12';
const hmacWithSha256 = '1.2.840.113549.2.9';
const pwriKek = '1.2.840.113549.1.9.16.3.9';
const saltOctets = 16;

type Random = (octets: number) => Uint8Array;

/** Builds PasswordRecipientInfo (DER, RFC 5652 §6.2.4). */
export async function passwordRecipient(
  contentKey: Uint8Array,
  { password, iterations, wrap }: Password,
  random: Random,
): Promise<Uint8Array> {
  const salt = random(saltOctets);
  const key = await deriveKey(password, salt, iterations);
  const { algorithm, encrypted } = await (wrap === 'aesWrap'
    ? wrapAesKey(contentKey, key).then((wrapped) => ({ algorithm: aes256Wrap, encrypted: wrapped }))
    : wrapTwice(contentKey, key, random));
  return der((b) =>
    b.add(contextConstructed(3), (pwri) => {
      pwri.integer(0).add(contextConstructed(0), (derivation) => {
        derivation.oid(pbkdf2Oid).sequence((p) => {
          p.octetString(salt).integer(iterations).integer(aesKeyOctets);
          p.sequence((prf) => prf.oid(hmacWithSha256).null());
        });
      });
      pwri.raw(algorithm).octetString(encrypted);
    }),
  );
}

const deriveKey = (password: Uint8Array, salt: Uint8Array, iterations: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    pbkdf2(password, salt, iterations, aesKeyOctets, 'sha256', (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

/** Wraps a key (RFC 3211 §2.3.1): length, three check octets, key and padding, encrypted twice as one CBC chain. */
function wrapTwice(
  contentKey: Uint8Array,
  key: Uint8Array,
  random: Random,
): { algorithm: Uint8Array; encrypted: Uint8Array } {
  const check = contentKey.subarray(0, 3).map((octet) => ~octet);
  const formatted = Buffer.concat([Uint8Array.of(contentKey.length), check, contentKey]);
  const padding = random(-formatted.length & (aesBlockOctets - 1));
  const iv = random(aesBlockOctets);
  const once = encryptBlocks(Buffer.concat([formatted, padding]), key, iv);
  const encrypted = encryptBlocks(once, key, once.subarray(-aesBlockOctets));
  const algorithm = der((b) => b.sequence((s) => s.oid(pwriKek).raw(aes256Cbc(iv))));
  return { algorithm, encrypted };
}

function encryptBlocks(blocks: Uint8Array, key: Uint8Array, iv: Uint8Array): Uint8Array {
  return createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false).update(blocks);
}
