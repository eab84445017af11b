import { Fault, toFault } from '../fault.ts';
import type { KeyStore, StoredKey } from '../ports/keys.ts';
import type { Ports } from '../ports/ports.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { readPublicKey, samePublicKey } from '../x509/public-key.ts';

/** A key store and what the configuration calls it. */
export interface NamedKeyStore {
  readonly name: string;
  readonly keys: KeyStore;
}

/** The key store called so; without a name the first that is configured. Faults: malformed with field `keyStore`. */
export function keyStoreNamed({ keyStores }: Pick<Ports, 'keyStores'>, name?: string): NamedKeyStore {
  const [first] = keyStores;
  const wanted = name ?? first?.[0] ?? '';
  const keys = keyStores.get(wanted);
  if (keys) return { name: wanted, keys };
  const known = [...keyStores.keys()].join(', ');
  throw new Fault('malformed', `no key store of this name is configured; there are: ${known}`, {
    field: 'keyStore',
  });
}

/** The first key store that has an ability; `advice` says how to get one. Faults: unavailable. */
export function keyStoreThat(
  { keyStores }: Pick<Ports, 'keyStores'>,
  can: 'export' | 'import',
  advice: string,
): NamedKeyStore {
  for (const [name, keys] of keyStores) if (keys[can]) return { name, keys };
  throw new Fault('unavailable', advice);
}

/** Makes a key of a type. Faults: malformed with field `keyType` for a type that the key store does not make. */
export async function generateKey(
  { keys, name }: NamedKeyStore,
  type: KeyType,
  label: string,
): Promise<StoredKey> {
  if (keys.keyTypes !== 'all' && !keys.keyTypes.includes(type)) {
    const offered = keys.keyTypes.join(', ');
    throw new Fault('malformed', `the key store ${name} makes keys of the types ${offered}`, {
      field: 'keyType',
    });
  }
  return keys.generate(type, label);
}

/**
 * Takes over a private key (PKCS#8, DER) that has to be that of a public key (SubjectPublicKeyInfo, DER). Faults: malformed or
 * badAlgorithm with field `privateKey`.
 */
export async function importKey(
  { keys, name }: NamedKeyStore,
  pkcs8: Uint8Array,
  spki: Uint8Array,
  label: string,
): Promise<StoredKey> {
  if (!keys.import) {
    throw new Fault('malformed', `no keys can be brought into the key store ${name}`, { field: 'keyStore' });
  }
  const key = await keys.import(pkcs8, label).catch((error: unknown) => {
    const fault = toFault(error);
    if (fault.code !== 'malformed' && fault.code !== 'badAlgorithm') throw fault;
    throw new Fault(fault.code, fault.detail, { field: 'privateKey', cause: fault });
  });
  if (samePublicKey(readPublicKey(key.spki), readPublicKey(spki))) return key;
  await keys.remove(key.id);
  throw new Fault('malformed', 'the private key is not that of the certificate', { field: 'privateKey' });
}

/** Signs as `KeyStore.sign` does. Faults: the same, but unavailable for a key that is not here: it may be at another gateway. */
export async function signByCa(
  keys: KeyStore,
  ...[key, algorithm, data, signal]: Parameters<KeyStore['sign']>
): Promise<Uint8Array> {
  try {
    return await keys.sign(key, algorithm, data, signal);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'notFound') throw error;
    throw new Fault('unavailable', 'the key of the issuing CA is not at this gateway', { cause: error });
  }
}

/**
 * Uses a key that has just been made. When that fails the key is destroyed, unless the failure leaves open whether a
 * record that refers to it was stored.
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

// A key that nothing refers to is harmless; the failure that is on its way says more.
const ignore = (): void => {};
