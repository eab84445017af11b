import { expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { request } from '#tests/fixtures/installation.ts';
import { isHere } from '#tests/fixtures/is-here.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type Server, startServer } from '#tests/fixtures/server.ts';

/** A small disk, for root alone; undefined for everybody else. */
function mount(): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'postern-disk-'));
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', directory]);
  if (exitCode === 0) return directory;
  rmdirSync(directory);
  return undefined;
}

function unmount(disk: string): void {
  // Lazily: the log of the server is open in this process.
  Bun.spawnSync(['umount', '--lazy', disk]);
  rmdirSync(disk);
}

/** Like `mount`, for tests that need it. */
function smallDisk(): string {
  const disk = mount();
  if (disk === undefined) throw new Error('no file system can be mounted');
  return disk;
}

const disk = process.getuid?.() === 0 ? mount() : undefined;
if (disk !== undefined) unmount(disk);
const canBeFull = isHere(
  disk !== undefined,
  'no file system can be mounted: only root can, and only outside of most containers',
);

const csr = Buffer.from(request(testKey('p-256', 'kill'), 'CN=pump-1')).toString('base64');

test.skipIf(!canBeFull)(
  'with a full disk the service answers 503 until there is space, and loses no acknowledged certificate',
  async () => {
    const disk = smallDisk();
    try {
      await using server = await startServer({ under: disk });
      const { password } = server.device('pump-1');
      const received: X509Certificate[] = [];
      const enrol = async (): Promise<Response> => {
        const response = await fetch(`${server.baseUrl}/rest/default/enroll`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Basic ${Buffer.from(`pump-1:${password}`).toString('base64')}`,
          },
          body: JSON.stringify({ csr }),
          tls: { rejectUnauthorized: false },
        } as RequestInit);
        if (response.status !== 200) return response;
        received.push(new X509Certificate(((await response.json()) as { certificate: string }).certificate));
        return response;
      };
      expect((await enrol()).status).toBe(200);
      const filler = join(disk, 'filler');
      expect(() => writeFileSync(filler, new Uint8Array(40 * 1024 * 1024))).toThrow('ENOSPC');
      // What the log of the database has taken already is room, too.
      let refused: Response | undefined;
      for (let n = 0; n < 3000 && !refused; n++) {
        const response = await enrol();
        if (response.status !== 200) refused = response;
      }
      expect(refused?.status).toBe(503);
      expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/);
      const before = received.length;
      for (let n = 0; n < 10; n++) expect([200, 503]).toContain((await enrol()).status);
      rmSync(filler);
      for (let n = 0; n < 10; n++) expect((await enrol()).status).toBe(200);
      expect(received.length).toBeGreaterThanOrEqual(before + 10);
      expect(server.cli('audit', 'verify')).toContain(': intact');
      const store = await openSqliteStore({
        path: join(server.directory, 'data', 'postern.db'),
        clock: systemClock,
      });
      try {
        for (const { serialNumber, raw } of received) {
          const record = await store.find('certificate', { serialNumber });
          expect(record && Buffer.compare(record.der, raw)).toBe(0);
        }
      } finally {
        await store.close();
      }
    } finally {
      unmount(disk);
    }
  },
  60_000,
);

/** Takes whatever room is left, to the last octet. */
function fill(directory: string): string {
  const filler = join(directory, 'filler');
  for (const size of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) appendFileSync(filler, new Uint8Array(size));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
  return filler;
}

test.skipIf(!canBeFull).each([
  ['was stopped', 1, (server: Server) => server.stop()],
  ['was stopped, with several workers', 2, (server: Server) => server.stop()],
  ['was killed', 1, (server: Server) => server.kill()],
] as const)(
  'a server that %s starts on a full disk, reports it, serves CRLs and CA certificates, and recovers',
  async (_, workers, end) => {
    const disk = smallDisk();
    try {
      await using server = await startServer({ under: disk, config: `[server]\nworkers = ${workers}\n` });
      const { password } = server.device('pump-1');
      const plain = (path: string) => fetch(`http://127.0.0.1:${server.httpPort}${path}`);
      const secure = (path: string, init: RequestInit = {}) =>
        fetch(server.baseUrl + path, { ...init, tls: { rejectUnauthorized: false } } as RequestInit);
      const enrol = () =>
        secure('/rest/default/enroll', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Basic ${Buffer.from(`pump-1:${password}`).toString('base64')}`,
          },
          body: JSON.stringify({ csr }),
        });
      expect((await enrol()).status).toBe(200);
      expect([await (await plain('/readyz')).text(), await (await secure('/readyz')).text()]).toEqual([
        'ok\n',
        'ok\n',
      ]);
      await end(server);
      const filler = fill(disk);
      await server.start();
      // What SQLite keeps for its log is room too.
      for (let n = 0; n < 3000 && (await enrol()).status === 200; n++);
      expect((await enrol()).status).toBe(503);
      const ready = await plain('/readyz');
      expect([ready.status, await ready.text()]).toEqual([
        503,
        expect.stringContaining('store: the disk is full'),
      ]);
      const health = await secure('/api/health/');
      expect([health.status, await health.json()]).toMatchObject([
        503,
        { status: 'unavailable', checks: { store: { ok: false, detail: 'the disk is full' } } },
      ]);
      expect([(await plain('/livez')).status, (await secure('/livez')).status]).toEqual([200, 200]);
      expect([(await plain('/crl/2.crl')).status, (await plain('/aia/2.cer')).status]).toEqual([200, 200]);
      rmSync(filler);
      for (
        const deadline = Date.now() + 20_000;
        (await plain('/readyz')).status !== 200 && Date.now() < deadline;
      )
        await Bun.sleep(200);
      expect([(await plain('/readyz')).status, (await enrol()).status]).toEqual([200, 200]);
    } finally {
      unmount(disk);
    }
  },
  60_000,
);
