import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sorted } from './command.ts';

const sums = 'SHA256SUMS';

/** Writes SHA256SUMS: a line of `sha256sum` for each file in `directory`. */
export async function writeChecksums(directory: string): Promise<void> {
  const lines: string[] = [];
  for (const file of sorted(await readdir(directory))) {
    lines.push(`${hash('sha256', await readFile(join(directory, file)))}  ${file}\n`);
  }
  await writeFile(join(directory, sums), lines.join(''));
}

/**
 * Signs SHA256SUMS with the Ed25519 key (PKCS#8, PEM) in the file `keyFile`: SHA256SUMS.sig holds the 64 octets of the
 * signature (RFC 8032), as `openssl pkeyutl -sign -rawin` writes them. Also writes the public key beside it.
 */
export async function signChecksums(directory: string, keyFile: string): Promise<void> {
  const key = createPrivateKey(await readFile(keyFile));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`RELEASE_KEY: ${keyFile} is not an Ed25519 key`);
  await writeFile(join(directory, `${sums}.sig`), sign(null, await readFile(join(directory, sums)), key));
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' });
  await writeFile(join(directory, 'release-key.pem'), pem);
}
