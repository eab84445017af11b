import { randomUUID } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { KeyStore, StoredKey } from '#core/ports/keys.ts';
import type { Vault } from '#core/ports/platform.ts';
import { signDigestWith } from './digest-signature.ts';
import { openKey, resealKey, sealKey } from './envelope.ts';
import { KeyCache } from './key-cache.ts';
import { isKeyId, KeyDirectory } from './key-directory.ts';
import {
  exportPrivateKey,
  generatePrivateKey,
  importPrivateKey,
  type PrivateKey,
  restorePrivateKey,
  signLongMessage,
  signWith,
} from './private-key.ts';

const mostLabelCharacters = 100;
/** Octets from which a message is hashed in another thread. Only CRLs are that long. */
const longMessage = 512 * 1024;

/**
 * Opens a key store with private keys in files, encrypted by `vault`. `import` also throws the Faults malformed and
 * badAlgorithm. Throws an Error with the command to run if other users can access the directory or a key file.
 */
export async function openKeyFiles(options: {
  readonly directory: string;
  readonly vault: Vault;
}): Promise<KeyStore> {
  const { vault } = options;
  const directory = await KeyDirectory.open(options.directory);
  // Another process may have removed a key that is still in the cache.
  const cache = new KeyCache((id) => directory.has(id));

  async function store(key: PrivateKey, label: string): Promise<StoredKey> {
    const id = randomUUID();
    const pkcs8 = exportPrivateKey(key);
    const record = { id, label: label.slice(0, mostLabelCharacters), spki: key.spki, pkcs8 };
    await directory.write(id, sealKey(record, vault));
    pkcs8.fill(0);
    cache.set(id, key);
    return { id, spki: key.spki };
  }

  async function load(id: string): Promise<PrivateKey> {
    const cached = cache.get(id);
    if (cached) return cached;
    const text = await directory.read(id);
    const key = restore(text, id, vault);
    cache.set(id, key);
    return key;
  }

  return {
    keyTypes: 'all',
    inProcess: true,
    held: (id) => cache.get(id),
    generate: async (type, label) => store(await generatePrivateKey(type), label),
    import: async (pkcs8, label) => store(importPrivateKey(pkcs8), label),
    publicKey: async (id) => (await load(id)).spki,
    sign(id, algorithm, data) {
      const signing = data.length > longMessage ? signLongMessage : signWith;
      const cached = cache.get(id);
      if (cached) return signing(cached, algorithm, data);
      return load(id).then((key) => signing(key, algorithm, data));
    },
    signDigest: async (id, algorithm, digest) => signDigestWith(await load(id), algorithm, digest),
    export: async (id) => exportPrivateKey(await load(id)),
    files: {
      list: () => directory.list(),
      read: (id) =>
        directory.read(id).catch((error) => {
          if (error instanceof Fault && error.code === 'notFound') return undefined;
          throw error;
        }),
      async write(id, contents) {
        if (!isKeyId(id)) throw new Fault('malformed', 'this is not a key id');
        if (!directory.has(id)) return directory.write(id, contents);
        if ((await directory.read(id)) !== contents)
          throw new Fault('conflict', 'another key already has this id');
      },
    },
    async reseal() {
      let count = 0;
      for (const id of await directory.list()) {
        // Another process may just have removed the key.
        const text = directory.has(id) ? await directory.read(id) : undefined;
        const again = text === undefined ? undefined : resealed(text, id, vault);
        if (again === undefined) continue;
        await directory.write(id, again);
        count++;
      }
      return count;
    },
    async remove(id) {
      cache.delete(id);
      await directory.remove(id);
    },
    async health() {
      if (await directory.usable()) return { ok: true };
      return { ok: false, detail: 'the key file directory is not readable and writable' };
    },
    async close() {
      cache.clear();
    },
  };
}

function resealed(text: string, id: string, vault: Vault): string | undefined {
  try {
    return resealKey(text, id, vault);
  } catch (cause) {
    throw damaged(id, cause);
  }
}

function restore(text: string, id: string, vault: Vault): PrivateKey {
  try {
    const { pkcs8, spki } = openKey(text, id, vault);
    const key = restorePrivateKey(pkcs8, spki);
    pkcs8.fill(0);
    return key;
  } catch (cause) {
    throw damaged(id, cause);
  }
}

function damaged(id: string, cause: unknown): Fault {
  const error = new Error(
    `key file ${id}.key is damaged, is not a key file of this gateway, or is encrypted under another master key`,
    { cause },
  );
  return new Fault('internal', 'internal error', { cause: error });
}
