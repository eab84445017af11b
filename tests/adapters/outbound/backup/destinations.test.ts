import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Destination } from '#adapters/outbound/backup/destination.ts';
import { openDirectory } from '#adapters/outbound/backup/directory.ts';
import { openSftp } from '#adapters/outbound/backup/sftp.ts';
import { hasSshd, type SshServer, startSshd } from '#tests/fixtures/sshd.ts';

let server: SshServer;
const local = mkdtempSync(join(tmpdir(), 'postern-backups-'));

beforeAll(async () => {
  if (hasSshd) server = await startSshd();
}, 60_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(local, { recursive: true });
});

const location = (path: string) =>
  ({ kind: 'sftp', host: '127.0.0.1', port: server.port, user: server.user, path }) as const;
const identity = () => ({ key: server.key, hostKey: server.hostKey });

const kinds: [string, (path: string) => Promise<Destination>, () => string][] = [
  ['a directory', openDirectory, () => local],
  ['a directory over SFTP', (path) => openSftp(location(path), identity()), () => server.directory],
];

async function* chunks(count: number, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield new Uint8Array(70_000).fill(n);
  if (failure) throw failure;
}

describe.each(kinds)('%s', (name, open, where) => {
  const runs = name.includes('SFTP') && !hasSshd ? test.skip : test;

  runs('takes a file, for nobody else to read', async () => {
    const destination = await open(where());
    try {
      expect(await destination.put('a.backup', chunks(5))).toBe(350_000);
      const written = readFileSync(join(where(), 'a.backup'));
      expect(written.length).toBe(350_000);
      expect([written[0], written[349_999]]).toEqual([0, 4]);
      expect(statSync(join(where(), 'a.backup')).mode & 0o777).toBe(0o600);
      expect(await destination.names()).toContain('a.backup');
      await destination.remove('a.backup');
      expect(readdirSync(where())).toEqual([]);
    } finally {
      await destination.close();
    }
  });

  runs('keeps nothing of a file that breaks off', async () => {
    const destination = await open(where());
    const failed = await destination
      .put('b.backup', chunks(3, new Error('broken off')))
      .catch((error) => error);
    expect(failed.message).toBe('broken off');
    expect(readdirSync(where())).toEqual([]);
    await destination.close();
  });

  runs('says what is wrong with the directory', async () => {
    const missing = await open(join(where(), 'missing')).catch((error) => error);
    expect(missing).toMatchObject({ code: 'conflict', detail: 'the backup directory does not exist' });
    writeFileSync(join(where(), 'file'), '');
    const file = await open(join(where(), 'file')).catch((error) => error);
    expect(file).toMatchObject({ code: 'conflict', detail: 'the backup directory is not a directory' });
    rmSync(join(where(), 'file'));
  });
});

test('a relative path is rejected', async () => {
  const directory = join(local, 'there');
  mkdirSync(directory);
  try {
    expect(await openDirectory('there').catch((error) => error)).toMatchObject({ code: 'conflict' });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describe.skipIf(!hasSshd)('an SFTP server', () => {
  test('can be identified by the fingerprint of its key', async () => {
    const { stdout } = Bun.spawnSync(['ssh-keygen', '-l', '-f', '-'], {
      stdin: Buffer.from(server.hostKey.split(' ').slice(1).join(' ')),
    });
    const hostKey = /SHA256:\S+/.exec(stdout.toString())![0];
    const destination = await openSftp(location(server.directory), { ...identity(), hostKey });
    await destination.close();
  });

  test('with another key is rejected before anything is sent', async () => {
    const hostKey = `SHA256:${'A'.repeat(43)}`;
    const refused = await openSftp(location(server.directory), { ...identity(), hostKey }).catch(
      (error) => error,
    );
    expect(refused).toMatchObject({ code: 'conflict' });
    expect(refused.detail).toContain('differs from sftp_host_key');
  });

  test('that rejects the login gives a permanent error', async () => {
    const key = server.strangerKey;
    const refused = await openSftp(location(server.directory), { ...identity(), key }).catch(
      (error) => error,
    );
    expect(refused).toMatchObject({ code: 'conflict' });
    expect(refused.detail).toContain('rejects sftp_key');
  });

  test('that is unavailable gives a temporary error', async () => {
    const nowhere = { ...location('/'), port: 1 };
    expect(await openSftp(nowhere, identity()).catch((error) => error)).toMatchObject({
      code: 'unavailable',
    });
  });

  test('requires a key and a host key', async () => {
    expect(await openSftp(location('/'), undefined).catch((error) => error)).toMatchObject({
      code: 'conflict',
    });
  });
});
