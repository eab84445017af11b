import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { apiOf } from '#tests/fixtures/api.ts';
import { installation, testClock } from '#tests/fixtures/installation.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

const ids = ({ body }: { readonly body: readonly { readonly id: number }[] }): number[] =>
  body.map(({ id }) => id);

test('a damaged record is omitted from its list and logged, and all other records and lists are available', async () => {
  const path = join(directory, 'damaged.db');
  const clock = testClock();
  await using site = await installation({ clock, store: await openSqliteStore({ path, clock }) });
  const api = await apiOf(site);
  for (const name of ['a', 'b', 'c']) {
    expect((await api.post('/api/devices/', { common_name: name })).status).toBe(201);
    expect((await api.post('/api/roles/', { unique_name: name, permissions: [] })).status).toBe(201);
    const hook = { unique_name: name, url: 'https://x.example/', events: [] };
    expect((await api.post('/api/webhooks/', hook)).status).toBe(201);
  }
  const kinds = [
    ['/api/devices/', 'devices', "custodians = '{'", 'custodians of device'],
    [
      '/api/no-onboarding-configs/',
      'no_onboarding_configs',
      "protocols = '['",
      'protocols of noOnboardingConfig',
    ],
    ['/api/roles/', 'roles', "permissions = 'x'", 'permissions of role'],
    ['/api/webhooks/', 'webhooks', "events = ''", 'events of webhook'],
    ['/api/domains/', 'domains', "profiles = '[1,'", 'profiles of domain'],
    ['/api/issuing-cas/', 'issuing_cas', "chain = '-'", 'chain of issuingCa'],
  ] as const;
  for (const [list, table, damage, told] of kinds) {
    const before = ids(await api.get(list));
    // The newest record ends a page of one, the next one begins the page after it.
    const [id] = before;
    using database = new Database(path);
    database.run(`UPDATE ${table} SET ${damage} WHERE id = ?`, [id!]);
    const after = await api.get(list);
    expect([list, after.status]).toEqual([list, 200]);
    expect(ids(after)).not.toContain(id);
    expect(ids(after)).toEqual(expect.arrayContaining(before.slice(1)));
    const one = await api.get(`${list}${id}/`);
    expect([one.status, one.body.detail]).toEqual([500, `${told} ${id} in the store is damaged`]);
  }
  expect(site.log.entries.map(({ event }) => event)).toContain('a damaged record is omitted from a list');

  const first = await api.get('/api/devices/?limit=1');
  expect(first.body).toEqual([]);
  const next = /<(.*)>/.exec(first.headers.link ?? '')![1]!;
  expect((await api.get(next)).body.map(({ common_name }: { common_name: string }) => common_name)).toEqual([
    'b',
  ]);
});

test('a configuration with a damaged sealed secret is omitted, and the others are listed', async () => {
  const path = join(directory, 'sealed.db');
  const clock = testClock();
  await using site = await installation({ clock, store: await openSqliteStore({ path, clock }) });
  const api = await apiOf(site);
  await api.post('/api/devices/', { common_name: 'a' });
  const { body } = await api.post('/api/devices/', { common_name: 'b' });
  using database = new Database(path);
  database.run("UPDATE no_onboarding_configs SET est_password = x'00' WHERE id = ?", [
    body.no_onboarding_config,
  ]);
  const answer = await api.get('/api/no-onboarding-configs/');
  expect([answer.status, ids(answer)]).toEqual([200, [body.no_onboarding_config - 1]]);
});

test('a record that is stored soundly and says nonsense is left out of its list, and reading it names it', async () => {
  const path = join(directory, 'nonsense.db');
  const clock = testClock();
  await using site = await installation({ clock, store: await openSqliteStore({ path, clock }) });
  const api = await apiOf(site);
  const [{ id: ca }] = (await api.get('/api/issuing-cas/?issuing_ca_type=1')).body;
  await api.post('/api/truststores/', {
    unique_name: 'a',
    intended_usage: 2,
    trust_store_file: (await api.get(`/api/issuing-cas/${ca}/file/`)).text,
  });
  for (const name of ['a', 'b']) {
    await api.post('/api/devices/', { common_name: name });
    await api.post('/api/certificates/', { common_name: name });
    await api.post('/api/onboarding-configs/', {});
    await api.post('/api/tls/', { credential_type: 5, unique_name: name });
  }
  /** What no list shows is the matter of who reads the record. */
  const inLists = true;
  const kinds = [
    ['/api/devices/', 'devices', 'blocked_at = 9000000000000000', 'device', inLists],
    ['/api/certificates/', 'certificates', 'created_at = 9000000000000000', 'certificate', inLists],
    ['/api/onboarding-configs/', 'onboarding_configs', "idevid = x'00'", 'onboardingConfig', !inLists],
    ['/api/truststores/', 'truststores', `certificates = '["MAA="]'`, 'truststore', !inLists],
    ['/api/tls/', 'credentials', "certificate = x'3003020180'", 'credential', !inLists],
    [
      '/api/issuing-cas/',
      'issuing_cas',
      "certificate = x'00', created_at = 9000000000000000",
      'issuingCa',
      inLists,
    ],
  ] as const;
  for (const [list, table, damage, kind, isListed] of kinds) {
    const before = ids(await api.get(list));
    const [id] = before;
    using database = new Database(path);
    database.run(`UPDATE ${table} SET ${damage} WHERE id = ?`, [id!]);
    const after = await api.get(list);
    expect([list, after.status, ids(after)]).toEqual([list, 200, isListed ? before.slice(1) : before]);
    const one = await api.get(`${list}${id}/`);
    expect([one.status, one.body.detail]).toEqual([500, `${kind} ${id} in the store is damaged`]);
  }
  const logged = site.log.entries.filter(({ event }) => event === 'a damaged record is omitted from a list');
  expect(logged.map(({ fields }) => fields?.kind)).toEqual(['device', 'certificate', 'issuingCa']);
  const table = await api.get('/api/certificates/?format=csv');
  expect([table.status, table.text.split('\r\n').length]).toEqual([
    200,
    ids(await api.get('/api/certificates/')).length + 2,
  ]);
});
