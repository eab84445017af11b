import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createFile, syncDirectory } from './durable-file.ts';
import { fresh, keyFileOf, type MasterKeyOptions, makeKeyFile } from './master-key-source.ts';
import {
  checkOf,
  derive,
  isRootOf,
  type MasterRecord,
  nextOf,
  openRetired,
  readKeyFile,
  readRecord,
  recordPath,
  saltLength,
  sealRetired,
} from './master-record.ts';

/**
 * Creates the new key of a rotation beside the current one: `master.key.new` and then `master.json.new`. From then on,
 * both keys can decrypt. Does nothing if that has been done. Errors have a message for the operator.
 */
export async function prepareRotation(options: MasterKeyOptions): Promise<void> {
  const { dataDirectory, passphrase, newPassphrase } = options;
  const path = recordPath(dataDirectory);
  const record = await readRecord(path);
  if (!record) throw new Error(`${dataDirectory} has no master key yet`);
  if (await readRecord(nextOf(path))) return;
  const present =
    record.source === 'file'
      ? await readKeyFile(keyFileOf(options))
      : await derive(passphrase ?? '', Buffer.from(record.salt, 'base64'));
  if (!present || !isRootOf(present, record)) {
    throw new Error(`the configured master key is not the one of ${dataDirectory}`);
  }
  const salt = randomBytes(saltLength);
  if (record.source === 'passphrase' && newPassphrase === undefined) {
    throw new Error('the new passphrase is missing: set new_passphrase in [secrets]');
  }
  if (record.source === 'passphrase' && newPassphrase === passphrase) {
    throw new Error('new_passphrase must differ from the current passphrase');
  }
  const root =
    record.source === 'file'
      ? await makeKeyFile(nextOf(keyFileOf(options)))
      : await fresh(newPassphrase!, salt);
  const common = {
    version: 1,
    check: checkOf(root),
    retired: sealRetired(root, [present, ...openRetired(present, record)]),
  } as const;
  const next: MasterRecord =
    record.source === 'file'
      ? { ...common, source: 'file' }
      : { ...common, source: 'passphrase', salt: salt.toString('base64') };
  await createFile(nextOf(path), `${JSON.stringify(next)}\n`);
}

/** Returns whether a rotation has been prepared or was interrupted. */
export async function isRotating(options: MasterKeyOptions): Promise<boolean> {
  const { dataDirectory, passphrase } = options;
  if (passphrase === undefined) await completeSwap(dataDirectory, keyFileOf(options));
  return (await readRecord(nextOf(recordPath(dataDirectory)))) !== undefined;
}

/** Replaces the current key by the new one. Call it once nothing is encrypted with the current key. */
export async function finishRotation(options: MasterKeyOptions): Promise<void> {
  const path = recordPath(options.dataDirectory);
  if (options.passphrase === undefined) {
    const key = keyFileOf(options);
    await replace(nextOf(key), key);
  }
  await replace(nextOf(path), path);
}

/** Completes an interrupted `finishRotation`: the key has been replaced, but not its record. */
export async function completeSwap(dataDirectory: string, keyPath: string): Promise<void> {
  const path = recordPath(dataDirectory);
  const next = await readRecord(nextOf(path));
  if (next?.source !== 'file') return;
  const key = await readKeyFile(keyPath);
  if (key && isRootOf(key, next)) await replace(nextOf(path), path);
}

/** Renames a file, which another process may already have done. */
async function replace(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await syncDirectory(dirname(to));
}
