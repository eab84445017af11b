import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPublicKey } from '#core/x509/public-key.ts';
import type { TestKey } from '#tests/fixtures/keys.ts';

const pem = readFileSync(join(import.meta.dir, 'key.pem'), 'utf8');
const privateKey = createPrivateKey(pem);

/** The key in the requests of the corpus, always the same one: they are signed anew once they have been changed. */
export const fuzzKey: TestKey = {
  privateKey,
  publicKey: readPublicKey(
    new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' })),
  ),
  sign: (_, data) => new Uint8Array(sign('sha256', data, privateKey)),
  pem: () => pem,
};
