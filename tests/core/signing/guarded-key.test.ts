import { describe, expect, test } from 'bun:test';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sealKey } from '#adapters/outbound/keyfile/envelope.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { guardedKey } from '#core/signing/guarded-key.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const data = Buffer.from('to be signed');
const algorithm = 'ecdsa-sha256';

/** A store that signs with another key from `swap` on. */
async function swappable(own: boolean) {
  const service = await installation();
  const { keys, clock } = service;
  const right = await keys.generate('p-256', 'right');
  const wrong = await keys.generate('p-256', 'wrong');
  let signing = right;
  let held = {};
  const store: KeyStore = {
    ...keys,
    inProcess: true,
    held: () => held,
    sign: (_, ...rest) => keys.sign(signing.id, ...rest),
  };
  const ports = {
    keyStores: new Map([['store', store]]),
    ...(own && { ownKeyStores: new Set(['store']) }),
    clock,
  };
  const key = guardedKey(ports, { store: 'store', id: right.id }, readPublicKey(right.spki));
  return {
    key,
    clock,
    swap() {
      signing = wrong;
    },
    reload() {
      held = {};
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

const mismatch = expect.objectContaining({
  code: 'internal',
  cause: expect.objectContaining({
    message: expect.stringMatching(/^the key \S+ in the key store "store" does not match/),
  }),
});

describe('a guarded key', () => {
  test('of an external key store has every signature verified, whatever the store says', async () => {
    await using made = await swappable(false);
    for (let n = 0; n < 3; n++) await made.key.sign(algorithm, data);
    made.swap();
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
  });

  test('of Postern itself has its first signature verified', async () => {
    await using made = await swappable(true);
    made.swap();
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
  });

  test('of Postern itself has a signature verified when the key was read again', async () => {
    await using made = await swappable(true);
    await made.key.sign(algorithm, data);
    made.swap();
    made.reload();
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
  });

  test('of Postern itself has a signature verified every ten seconds, and after the clock was set back', async () => {
    await using made = await swappable(true);
    await made.key.sign(algorithm, data);
    made.swap();
    made.clock.advance(9_999);
    // In between, no signature is verified: the key was not read again.
    await made.key.sign(algorithm, data);
    made.clock.advance(1);
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
    made.clock.advance(-20_000);
    await expect(made.key.sign(algorithm, data)).rejects.toEqual(mismatch);
  });
});

test('a key file that was replaced by another key is detected before the first certificate is returned', async () => {
  const vault = createVault(new Uint8Array(32).fill(1));
  await using service = await installation({ vault });
  const { device, password: secret } = await service.device('pump-1');
  const enrol = (): Promise<Uint8Array> =>
    service.enrol(password(device.commonName, secret), {}, request(testKey('p-256'), 'CN=pump-1'));
  await enrol();

  const ca = await service.store.find('issuingCa', { uniqueName: 'issuing' });
  const id = ca?.key?.id ?? '';
  const file = join(dirname(service.logDirectory), 'keys', `${id}.key`);
  const original = readFileSync(file, 'utf8');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  writeFileSync(file, sealKey({ id, label: 'issuing', spki, pkcs8 }, vault));
  // State that is lost at a restart.
  await service.keys.close();

  const stored = await service.store.count('certificate', [], 1000);
  await expect(enrol()).rejects.toMatchObject({ code: 'internal' });
  expect(await service.store.count('certificate', [], 1000)).toBe(stored);

  writeFileSync(file, original);
  await service.keys.close();
  expect(parseCertificate(await enrol()).spki).toEqual(testKey('p-256').publicKey.spki);
});
