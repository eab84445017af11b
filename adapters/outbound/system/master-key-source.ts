import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFile } from './durable-file.ts';
import { derive, readKeyFile, rootLength } from './master-record.ts';

export interface MasterKeyOptions {
  /** The path of the key file; default `master.key` in the data directory. Excludes a passphrase. */
  readonly file?: string;
  readonly passphrase?: string;
  /** The new passphrase of a rotation. */
  readonly newPassphrase?: string;
  readonly dataDirectory: string;
  /** Encrypts with the new key during a rotation. Default: with the current one. */
  readonly sealWithNew?: boolean;
}

const fewestPassphraseCharacters = 12;

export const keyFileOf = ({ file, dataDirectory }: MasterKeyOptions): string =>
  file ?? join(dataDirectory, 'master.key');

/** Returns the contents of the key file, which is created if it does not exist. */
export async function makeKeyFile(path: string): Promise<Uint8Array> {
  const there = await readKeyFile(path);
  if (there) return there;
  const root = randomBytes(rootLength);
  return (await createFile(path, `${root.toString('hex')}\n`)) ? root : makeKeyFile(path);
}

/** Derives the root from a new passphrase. */
export function fresh(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  if (passphrase.length < fewestPassphraseCharacters) {
    throw new Error(`the master key passphrase must have at least ${fewestPassphraseCharacters} characters`);
  }
  return derive(passphrase, salt);
}
