import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { decryptWithPassword, Iterations } from './password-encryption.ts';
import { decodePem } from './pem.ts';
import { plainPkcs8 } from './pkcs8.ts';

/**
 * Formats by PEM label (RFC 5958, RFC 5915, RFC 8017 §A.1.2). `EC PARAMETERS` repeats what the key beside it contains.
 */
const kinds = {
  'PRIVATE KEY': 'pkcs8',
  'EC PRIVATE KEY': 'sec1',
  'RSA PRIVATE KEY': 'pkcs1',
} as const;
const encryptedLabel = 'ENCRYPTED PRIVATE KEY';

/**
 * Reads a private key: PEM of PKCS #8 (encrypted or not), SEC 1 or PKCS #1, or DER of PKCS #8. Returns unencrypted PKCS
 * #8 (DER). Faults: malformed, with field `password` for a wrong password; unsupported.
 */
export async function readPrivateKey(input: Uint8Array, password: string): Promise<Uint8Array> {
  const isPem = input[0] !== tag.sequence;
  if (!isPem) return readPkcs8(input, password);
  const blocks = decodePem(Buffer.from(input).toString('latin1'));
  const keys = blocks.filter(({ label }) => label in kinds || label === encryptedLabel);
  const [block] = keys;
  if (!block || keys.length > 1)
    throw new Fault('malformed', 'the file must contain exactly one private key (PEM)');
  const { label, der } = block;
  if (label === encryptedLabel) return decryptKey(der, password);
  return toPkcs8(der, kinds[label as keyof typeof kinds]);
}

/** Reads PKCS #8 (DER). Encrypted, it begins with an AlgorithmIdentifier; otherwise with a version. */
function readPkcs8(der: Uint8Array, password: string): Promise<Uint8Array> | Uint8Array {
  const encrypted = readDer(der, (reader) => {
    const info = reader.sequence();
    const isEncrypted = info.peek() === tag.sequence;
    info.rest();
    return isEncrypted;
  });
  return encrypted ? decryptKey(der, password) : toPkcs8(der, 'pkcs8');
}

/** Decrypts EncryptedPrivateKeyInfo (RFC 5958 §3). */
async function decryptKey(der: Uint8Array, password: string): Promise<Uint8Array> {
  const { algorithm, encrypted } = readDer(der, (reader) => {
    const info = reader.sequence();
    const parts = { algorithm: info.sequence(), encrypted: info.octetString() };
    info.finish();
    return parts;
  });
  return toPkcs8(await decryptWithPassword(algorithm, encrypted, password, new Iterations()), 'pkcs8');
}

function toPkcs8(der: Uint8Array, type: 'pkcs8' | 'sec1' | 'pkcs1'): Uint8Array {
  try {
    const plain = type === 'pkcs8' ? plainPkcs8(der) : der;
    const key = createPrivateKey({ key: Buffer.from(plain), format: 'der', type });
    return Uint8Array.from(key.export({ format: 'der', type: 'pkcs8' }));
  } catch (cause) {
    throw new Fault('malformed', 'this is not a private key of a supported type', { cause });
  }
}

/** Returns the SubjectPublicKeyInfo (DER) of a PKCS #8 key. Faults: malformed. */
export function publicKeyOf(pkcs8: Uint8Array): Uint8Array {
  try {
    const key = createPublicKey(createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' }));
    return Uint8Array.from(key.export({ format: 'der', type: 'spki' }));
  } catch (cause) {
    throw new Fault('malformed', 'this is not a private key of a supported type', { cause });
  }
}
