import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMasterKey } from '#adapters/outbound/system/master-key.ts';
import {
  finishRotation,
  isRotating,
  prepareRotation,
} from '#adapters/outbound/system/master-key-rotation.ts';
import type { MasterKeyOptions } from '#adapters/outbound/system/master-key-source.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { Vault } from '#core/ports/platform.ts';

let dataDirectory: string;
beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'postern-rotation-'));
});
afterEach(() => rmSync(dataDirectory, { recursive: true }));

const vaultOf = async (options: MasterKeyOptions): Promise<Vault> =>
  createVault((await openMasterKey(options)).subKeys('postern vault'));
const path = (name: string) => join(dataDirectory, name);
const secret = Uint8Array.of(1, 2, 3);
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    ({ message }) => message,
  );

const passphrases = { passphrase: 'correct horse battery', newPassphrase: 'staple correct horse' };

test.each<[string, object, object]>([
  ['a key file', {}, {}],
  ['a passphrase', passphrases, { passphrase: passphrases.newPassphrase }],
])(
  'with %s, both keys open during a rotation, and the new key opens earlier secrets afterwards',
  async (_, given, then) => {
    const options = { dataDirectory, ...given };
    const old = (await vaultOf(options)).seal(secret, 'x');
    await prepareRotation(options);
    const before = readFileSync(path('master.json.new'), 'utf8');
    await prepareRotation(options);
    expect(readFileSync(path('master.json.new'), 'utf8')).toBe(before);
    expect(await isRotating(options)).toBe(true);

    const prepared = await vaultOf(options);
    expect(prepared.reseal(old, 'x')).toBeUndefined();
    const rotating = await vaultOf({ ...options, sealWithNew: true });
    const fresh = rotating.reseal(old, 'x')!;
    expect(rotating.reseal(fresh, 'x')).toBeUndefined();
    expect([prepared.open(fresh, 'x'), rotating.open(old, 'x')]).toEqual([secret, secret]);

    await finishRotation(options);
    expect(await isRotating(options)).toBe(false);
    expect([existsSync(path('master.json.new')), existsSync(path('master.key.new'))]).toEqual([false, false]);
    for (const after of [await vaultOf(options), await vaultOf({ dataDirectory, ...then })]) {
      expect(after.reseal(fresh, 'x')).toBeUndefined();
      expect(after.open(old, 'x')).toEqual(secret);
    }

    // Again: two keys are retired.
    const again = { dataDirectory, ...then, newPassphrase: 'a third one of them' };
    await prepareRotation(again);
    await finishRotation(again);
    const last = await vaultOf(again);
    expect([last.open(old, 'x'), last.open(fresh, 'x')]).toEqual([secret, secret]);
    expect([last.reseal(old, 'x'), last.reseal(fresh, 'x')]).not.toContain(undefined);
  },
);

test('a rotation that was killed at any step is continued', async () => {
  const options = { dataDirectory };
  const old = (await vaultOf(options)).seal(secret, 'x');
  // Killed after the key file, before the record.
  await prepareRotation(options);
  const key = readFileSync(path('master.key.new'), 'utf8');
  rmSync(path('master.json.new'));
  expect((await vaultOf(options)).open(old, 'x')).toEqual(secret);
  await prepareRotation(options);
  expect(readFileSync(path('master.key.new'), 'utf8')).toBe(key);
  const fresh = (await vaultOf({ ...options, sealWithNew: true })).seal(secret, 'x');
  // Killed between the two renames.
  renameSync(path('master.key.new'), path('master.key'));
  expect((await vaultOf(options)).open(fresh, 'x')).toEqual(secret);
  expect(existsSync(path('master.json.new'))).toBe(false);
  expect((await vaultOf(options)).open(old, 'x')).toEqual(secret);
});

test('a rotation names what is missing', async () => {
  const options = { dataDirectory };
  await openMasterKey(options);
  await prepareRotation(options);
  writeFileSync(path('master.key.new'), `${'0'.repeat(64)}\n`);
  expect(await messageOf(openMasterKey(options))).toContain('is not the key the rotation was prepared with');
  rmSync(path('master.key.new'));
  expect(await messageOf(openMasterKey(options))).toContain('master.key.new is missing');
});

test('a rotation of a passphrase requires a different one', async () => {
  const { passphrase, newPassphrase } = passphrases;
  const options = { dataDirectory, passphrase };
  await openMasterKey(options);
  expect(await messageOf(prepareRotation(options))).toContain('new_passphrase');
  expect(await messageOf(prepareRotation({ ...options, newPassphrase: passphrase }))).toContain(
    'must differ from the current passphrase',
  );
  expect(await messageOf(prepareRotation({ ...options, newPassphrase: 'short' }))).toContain('at least 12');
  await prepareRotation({ ...options, newPassphrase });
  expect(await messageOf(openMasterKey(options))).toContain('has no new_passphrase');
  expect(await messageOf(openMasterKey({ ...options, newPassphrase: 'another one altogether' }))).toContain(
    'not the one the rotation was prepared with',
  );
});
