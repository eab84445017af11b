import { Fault, toFault } from '../fault.ts';
import type { KeyStore, StoredKey } from '../ports/keys.ts';
import type { Ports } from '../ports/ports.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { readPublicKey, samePublicKey } from '../x509/public-key.ts';

/** A key store with its name in the configuration. */
export interface NamedKeyStore {
  readonly name: string;
  readonly keys: KeyStore;
}

/**
 * Returns the key store with this name; without a name, the first configured one. Faults: malformed with field
 * `keyStore`.
 */
export function keyStoreNamed({ keyStores }: Pick<Ports, 'keyStores'>, name?: string): NamedKeyStore {
  const [first] = keyStores;
  const wanted = name ?? first?.[0] ?? '';
  const keys = keyStores.get(wanted);
  if (keys) return { name: wanted, keys };
  const known = [...keyStores.keys()].join(', ');
  throw new Fault('malformed', `this key store is not configured; configured key stores: ${known}`, {
    field: 'keyStore',
  });
}

/** Returns the first key store that supports an operation; `advice` tells how to get one. Faults: unavailable. */
export function keyStoreThat(
  { keyStores }: Pick<Ports, 'keyStores'>,
  can: 'export' | 'import',
  advice: string,
): NamedKeyStore {
  for (const [name, keys] of keyStores) if (keys[can]) return { name, keys };
  throw new Fault('unavailable', advice);
}

/** Generates a key. Faults: malformed with field `keyType` for a type that the key store does not support. */
export async function generateKey(
  { keys, name }: NamedKeyStore,
  type: KeyType,
  label: string,
): Promise<StoredKey> {
  if (keys.keyTypes !== 'all' && !keys.keyTypes.includes(type)) {
    const offered = keys.keyTypes.join(', ');
    throw new Fault('malformed', `the key store "${name}" supports only these key types: ${offered}`, {
      field: 'keyType',
    });
  }
  return keys.generate(type, label);
}

/**
 * Imports a private key (PKCS#8, DER) and checks that it belongs to a public key (SubjectPublicKeyInfo, DER). Faults:
 * malformed or badAlgorithm with field `privateKey`.
 */
export async function importKey(
  { keys, name }: NamedKeyStore,
  pkcs8: Uint8Array,
  spki: Uint8Array,
  label: string,
): Promise<StoredKey> {
  if (!keys.import) {
    throw new Fault('malformed', `the key store "${name}" cannot import keys`, { field: 'keyStore' });
  }
  const key = await keys.import(pkcs8, label).catch((error: unknown) => {
    const fault = toFault(error);
    if (fault.code !== 'malformed' && fault.code !== 'badAlgorithm') throw fault;
    throw new Fault(fault.code, fault.detail, { field: 'privateKey', cause: fault });
  });
  if (samePublicKey(readPublicKey(key.spki), readPublicKey(spki))) return key;
  await keys.remove(key.id);
  throw new Fault('malformed', 'the private key does not match the certificate', { field: 'privateKey' });
}

/**
 * Signs like `KeyStore.sign`. Faults: the same, but unavailable for a missing key, because another gateway may hold it.
 */
export async function signByCa(
  keys: KeyStore,
  ...[key, algorithm, data, signal]: Parameters<KeyStore['sign']>
): Promise<Uint8Array> {
  try {
    return await keys.sign(key, algorithm, data, signal);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'notFound') throw error;
    throw new Fault('unavailable', 'the key of the issuing CA is not available on this gateway', {
      cause: error,
    });
  }
}

/**
 * Calls `use` with a new key. If `use` fails, the key is destroyed, unless a record that refers to the key may have
 * been stored.
 */
export async function withNewKey<T>(
  { keys }: NamedKeyStore,
  key: StoredKey,
  use: (key: StoredKey) => Promise<T>,
): Promise<T> {
  try {
    return await use(key);
  } catch (error) {
    const { code } = toFault(error);
    if (code !== 'unavailable' && code !== 'internal') await keys.remove(key.id).catch(ignore);
    throw error;
  }
}

// A key without a record is harmless, and the original failure is more useful.
const ignore = (): void => {};
