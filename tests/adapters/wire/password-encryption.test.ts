import { expect, test } from 'bun:test';
import { pkcs12Key } from '#adapters/wire/password-encryption.ts';

test('consecutive key derivations with few iterations do not block other work', async () => {
  let turns = 0;
  let deriving = true;
  const other = (): void => {
    turns++;
    if (deriving) setImmediate(other);
  };
  setImmediate(other);
  const salt = new Uint8Array(8);
  for (let n = 0; n < 20; n++) {
    await pkcs12Key({ hash: 'sha1', password: 'secret', salt, purpose: 3, iterations: 1, length: 20 });
  }
  deriving = false;
  expect(turns).toBeGreaterThanOrEqual(20);
});
