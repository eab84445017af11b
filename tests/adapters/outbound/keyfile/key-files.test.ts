import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKeyFiles } from '#adapters/outbound/keyfile/key-files.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { keyStoreContract } from '#tests/contracts/keys.ts';

const vault = createVault(randomBytes(32));
const data = Buffer.from('to be signed');

keyStoreContract('keyfile', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'postern-keys-'));
  return {
    open: () => openKeyFiles({ directory: join(parent, 'keys'), vault }),
    remove: async () => rmSync(parent, { recursive: true }),
  };
});

describe('key files', () => {
  let parent: string;
  let directory: string;
  let keys: KeyStore;
  const reopen = (): Promise<KeyStore> => openKeyFiles({ directory, vault });
  const fileOf = (id: string): string => join(directory, `${id}.key`);

  beforeEach(async () => {
    parent = mkdtempSync(join(tmpdir(), 'postern-keys-'));
    directory = join(parent, 'keys');
    keys = await reopen();
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const faultOf = async (action: () => unknown): Promise<Fault> => {
    try {
      await action();
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
    throw new Error('no Fault');
  };

  test('are flushed before they are renamed, and renamed before the id is returned', async () => {
    const handle = await open(directory, 'r');
    const prototype = Object.getPrototypeOf(handle);
    await handle.close();
    const seen: string[] = [];
    const { sync } = prototype;
    const synced = spyOn(prototype, 'sync').mockImplementation(async function (this: unknown) {
      await sync.call(this);
      seen.push(readdirSync(directory).join());
    });
    const { id } = await keys.generate('p-256', 'pump');
    await keys.remove!(id);
    synced.mockRestore();
    expect(seen).toEqual([expect.stringMatching(/^\.[0-9a-f-]{36}\.tmp$/), `${id}.key`, '']);
  });

  test('are readable by their owner only, as is their directory', async () => {
    const { id } = await keys.generate('p-256', 'pump');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(fileOf(id)).mode & 0o777).toBe(0o600);
  });

  test('hold the private key encrypted', async () => {
    const { id } = await keys.generate('p-256', 'pump');
    const pkcs8 = Buffer.from(await keys.export!(id));
    const file = readFileSync(fileOf(id));
    expect(JSON.parse(file.toString())).toMatchObject({ version: 1, id, label: 'pump' });
    expect(file.includes(pkcs8.toString('base64').slice(8, 40))).toBe(false);
    expect(file.includes(pkcs8)).toBe(false);
  });

  test('are the only files after keys were made', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    expect(readdirSync(directory)).toEqual([`${id}.key`]);
  });

  test('sign synchronously when the key is cached, and otherwise after reading the file', async () => {
    const { id } = await keys.generate('p-256', 'pump');
    expect(keys.sign(id, 'ecdsa-sha256', data)).toBeInstanceOf(Uint8Array);
    const other = await reopen();
    expect(other.sign(id, 'ecdsa-sha256', data)).toBeInstanceOf(Promise);
    await other.publicKey(id);
    expect(other.sign(id, 'ecdsa-sha256', data)).toBeInstanceOf(Uint8Array);
  });

  test('cache 256 keys', async () => {
    const first = await keys.generate('ed25519', 'first');
    const recent = await keys.generate('ed25519', 'recent');
    for (let i = 0; i < 255; i++) {
      await keys.generate('ed25519', 'more');
      await keys.sign(recent.id, 'ed25519', data);
    }
    expect(keys.sign(recent.id, 'ed25519', data)).toBeInstanceOf(Uint8Array);
    const signature = keys.sign(first.id, 'ed25519', data);
    expect(signature).toBeInstanceOf(Promise);
    expect(await signature).toHaveLength(64);
  });

  test('are rejected when any octet has changed', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    const file = readFileSync(fileOf(id));
    const fresh = await reopen();
    for (let i = 0; i < file.length; i++) {
      const changed = Buffer.from(file);
      changed[i]! ^= 1;
      writeFileSync(fileOf(id), changed);
      for (const use of [
        () => fresh.publicKey(id),
        () => fresh.sign(id, 'ed25519', data),
        () => fresh.export!(id),
      ]) {
        const fault = await faultOf(use);
        expect(fault.code).toBe('internal');
        expect(fault.detail).not.toContain(id);
        expect((fault.cause as Error).message).toContain(
          `${id}.key is damaged, is not a key file of this gateway, or is encrypted under another master key`,
        );
      }
    }
  });

  test.each([
    ['empty', ''],
    ['cut short', '{"version":1,"id":'],
    ['of another kind', 'null'],
    ['without members', '{}'],
    ['an array', '[1]'],
    ['huge', 'x'.repeat(100_000)],
  ])('are rejected when they are %s', async (_, contents) => {
    const id = '00000000-0000-4000-8000-000000000000';
    writeFileSync(fileOf(id), contents, { mode: 0o600 });
    const fault = await faultOf(() => keys.publicKey(id));
    expect(fault.code).toBe('internal');
    expect((fault.cause as Error).message).toContain(id);
  });

  test('are rejected under the name of another key', async () => {
    const [a, b] = [await keys.generate('ed25519', 'a'), await keys.generate('ed25519', 'b')];
    writeFileSync(fileOf(a.id), readFileSync(fileOf(b.id)));
    const fresh = await reopen();
    expect((await faultOf(() => fresh.publicKey(a.id))).code).toBe('internal');
  });

  test('are rejected when sealed with another master key', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    const other = await openKeyFiles({ directory, vault: createVault(randomBytes(32)) });
    expect((await faultOf(() => other.sign(id, 'ed25519', data))).code).toBe('internal');
  });

  test('are not opened in a directory that others may enter; the message names the command to run', async () => {
    chmodSync(directory, 0o750);
    await expect(reopen()).rejects.toThrow(`chmod 700 '${directory}'`);
  });

  test('are not opened when others may read one; the message names the command to run', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    chmodSync(fileOf(id), 0o604);
    await expect(reopen()).rejects.toThrow(`chmod 600 '${fileOf(id)}'`);
    chmodSync(fileOf(id), 0o600);
    expect(await (await reopen()).publicKey(id)).toHaveLength(44);
  });

  test('ignore the leftovers of a killed writer, and delete them when they are old', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    const [old, young] = ['a', 'b'].map((digit) => join(directory, `.${digit.repeat(36)}.tmp`)) as [
      string,
      string,
    ];
    for (const file of [old, young]) writeFileSync(file, '{"version":1', { mode: 0o600 });
    utimesSync(old, new Date(0), new Date(0));
    const fresh = await reopen();
    expect(await fresh.publicKey(id)).toHaveLength(44);
    expect(existsSync(old)).toBe(false);
    // It may be that of a process that is about to rename it.
    expect(existsSync(young)).toBe(true);
  });

  test('are unavailable, not unknown, while their directory is gone', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    rmSync(directory, { recursive: true });
    const fresh = await reopen().then((store) => {
      rmSync(directory, { recursive: true });
      return store;
    });
    expect((await faultOf(() => fresh.publicKey(id))).code).toBe('unavailable');
    expect((await faultOf(() => fresh.generate('ed25519', 'pump'))).code).toBe('unavailable');
    expect((await faultOf(() => fresh.remove(id))).code).toBe('unavailable');
    expect((await fresh.health()).ok).toBe(false);
  });

  test('stop signing within two seconds of their removal by another process', async () => {
    const { id } = await keys.generate('ed25519', 'pump');
    await (await reopen()).remove(id);
    await Bun.sleep(1100);
    expect((await faultOf(() => keys.sign(id, 'ed25519', data))).code).toBe('notFound');
  });

  test('truncate a label that is too long', async () => {
    const { id } = await keys.generate('ed25519', 'x'.repeat(300));
    expect(JSON.parse(readFileSync(fileOf(id), 'utf8')).label).toBe('x'.repeat(100));
    expect(await (await reopen()).publicKey(id)).toHaveLength(44);
  });

  test('accept RSA keys of unusual sizes', async () => {
    const { spki } = await keys.generate('rsa-2056', 'odd');
    expect(spki.length).toBeGreaterThan(257);
  });

  describe('on import', () => {
    const pkcs8 = (pair: { privateKey: import('node:crypto').KeyObject }): Buffer =>
      pair.privateKey.export({ format: 'der', type: 'pkcs8' });

    test.each([
      ['RSA with 1024 bits', () => pkcs8(generateKeyPairSync('rsa', { modulusLength: 1024 }))],
      [
        'RSA with exponent 3',
        () => pkcs8(generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 })),
      ],
      ['X25519', () => pkcs8(generateKeyPairSync('x25519'))],
    ])('reject %s', async (_, make) => {
      expect((await faultOf(() => keys.import!(make(), 'weak'))).code).toBe('badAlgorithm');
      expect(readdirSync(directory)).toEqual([]);
    });

    test('reject an encrypted key', async () => {
      const { privateKey } = generateKeyPairSync('ed25519');
      const encrypted = privateKey.export({
        format: 'der',
        type: 'pkcs8',
        cipher: 'aes-256-cbc',
        passphrase: 'x',
      });
      expect((await faultOf(() => keys.import!(encrypted, 'encrypted'))).code).toBe('malformed');
    });

    test('reject a private key with the public key of another', async () => {
      const [a, b] = [
        generateKeyPairSync('ec', { namedCurve: 'P-256' }),
        generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      ];
      const point = b.publicKey.export({ format: 'der', type: 'spki' }).subarray(-65);
      const mixed = Buffer.concat([pkcs8(a).subarray(0, -65), point]);
      expect((await faultOf(() => keys.import!(mixed, 'mixed'))).code).toBe('malformed');
      expect(readdirSync(directory)).toEqual([]);
    });

    test('reject data that is larger than any key', async () => {
      expect((await faultOf(() => keys.import!(new Uint8Array(1_000_000), 'large'))).code).toBe('malformed');
    });
  });
});
