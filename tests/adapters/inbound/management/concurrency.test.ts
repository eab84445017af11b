import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { selfSigned } from '#tests/fixtures/outside-ca.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

const pem = selfSigned(testKey('p-256', 'concurrency').pem(), '/CN=anchor');
let names = 0;
const name = (): string => `record ${++names}`;

/** A collection, a body that creates a record, and changes to two of its fields. */
const collections: readonly (readonly [
  path: string,
  body: () => object,
  one: () => object,
  two: () => object,
])[] = [
  [
    '/api/domains/',
    () => ({ unique_name: name() }),
    () => ({ unique_name: name() }),
    () => ({ issuing_ca: 1 }),
  ],
  [
    '/api/devices/',
    () => ({ common_name: name() }),
    () => ({ common_name: name() }),
    () => ({ serial_number: name() }),
  ],
  [
    '/api/cert-profiles/',
    () => ({ unique_name: name() }),
    () => ({ unique_name: name() }),
    () => ({ profile: { validity: { duration: 'P3D' } } }),
  ],
  [
    '/api/truststores/',
    () => ({ unique_name: name(), intended_usage: 0, trust_store_file: pem }),
    () => ({ unique_name: name() }),
    () => ({ intended_usage: 2 }),
  ],
  [
    '/api/issuing-cas/',
    () => ({ unique_name: name(), issuing_ca_type: 0 }),
    () => ({ unique_name: name() }),
    () => ({ is_active: false }),
  ],
  ['/api/tls/', () => ({ credential_type: 3 }), () => ({ unique_name: name() }), () => ({})],
  ['/api/certificates/', () => ({ common_name: name() }), () => ({ common_name: name() }), () => ({})],
];
const rounds = 5;

/** Two gateways on one database, like two processes. */
function writers(open: (clock: TestClock) => Promise<readonly [Store, Store]>): void {
  let sites: readonly Installation[];
  let apis: readonly [Api, Api];

  beforeAll(async () => {
    const clock = testClock();
    const [first, second] = await open(clock);
    const one = await installation({ clock, store: first });
    const two = await installation({ clock, store: second });
    sites = [one, two];
    apis = [await apiOf(one), await apiOf(two)];
  }, 60_000);
  afterAll(async () => {
    for (const site of sites) await site[Symbol.asyncDispose]();
  });

  for (const [path, body, one, two] of collections) {
    test(`${path}: concurrent changes to different fields are both stored`, async () => {
      const [a, b] = apis;
      for (let n = 0; n < rounds; n++) {
        const { body: record } = await a.post(path, body());
        const [left, right] = [one(), two()];
        const url = `${path}${record.id}/`;
        const answers = await Promise.all([a.patch(url, left), b.patch(url, right)]);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        expect((await b.get(url)).body).toMatchObject({ ...left, ...right });
      }
    });

    test(`${path}: a concurrent change and deletion happen one after the other`, async () => {
      const [a, b] = apis;
      for (let n = 0; n < rounds; n++) {
        const { body: record } = await a.post(path, body());
        const url = `${path}${record.id}/`;
        const [changed, removed, again] = await Promise.all([
          a.patch(url, one()),
          b.remove(url),
          a.remove(url),
        ]);
        expect([200, 404]).toContain(changed.status);
        expect([removed.status, again.status].sort()).toEqual([204, 404]);
        expect((await a.get(url)).status).toBe(404);
      }
    });
  }

  test('a device that concurrently gets two kinds of configuration has one of them', async () => {
    const [a, b] = apis;
    for (let n = 0; n < rounds; n++) {
      const { body: onboarding } = await a.post('/api/onboarding-configs/', {});
      const { body: plain } = await a.post('/api/no-onboarding-configs/', {});
      const { body: device } = await a.post('/api/devices/', {
        common_name: name(),
        no_onboarding_config: null,
      });
      const url = `/api/devices/${device.id}/`;
      const answers = await Promise.all([
        a.patch(url, { onboarding_config: onboarding.id }),
        b.patch(url, { no_onboarding_config: plain.id }),
      ]);
      const refusal = answers.find(({ status }) => status !== 200);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect(Object.keys(refusal!.body)).toEqual(['no_onboarding_config']);
      const { body: left } = await b.get(url);
      expect([left.onboarding_config, left.no_onboarding_config]).toContain(null);
    }
  });

  test('one of several concurrent requests for a name succeeds', async () => {
    const [a, b] = apis;
    for (const [path, body] of collections.filter(([, make]) => 'unique_name' in make())) {
      const same = { ...body(), unique_name: name() };
      const answers = await Promise.all([a, b, a, b].map((api) => api.post(path, same)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
      const refused = answers.find(({ status }) => status === 400);
      expect(Object.keys(refused!.body)).toEqual(['unique_name']);
      const { body: found } = await b.get(`${path}?search=${encodeURIComponent(same.unique_name)}`);
      expect(
        found.filter((one: { unique_name: string }) => one.unique_name === same.unique_name),
      ).toHaveLength(1);
    }
  });

  test('concurrent CRLs at two gateways have different numbers', async () => {
    const { body: before } = await apis[0].get('/api/issuing-cas/2/');
    const [first] = sites;
    const numbers = new Set<number>();
    for (let n = 0; n < rounds; n++) {
      const answers = await Promise.all(
        [1, 2, 3].map(() => apis[0].post('/api/issuing-cas/2/generate-crl/')),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      numbers.add((await first!.store.find('crl', { ca: before.id }))!.number);
    }
    expect(numbers.size).toBe(rounds);
    expect((await first!.store.get('issuingCa', before.id))!.crlNumber).toBe(Math.max(...numbers));
  });
}

describe('two writers on SQLite', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-writers-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'postern.db');
  writers(async (clock) => [await openSqliteStore({ path, clock }), await openSqliteStore({ path, clock })]);
});

describe.skipIf(!hasPostgres)('two writers on PostgreSQL', () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());
  writers(async (clock) => {
    const url = await server.createDatabase();
    const open = () => openPostgresStore({ url, clock, poolSize: 4 });
    return [await open(), await open()];
  });
});
