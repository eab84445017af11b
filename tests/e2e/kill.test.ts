import { afterAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import type { Store } from '#core/ports/store.ts';
import { request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { type Server, startServer } from '#tests/fixtures/server.ts';

const csr = Buffer.from(request(testKey('p-256', 'kill'), 'CN=pump-1')).toString('base64');

let postgres: PostgresFixture | undefined;
afterAll(() => postgres?.stop());

/** Enrols on `connections` connections at once until the server is gone; the certificates that were answered. */
async function load(server: Server, password: string, connections: number): Promise<X509Certificate[]> {
  const received: X509Certificate[] = [];
  const authorization = `Basic ${Buffer.from(`pump-1:${password}`).toString('base64')}`;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (;;) {
        try {
          const response = await fetch(`${server.baseUrl}/rest/default/enroll`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization },
            body: JSON.stringify({ csr }),
            tls: { rejectUnauthorized: false },
          });
          const { certificate } = (await response.json()) as { certificate: string };
          received.push(new X509Certificate(certificate));
        } catch {
          return;
        }
      }
    }),
  );
  return received;
}

async function everyCertificate(store: Store): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await store.list('certificate', { limit: 1000, ...(cursor && { cursor }) });
    for (const { serialNumber, der } of page.records) found.set(serialNumber, der);
    count += page.records.length;
    cursor = page.next;
  } while (cursor);
  expect(found.size).toBe(count);
  return found;
}

async function killUnderLoad(config: string, open: (server: Server) => Promise<Store>): Promise<void> {
  await using server = await startServer({ config });
  const { password } = server.device('pump-1');
  const received: X509Certificate[] = [];
  for (let round = 0; round < 3; round++) {
    const running = load(server, password, 8);
    await Bun.sleep(400 + 150 * round);
    await server.kill();
    received.push(...(await running));
    await server.start();
  }
  expect(received.length).toBeGreaterThan(50);
  const store = await open(server);
  try {
    const stored = await everyCertificate(store);
    for (const certificate of received) {
      const der = stored.get(certificate.serialNumber);
      expect(der && Buffer.compare(der, certificate.raw)).toBe(0);
    }
    expect(new Set(received.map(({ serialNumber }) => serialNumber)).size).toBe(received.length);
  } finally {
    await store.close();
  }
}

describe('after kill -9 under load, three times, every certificate of a client is stored, and no serial number occurs twice', () => {
  test('SQLite', async () => {
    await killUnderLoad('', (server) =>
      openSqliteStore({ path: join(server.directory, 'data', 'postern.db'), clock: systemClock }),
    );
  }, 60_000);

  test.skipIf(!hasPostgres)(
    'PostgreSQL, two workers',
    async () => {
      postgres = await startPostgres();
      const url = await postgres.createDatabase();
      await killUnderLoad(`[server]\nworkers = 2\n[store]\nplugin = "postgres"\nurl = "${url}"\n`, () =>
        openPostgresStore({ url, clock: systemClock }),
      );
    },
    60_000,
  );
});
