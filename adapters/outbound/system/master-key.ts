import { hkdfSync, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFile, readPrivateFile } from './durable-file.ts';

/** The secret that all others at rest depend on. It stays in here; each purpose has a key of its own. */
interface MasterKey {
  /** 32 octets. */
  subKey(purpose: 'postern vault' | 'postern key files'): Uint8Array;
}

interface MasterKeyOptions {
  /** Of the key file; default `master.key` in the data directory. Not together with a passphrase. */
  readonly file?: string;
  readonly passphrase?: string;
  readonly dataDirectory: string;
}

/**
 * `master.json`: tells a wrong key or passphrase at once, and that a key file is lost before a new one takes its place.
 * `check` is a sub-key of its own and of no other use.
 */
type MasterRecord =
  | { readonly version: 1; readonly source: 'file'; readonly check: string }
  | { readonly version: 1; readonly source: 'passphrase'; readonly salt: string; readonly check: string };

const rootLength = 32;
const saltLength = 16;
const mostBytes = 4096;
const fewestPassphraseCharacters = 12;
/** Of record version 1: 128 MiB, a third of a second. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 } as const;

/**
 * Opens the master key, and makes it at the first start: 32 random octets in a key file (64 hexadecimal digits), or
 * derived from the passphrase. Errors have a message for the operator, without secrets.
 */
export async function openMasterKey(options: MasterKeyOptions): Promise<MasterKey> {
  const { passphrase, dataDirectory } = options;
  if (passphrase !== undefined && options.file !== undefined) {
    throw new Error('the master key comes from a key file or from a passphrase, not from both');
  }
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const recordPath = join(dataDirectory, 'master.json');
  const record = await readRecord(recordPath);
  const source = passphrase === undefined ? 'file' : 'passphrase';
  if (record && record.source !== source) {
    const was = record.source === 'file' ? 'a key file' : 'a passphrase';
    throw new Error(
      `the master key of ${dataDirectory} comes from ${was}, but the configuration says otherwise`,
    );
  }

  const keyPath = options.file ?? join(dataDirectory, 'master.key');
  const salt = record?.source === 'passphrase' ? Buffer.from(record.salt, 'base64') : randomBytes(saltLength);
  const root =
    passphrase === undefined
      ? await keyFromFile(keyPath, record !== undefined)
      : await keyFromPassphrase(passphrase, salt, record !== undefined);
  const check = Buffer.from(subKey(root, 'postern check'));

  if (!record) {
    const made: MasterRecord =
      source === 'file'
        ? { version: 1, source, check: check.toString('base64') }
        : { version: 1, source, salt: salt.toString('base64'), check: check.toString('base64') };
    // Another process may have been first, with another salt.
    if (!(await createFile(recordPath, `${JSON.stringify(made)}\n`))) return openMasterKey(options);
  } else if (!timingSafeEqual(check, Buffer.from(record.check, 'base64'))) {
    throw new Error(
      source === 'file'
        ? `${keyPath} is not the master key that ${dataDirectory} was made with`
        : `wrong passphrase for the master key of ${dataDirectory}`,
    );
  }
  return { subKey: (purpose) => subKey(root, purpose) };
}

/** HKDF-SHA256 (RFC 5869) without a salt: the root is uniformly random, or as good as the passphrase. */
const subKey = (root: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', root, '', purpose, rootLength));

async function keyFromFile(path: string, expected: boolean): Promise<Uint8Array> {
  const text = await readPrivateFile(path, mostBytes);
  if (text !== undefined) {
    if (!/^[0-9a-f]{64}\n?$/i.test(text))
      throw new Error(`${path} does not hold a master key (64 hexadecimal digits)`);
    return Buffer.from(text.trim(), 'hex');
  }
  if (expected) {
    throw new Error(`the master key ${path} is missing: put it back, nothing can be decrypted without it`);
  }
  const root = randomBytes(rootLength);
  return (await createFile(path, `${root.toString('hex')}\n`)) ? root : keyFromFile(path, true);
}

function keyFromPassphrase(passphrase: string, salt: Uint8Array, exists: boolean): Promise<Uint8Array> {
  if (!exists && passphrase.length < fewestPassphraseCharacters) {
    throw new Error(
      `the passphrase of the master key needs at least ${fewestPassphraseCharacters} characters`,
    );
  }
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, rootLength, cost, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}

async function readRecord(path: string): Promise<MasterRecord | undefined> {
  const text = await readPrivateFile(path, mostBytes);
  if (text === undefined) return undefined;
  const record = parse(text);
  if (!isRecord(record)) throw new Error(`${path} is damaged: restore it from a backup`);
  return record;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is MasterRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { version, source, salt, check } = value as Record<string, unknown>;
  const octets = (field: unknown, length: number): boolean =>
    typeof field === 'string' && Buffer.from(field, 'base64').length === length;
  if (version !== 1 || !octets(check, rootLength)) return false;
  return source === 'file' || (source === 'passphrase' && octets(salt, saltLength));
}
