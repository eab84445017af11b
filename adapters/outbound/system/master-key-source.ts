import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createFile } from './durable-file.ts';
import { derive, readKeyFile, rootLength } from './master-record.ts';

export interface MasterKeyOptions {
  /** Of the key file; default `master.key` in the data directory. Not together with a passphrase. */
  readonly file?: string;
  readonly passphrase?: string;
  /** The one that a rotation leads to. */
  readonly newPassphrase?: string;
  readonly dataDirectory: string;
  /** Seals with the new key of a rotation that is under way. Default: with the present one. */
  readonly sealWithNew?: boolean;
}

const fewestPassphraseCharacters = 12;

export const keyFileOf = ({ file, dataDirectory }: MasterKeyOptions): string =>
  file ?? join(dataDirectory, 'master.key');

/** What is in the key file; it is made unless it is there. */
export async function makeKeyFile(path: string): Promise<Uint8Array> {
  const there = await readKeyFile(path);
  if (there) return there;
  const root = randomBytes(rootLength);
  return (await createFile(path, `${root.toString('hex')}\n`)) ? root : makeKeyFile(path);
}

/** The root of a passphrase that has never been used. */
export function fresh(passphrase: string, salt: Uint8Array): Promise<Uint8Array> {
  if (passphrase.length < fewestPassphraseCharacters) {
    throw new Error(`the master key passphrase must have at least ${fewestPassphraseCharacters} characters`);
  }
  return derive(passphrase, salt);
}
