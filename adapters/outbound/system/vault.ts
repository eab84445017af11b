import { createCipheriv, createDecipheriv, createSecretKey, randomFillSync } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Vault } from '#core/ports/vault.ts';

const version = 1;
const nonceLength = 12;
const tagLength = 16;
const headerLength = 1 + nonceLength;
const wholeTag = { authTagLength: tagLength };

/**
 * AES-256-GCM under `key` (32 octets). Sealed: version octet, nonce, ciphertext, tag; the context is the additional
 * data. Nonces are random: good for 2^32 secrets under one key (NIST SP 800-38D §8.3).
 */
export function createVault(key: Uint8Array): Vault {
  const secret = createSecretKey(key);
  let last = { context: '', octets: Buffer.alloc(0) };
  /** In UTF-8. Most secrets that are opened are of one kind. */
  const octetsOf = (context: string): Uint8Array => {
    if (last.context !== context) last = { context, octets: Buffer.from(context) };
    return last.octets;
  };
  return {
    seal(plain, context) {
      const sealed = new Uint8Array(headerLength + plain.length + tagLength);
      sealed[0] = version;
      const nonce = randomFillSync(sealed.subarray(1, headerLength));
      const cipher = createCipheriv('aes-256-gcm', secret, nonce);
      cipher.setAAD(octetsOf(context));
      sealed.set(cipher.update(plain), headerLength);
      cipher.final();
      sealed.set(cipher.getAuthTag(), headerLength + plain.length);
      return sealed;
    },

    open(sealed, context) {
      if (sealed.length < headerLength + tagLength || sealed[0] !== version) {
        throw new Fault('internal', 'internal error', {
          cause: new Error(`not a sealed secret: ${context}`),
        });
      }
      const decipher = createDecipheriv('aes-256-gcm', secret, sealed.subarray(1, headerLength), wholeTag);
      decipher.setAAD(octetsOf(context));
      decipher.setAuthTag(sealed.subarray(-tagLength));
      const plain = decipher.update(sealed.subarray(headerLength, -tagLength));
      try {
        decipher.final();
      } catch {
        const cause = new Error(
          `secret changed, or sealed for something else or under another key: ${context}`,
        );
        throw new Fault('internal', 'internal error', { cause });
      }
      return plain;
    },
  };
}
