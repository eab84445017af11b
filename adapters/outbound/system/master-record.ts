import { hkdfSync, scrypt, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { readPrivateFile } from './durable-file.ts';
import { createVault } from './vault.ts';

/**
 * `master.json`: tells a wrong key or passphrase at once, and that a key file is lost before a new one takes its place.
 * `check` is a sub-key of its own and of no other use. `retired`: the roots of earlier master keys, sealed under this one, so that
 * what cannot be sealed again (the anchors of the audit trail) can still be opened; the newest first.
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
/** Of record version 1: 128 MiB, a third of a second. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 } as const;
const retiredContext = 'retired master key';

/** Where the record is, and what its name is while a rotation is under way. */
export const recordPath = (dataDirectory: string): string => join(dataDirectory, 'master.json');
export const nextOf = (path: string): string => `${path}.new`;

/** HKDF-SHA256 (RFC 5869) without a salt: the root is uniformly random, or as good as the passphrase. */
export const subKey = (root: Uint8Array, purpose: Purpose): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', root, '', purpose, rootLength));

/** What `check` of a record is for this root. */
export const checkOf = (root: Uint8Array): string =>
  Buffer.from(subKey(root, 'postern check')).toString('base64');

export const isRootOf = (root: Uint8Array, { check }: MasterRecord): boolean =>
  timingSafeEqual(subKey(root, 'postern check'), Buffer.from(check, 'base64'));

/** `roots` sealed under `root`, for `retired`. */
export function sealRetired(root: Uint8Array, roots: readonly Uint8Array[]): readonly string[] {
  const vault = createVault(subKey(root, 'postern retired keys'));
  return roots.map((one) => Buffer.from(vault.seal(one, retiredContext)).toString('base64'));
}

export function openRetired(root: Uint8Array, { retired = [] }: MasterRecord): readonly Uint8Array[] {
  const vault = createVault(subKey(root, 'postern retired keys'));
  return retired.map((sealed) => vault.open(Buffer.from(sealed, 'base64'), retiredContext));
}

/** 32 octets from a file with 64 hexadecimal digits; undefined when there is none. */
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

/** Undefined when there is none. Errors have a message for the operator. */
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
