import { hkdfSync, scrypt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { readPrivateFile } from './durable-file.ts';
import { createVault } from './vault.ts';

/**
 * `master.json`: detects a wrong key or passphrase, and a lost key file before a new one replaces it. `check` is a
 * separate sub-key without another use. `retired`: the roots of earlier master keys, newest first, encrypted with this
 * one, so that data that cannot be encrypted again (the anchors of the audit trail) can still be decrypted.
 */
export type MasterRecord = {
  readonly version: 1;
  readonly check: string;
  readonly retired?: readonly string[];
} & ({ readonly source: 'file' } | { readonly source: 'passphrase'; readonly salt: string });

export type Purpose = 'postern vault' | 'postern key files' | 'postern check' | 'postern retired keys';

export const rootLength = 32;
export const saltLength = 16;
const mostBytes = 64 * 1024;
const mostKeyBytes = 4096;
/** The cost of record version 1: 128 MiB, a third of a second. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 } as const;
const retiredContext = 'retired master key';

/** Returns the path of the record. */
export const recordPath = (dataDirectory: string): string => join(dataDirectory, 'master.json');
export const nextOf = (path: string): string => `${path}.new`;

/**
 * Derives a sub-key with HKDF-SHA256 (RFC 5869). It needs no salt: the root is random, or as strong as the passphrase.
 */
export const subKey = (root: Uint8Array, purpose: Purpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', root, '', purpose, rootLength));

/** Returns the `check` of a record with this root. */
export const checkOf = (root: Uint8Array): string =>
  Buffer.from(subKey(root, 'postern check')).toString('base64');

export const isRootOf = (root: Uint8Array, { check }: MasterRecord): boolean =>
  timingSafeEqual(subKey(root, 'postern check'), Buffer.from(check, 'base64'));

/** Encrypts `roots` with `root`, for `retired`. */
export function sealRetired(root: Uint8Array, roots: readonly Uint8Array[]): readonly string[] {
  const vault = createVault(subKey(root, 'postern retired keys'));
  return roots.map((one) => Buffer.from(vault.seal(one, retiredContext)).toString('base64'));
}

export function openRetired(root: Uint8Array, { retired = [] }: MasterRecord): readonly Uint8Array[] {
  const vault = createVault(subKey(root, 'postern retired keys'));
  return retired.map((sealed) => vault.open(Buffer.from(sealed, 'base64'), retiredContext));
}

/** Reads 32 octets from a file with 64 hexadecimal digits; returns undefined if it does not exist. */
export async function readKeyFile(path: string): Promise<Uint8Array | undefined> {
  const text = await readPrivateFile(path, mostKeyBytes);
  if (text === undefined) return undefined;
  if (!/^[0-9a-f]{64}\n?$/i.test(text))
    throw new Error(`${path} does not hold a master key (64 hexadecimal digits)`);
  return Buffer.from(text.trim(), 'hex');
}

export const derive = (passphrase: string, salt: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, rootLength, cost, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });

/** Returns undefined if the file does not exist. Errors have a message for the operator. */
export async function readRecord(path: string): Promise<MasterRecord | undefined> {
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
  const { version, source, salt, check, retired = [] } = value as Record<string, unknown>;
  const octets = (field: unknown, length: number): boolean =>
    typeof field === 'string' && Buffer.from(field, 'base64').length === length;
  if (version !== 1 || !octets(check, rootLength)) return false;
  if (!Array.isArray(retired) || !retired.every((one) => typeof one === 'string')) return false;
  return source === 'file' || (source === 'passphrase' && octets(salt, saltLength));
}
