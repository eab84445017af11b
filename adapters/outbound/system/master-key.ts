import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { createFile } from './durable-file.ts';
import { completeSwap } from './master-key-rotation.ts';
import { fresh, keyFileOf, type MasterKeyOptions, makeKeyFile } from './master-key-source.ts';
import {
  checkOf,
  derive,
  isRootOf,
  type MasterRecord,
  nextOf,
  openRetired,
  type Purpose,
  readKeyFile,
  readRecord,
  recordPath,
  saltLength,
  subKey,
} from './master-record.ts';

/** The secret that protects all other stored secrets. It is not exposed; each purpose has its own sub-key. */
export interface MasterKey {
  /** 32 octets. */
  subKey(purpose: Purpose): Uint8Array;
  /** Returns that sub-key, followed by those of other master keys with which data may still be encrypted. */
  subKeys(purpose: Purpose): readonly Uint8Array[];
}

/**
 * Opens the master key and creates it at the first start: 32 random octets in a key file (64 hexadecimal digits), or
 * derived from the passphrase. Errors have a message for the operator, without secrets.
 */
export async function openMasterKey(options: MasterKeyOptions): Promise<MasterKey> {
  const { passphrase, dataDirectory, file } = options;
  if (passphrase !== undefined && file !== undefined) {
    throw new Error('set either a key file or a passphrase for the master key, not both');
  }
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  if (passphrase === undefined) await completeSwap(dataDirectory, keyFileOf(options));
  const record = await readRecord(recordPath(dataDirectory));
  const source = passphrase === undefined ? 'file' : 'passphrase';
  if (record && record.source !== source) {
    const was = record.source === 'file' ? 'a key file' : 'a passphrase';
    throw new Error(`the master key of ${dataDirectory} comes from ${was}: configure ${was} in [secrets]`);
  }
  const root = record ? await presentRoot(options, record) : await makeRoot(options);
  if (!root) return openMasterKey(options);
  const earlier = record ? openRetired(root, record) : [];
  const next = await nextRoot(options);
  const roots = next
    ? options.sealWithNew
      ? [next, root, ...earlier]
      : [root, next, ...earlier]
    : [root, ...earlier];
  return {
    subKey: (purpose) => subKey(roots[0]!, purpose),
    subKeys: (purpose) => roots.map((one) => subKey(one, purpose)),
  };
}

async function presentRoot(options: MasterKeyOptions, record: MasterRecord): Promise<Uint8Array> {
  const { dataDirectory, passphrase, newPassphrase } = options;
  if (record.source === 'file') {
    const path = keyFileOf(options);
    const root = await readKeyFile(path);
    if (!root) {
      throw new Error(
        `the master key file ${path} is missing: restore it, nothing can be decrypted without it`,
      );
    }
    if (isRootOf(root, record)) return root;
    throw new Error(`${path} is not the master key of ${dataDirectory}`);
  }
  const salt = Buffer.from(record.salt, 'base64');
  // After a rotation, the configuration contains the passphrase as new_passphrase until somebody moves it.
  for (const given of [passphrase, newPassphrase]) {
    if (given === undefined) continue;
    const root = await derive(given, salt);
    if (isRootOf(root, record)) return root;
  }
  throw new Error(`wrong passphrase for the master key of ${dataDirectory}`);
}

/** Returns undefined if another process created the key first. */
async function makeRoot(options: MasterKeyOptions): Promise<Uint8Array | undefined> {
  const { dataDirectory, passphrase } = options;
  const salt = randomBytes(saltLength);
  const root =
    passphrase === undefined ? await makeKeyFile(keyFileOf(options)) : await fresh(passphrase, salt);
  const check = checkOf(root);
  const made: MasterRecord =
    passphrase === undefined
      ? { version: 1, source: 'file', check }
      : { version: 1, source: 'passphrase', salt: salt.toString('base64'), check };
  // Another process may have been first, with another salt.
  return (await createFile(recordPath(dataDirectory), `${JSON.stringify(made)}\n`)) ? root : undefined;
}

/** Returns the root of a prepared rotation. */
async function nextRoot(options: MasterKeyOptions): Promise<Uint8Array | undefined> {
  const { dataDirectory, newPassphrase } = options;
  const record = await readRecord(nextOf(recordPath(dataDirectory)));
  if (!record) return undefined;
  const path = nextOf(keyFileOf(options));
  const context = `a rotation of the master key of ${dataDirectory} is prepared, but `;
  if (record.source === 'passphrase') {
    if (newPassphrase === undefined) throw new Error(`${context}[secrets] has no new_passphrase`);
    const root = await derive(newPassphrase, Buffer.from(record.salt, 'base64'));
    if (isRootOf(root, record)) return root;
    throw new Error(`${context}new_passphrase is not the one the rotation was prepared with`);
  }
  const root = await readKeyFile(path);
  if (root && isRootOf(root, record)) return root;
  throw new Error(`${context}${path} is ${root ? 'not the key the rotation was prepared with' : 'missing'}`);
}
