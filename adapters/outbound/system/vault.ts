import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Vault } from '#core/ports/platform.ts';

const version = 1;
const nonceLength = 12;
const tagLength = 16;
const headerLength = 1 + nonceLength;
const wholeTag = { authTagLength: tagLength };

/**
 * Creates a vault that encrypts with AES-256-GCM and the first of `keys` (32 octets each). The other keys decrypt data
 * from before a rotation of the master key. Format: version octet, nonce, ciphertext, tag; the context is the
 * additional data. Random nonces are safe for 2^32 secrets per key (NIST SP 800-38D §8.3).
 */
export function createVault(keys: Uint8Array | readonly Uint8Array[]): Vault {
  const [current, ...earlier] = (keys instanceof Uint8Array ? [keys] : keys).map((key) =>
    createSecretKey(key),
  );
  let last = { context: '', octets: Buffer.alloc(0) };
  /** Encodes the context in UTF-8 and caches it, because most secrets are of one kind. */
  const octetsOf = (context: string): Uint8Array => {
    if (last.context !== context) last = { context, octets: Buffer.from(context) };
    return last.octets;
  };
  const seal: Vault['seal'] = (plain, context) => {
    const sealed = new Uint8Array(headerLength + plain.length + tagLength);
    sealed[0] = version;
    const nonce = randomFillSync(sealed.subarray(1, headerLength));
    const cipher = createCipheriv('aes-256-gcm', current!, nonce);
    cipher.setAAD(octetsOf(context));
    sealed.set(cipher.update(plain), headerLength);
    cipher.final();
    sealed.set(cipher.getAuthTag(), headerLength + plain.length);
    return sealed;
  };
  /** Returns undefined if the secret was not sealed with this key and context. */
  const openWith = (key: KeyObject, sealed: Uint8Array, context: string): Uint8Array | undefined => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, headerLength), wholeTag);
    decipher.setAAD(octetsOf(context));
    decipher.setAuthTag(sealed.subarray(-tagLength));
    const plain = decipher.update(sealed.subarray(headerLength, -tagLength));
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return plain;
  };
  const openWithAny = (
    sealed: Uint8Array,
    context: string,
  ): { readonly plain: Uint8Array; readonly isCurrent: boolean } => {
    if (sealed.length < headerLength + tagLength || sealed[0] !== version) {
      throw new Fault('internal', 'internal error', {
        cause: new Error(`the octets are not a sealed secret: ${context}`),
      });
    }
    const plain = openWith(current!, sealed, context);
    if (plain) return { plain, isCurrent: true };
    for (const key of earlier) {
      const plain = openWith(key, sealed, context);
      if (plain) return { plain, isCurrent: false };
    }
    const cause = new Error(
      `the secret was modified, or sealed for another context or with another key: ${context}`,
    );
    throw new Fault('internal', 'internal error', { cause });
  };
  return {
    seal,
    open: (sealed, context) => openWithAny(sealed, context).plain,
    reseal(sealed, context) {
      const { plain, isCurrent } = openWithAny(sealed, context);
      return isCurrent ? undefined : seal(plain, context);
    },
  };
}
