import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { SqliteReader } from '#adapters/outbound/sql/sqlite-reader.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { nightly } from '#tests/property.ts';

/** A million certificates take half a minute and 400 MB, which is for the nightly run. */
const many = nightly ? 1_000_000 : 50_000;
const few = 1000;

interface Place extends AsyncDisposable {
  readonly site: Installation;
  readonly api: Api;
  /** The database file. */
  readonly path: string;
}

const places = new Map<number, Place>();

beforeAll(async () => {
  for (const count of [few, many]) places.set(count, await withCertificates(count));
}, 300_000);
afterAll(async () => {
  for (const place of places.values()) await place[Symbol.asyncDispose]();
});

/**
 * Makes an installation with `count` certificates, one per minute, of ten devices and in ten states of
 * revocation.
 */
async function withCertificates(count: number): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-lists-'));
  const path = join(directory, 'store.db');
  const clock = testClock();
  const site = await installation({ store: await openSqliteStore({ path, clock }), clock });
  for (let n = 0; n < 10; n++) await site.device(`pump-${n}`);
  using db = new Database(path);
  db.run('pragma synchronous = off');
  db.run(`insert into certificates (created_at, common_name, ca, serial_number, subject, not_valid_before, not_valid_after,
      fingerprint, status, revoked_at, revocation_reason, invalidity_date, device, domain, profile, protocol, hidden, der)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    select i * 60000, 'device-' || i, 2, printf('%032X', i), 'CN=device-' || i, i * 60000, i * 60000 + 7776000000,
      printf('%064X', i), iif(i % 100 = 0, 'revoked', 'good'), null, null, null, 1 + i % 10, 1, 1, 'est', 0, zeroblob(16) from n`);
  const api = await apiOf(site);
  return {
    site,
    api,
    path,
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
}

const python = `
import json, sqlite3, sys
path, statements = json.load(sys.stdin)
steps = 0
def count():
    global steps
    steps += 1
db = sqlite3.connect(path)
db.set_progress_handler(count, 10)
for sql, parameters in statements:
    db.execute(sql, parameters).fetchall()
print(steps)
`;

/** Returns what SQLite does for a response, in tens of virtual machine instructions, and the number of records. */
async function cost({ api, path }: Place, url: string): Promise<{ steps: number; records: number }> {
  const queries = spyOn(SqliteReader.prototype, 'query');
  const { status, body } = await api.get(url);
  expect(status).toBe(200);
  const statements = queries.mock.calls;
  queries.mockRestore();
  expect(statements).not.toBeEmpty();
  // SQLite reports this only to Python.
  const counter = Bun.spawn(['python3', '-c', python], {
    stdin: Buffer.from(JSON.stringify([path, statements])),
    stdout: 'pipe',
  });
  const steps = Number(await counter.stdout.text());
  expect(steps).toBePositive();
  return { steps, records: body.length };
}

const middle = (count: number): string => new Date(Math.floor(count / 2) * 60_000).toISOString();

test.each([
  ['the first page', (_: number) => 'limit=100'],
  ['a page by serial number', (count: number) => `serial_number=${(count / 2).toString(16)}`],
  ['a page by notBefore, to the second', (count: number) => `not_valid_before=${middle(count)}`],
  ['a page of revoked ones', (_: number) => 'status=revoked&limit=5'],
  ['a page of one device', (_: number) => 'device=3&limit=50'],
  ['a page of one domain', (_: number) => 'domain=1&limit=50'],
  ['a page of one CA', (_: number) => 'issuing_ca=2&limit=50'],
  ['a page of one profile', (_: number) => 'cert_profile=1&limit=50'],
  ['the first page in order of expiry', (_: number) => 'ordering=not_valid_after&limit=100'],
])(`%s costs the same with ${many} certificates as with ${few}`, async (_what, query) => {
  const small = await cost(places.get(few)!, `/api/certificates/?${query(few)}`);
  const large = await cost(places.get(many)!, `/api/certificates/?${query(many)}`);
  expect(large.records).toBe(small.records);
  expect(large.steps).toBeLessThan(1.5 * small.steps);
});

test('what concerns one device and one profile costs as many steps as the certificates of the device', async () => {
  const { path } = places.get(many)!;
  const store = await openSqliteStore({ path, clock: testClock() });
  const where = [
    { field: 'profile', is: 'equal', value: 1 },
    { field: 'device', is: 'equal', value: 11 },
  ] as const;
  const queries = spyOn(SqliteReader.prototype, 'query');
  expect(await store.count('certificate', where, 1)).toBe(0);
  await store.close();
  const [[sql, parameters]] = queries.mock.calls as [[string, []]];
  queries.mockRestore();
  using db = new Database(path, { readonly: true });
  const plan = db.query(`explain query plan ${sql}`).all(...parameters) as { detail: string }[];
  expect(plan.map(({ detail }) => detail).join()).toContain('certificates_device_index');
});

test('an order that no index has is refused unless few certificates match', async () => {
  const { api } = places.get(many)!;
  const refused = await api.get('/api/certificates/?ordering=common_name');
  expect([refused.status, refused.body]).toEqual([
    400,
    {
      ordering: [
        'more than 10000 records match: narrow the list with filters, or order it by id, created_at, serial_number, not_valid_before, not_valid_after',
      ],
    },
  ]);
  const few = await api.get(
    '/api/certificates/?ordering=common_name&device=3&created_from=1970-01-03&limit=2',
  );
  expect([few.status, few.body.length]).toEqual([200, 2]);
});

test('a late page costs as much as the first', async () => {
  const place = places.get(many)!;
  const { api } = place;
  const first = await cost(place, '/api/certificates/?limit=100');
  let link = (await api.get('/api/certificates/?limit=1000')).headers.link;
  for (let page = 2; page < many / 2000; page++) link = (await api.get(path(link))).headers.link;
  const deep = await cost(place, path(link).replace('limit=1000', 'limit=100'));
  expect(deep.records).toBe(first.records);
  expect(deep.steps).toBeLessThan(1.5 * first.steps);
}, 300_000);

const path = (link: string | undefined): string => /^<([^>]*)>/.exec(link!)![1]!;
