import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMasterKey } from '#adapters/outbound/system/master-key.ts';

const passphrase = 'correct horse battery staple';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

let parent: string;
let dataDirectory: string;
let file: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'postern-master-'));
  dataDirectory = join(parent, 'data');
  file = join(dataDirectory, 'master.key');
});
afterEach(() => rmSync(parent, { recursive: true }));

const messageOf = (opening: Promise<unknown>): Promise<string> =>
  opening.then(
    () => 'opened',
    (error: Error) => error.message,
  );

describe('a master key', () => {
  test('gives each purpose a different key', async () => {
    const master = await openMasterKey({ dataDirectory });
    const [vault, files] = [master.subKey('postern vault'), master.subKey('postern key files')];
    expect(vault).toHaveLength(32);
    expect(hex(vault)).not.toBe(hex(files));
    expect(hex(master.subKey('postern vault'))).toBe(hex(vault));
  });

  test('comes from a file or from a passphrase, but not from both', async () => {
    expect(await messageOf(openMasterKey({ dataDirectory, file, passphrase }))).toContain('not both');
  });

  test('is rejected when its record is damaged', async () => {
    await openMasterKey({ dataDirectory });
    for (const text of ['', '{', 'null', '{}', '{"version":2,"source":"file","check":""}']) {
      writeFileSync(join(dataDirectory, 'master.json'), text);
      expect(await messageOf(openMasterKey({ dataDirectory }))).toContain('damaged');
    }
  });
});

describe('a master key in a file', () => {
  test('is created at the first start, readable by its owner only, and used afterwards', async () => {
    const first = (await openMasterKey({ dataDirectory })).subKey('postern vault');
    expect(statSync(dataDirectory).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDirectory).sort()).toEqual(['master.json', 'master.key']);
    const second = (await openMasterKey({ dataDirectory })).subKey('postern vault');
    expect(hex(second)).toBe(hex(first));
  });

  test('is random', async () => {
    const a = await openMasterKey({ dataDirectory });
    const b = await openMasterKey({ dataDirectory: join(parent, 'other') });
    expect(hex(a.subKey('postern vault'))).not.toBe(hex(b.subKey('postern vault')));
  });

  test('may be outside the data directory and shared by several', async () => {
    const shared = join(parent, 'shared.key');
    writeFileSync(shared, `${'0123456789abcdef'.repeat(4)}\n`, { mode: 0o600 });
    const a = await openMasterKey({ file: shared, dataDirectory });
    const b = await openMasterKey({ file: shared, dataDirectory: join(parent, 'other') });
    expect(hex(a.subKey('postern vault'))).toBe(hex(b.subKey('postern vault')));
  });

  // RFC 5869 in Python: hmac(hmac(32 zero octets, key), b'postern vault\x01'), SHA-256.
  test('derives by HKDF-SHA256', async () => {
    const shared = join(parent, 'shared.key');
    writeFileSync(shared, '0123456789abcdef'.repeat(4), { mode: 0o600 });
    const { subKey } = await openMasterKey({ file: shared, dataDirectory });
    expect(hex(subKey('postern vault'))).toBe(
      'c32fd3c0cf221acc5f112f6fc24c4094d01c8bf22918280fd2d865655ed1cacf',
    );
  });

  test('is the same for processes that start for the first time together', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => openMasterKey({ dataDirectory })));
    expect(new Set(opened.map((master) => hex(master.subKey('postern vault')))).size).toBe(1);
    expect(readdirSync(dataDirectory).sort()).toEqual(['master.json', 'master.key']);
  });

  test.each([0o640, 0o604, 0o660, 0o610])(
    'is refused at mode %o, and the message says what to run',
    async (mode) => {
      await openMasterKey({ dataDirectory });
      chmodSync(file, mode);
      expect(await messageOf(openMasterKey({ dataDirectory }))).toContain(`chmod 600 '${file}'`);
    },
  );

  test('is rejected when the data directory was made with another one', async () => {
    await openMasterKey({ dataDirectory });
    writeFileSync(file, 'f'.repeat(64));
    const message = await messageOf(openMasterKey({ dataDirectory }));
    expect(message).toContain('is not the master key');
    expect(message).not.toContain('ffff');
  });

  test('is not replaced when it is lost', async () => {
    await openMasterKey({ dataDirectory });
    unlinkSync(file);
    expect(await messageOf(openMasterKey({ dataDirectory }))).toContain('is missing');
    expect(readdirSync(dataDirectory)).toEqual(['master.json']);
  });

  test.each(['', 'f'.repeat(63), 'g'.repeat(64), 'f'.repeat(66), 'f'.repeat(5000)])(
    'is refused when the file holds %p',
    async (text) => {
      const shared = join(parent, 'shared.key');
      writeFileSync(shared, text, { mode: 0o600 });
      expect(await messageOf(openMasterKey({ file: shared, dataDirectory }))).toMatch(
        /does not hold|was not created by Postern/,
      );
      expect(readFileSync(shared, 'utf8')).toBe(text);
    },
  );

  test('is not replaced by a passphrase', async () => {
    await openMasterKey({ dataDirectory });
    expect(await messageOf(openMasterKey({ dataDirectory, passphrase }))).toContain('comes from a key file');
  });
});

describe('a master key from a passphrase', () => {
  test('is the same at each start, for any Unicode normalization, and is not stored', async () => {
    const composed = 'pässphrase über alles';
    const first = await openMasterKey({ dataDirectory, passphrase: composed.normalize('NFC') });
    const second = await openMasterKey({ dataDirectory, passphrase: composed.normalize('NFD') });
    expect(hex(second.subKey('postern vault'))).toBe(hex(first.subKey('postern vault')));
    expect(readdirSync(dataDirectory)).toEqual(['master.json']);
    expect(readFileSync(join(dataDirectory, 'master.json'), 'utf8')).not.toContain('phrase über');
  });

  test('is reported as wrong immediately, without being shown', async () => {
    await openMasterKey({ dataDirectory, passphrase });
    const message = await messageOf(openMasterKey({ dataDirectory, passphrase: 'incorrect horse battery' }));
    expect(message).toBe(`wrong passphrase for the master key of ${dataDirectory}`);
  });

  test('differs from one data directory to the next', async () => {
    const a = await openMasterKey({ dataDirectory, passphrase });
    const b = await openMasterKey({ dataDirectory: join(parent, 'other'), passphrase });
    expect(hex(a.subKey('postern vault'))).not.toBe(hex(b.subKey('postern vault')));
  });

  test('is the same for processes that start for the first time together', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => openMasterKey({ dataDirectory, passphrase })));
    expect(new Set(opened.map((master) => hex(master.subKey('postern vault')))).size).toBe(1);
  });

  test('needs twelve characters', async () => {
    expect(await messageOf(openMasterKey({ dataDirectory, passphrase: 'short' }))).toContain('at least 12');
    expect(readdirSync(dataDirectory)).toEqual([]);
  });

  test('is not replaced by a key file', async () => {
    await openMasterKey({ dataDirectory, passphrase });
    expect(await messageOf(openMasterKey({ dataDirectory }))).toContain('comes from a passphrase');
  });
});
