import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { audit } from '#core/audit/record.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  await api.post('/api/devices/', { common_name: 'pump-1' });
  site.clock.advance(24 * 3_600_000);
  await site.gateway.accounts.signIn('admin', 'wrong password', '192.0.2.9').catch(() => {});
  api = await apiOf(site);
  await api.post('/api/devices/', { common_name: 'pump-2' });
});
afterAll(() => site[Symbol.asyncDispose]());

test('an event names actor, action and object', async () => {
  const { body } = await api.get('/api/audit-events/?action=device.create&limit=1');
  expect(body).toEqual([
    {
      id: expect.any(Number),
      created_at: '2026-06-02T12:00:00.000',
      actor: { kind: 'user', id: 1, name: 'admin', address: '192.0.2.1' },
      action: 'device.create',
      object: 'device:2',
      object_name: 'pump-2',
      outcome: 'success',
      detail: {},
      chain: expect.any(String),
      sequence: expect.any(Number),
      request_id: null,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  expect((await api.get(`/api/audit-events/${body[0].id}/`)).body).toEqual(body[0]);
});

test.each([
  ['action=device.create', ['device:2', 'device:1']],
  ['object=device:1', ['device:1']],
  ['action=device.create&from=2026-06-02', ['device:2']],
  ['action=device.create&from=2026-06-01&to=2026-06-01', ['device:1']],
  ['action=device.create&to=2026-06-01T11:59:59', []],
  ['action=device.create&ordering=created_at', ['device:1', 'device:2']],
  ['action=device.create&actor=admin', ['device:2', 'device:1']],
  ['action=device.create&actor=192.0.2.1', ['device:2', 'device:1']],
  ['action=device.create&actor=192.0.2', []],
  ['outcome=refused&actor=unknown', ['']],
  ['outcome=failed,refused&actor=unknown', ['']],
  ['outcome=refused&actor=192.0.2.9&search=credentials', ['']],
])('%s finds %j', async (query, objects) => {
  const { body } = await api.get(`/api/audit-events/?${query}`);
  expect(body.map(({ object }: { object: string }) => object)).toEqual(objects);
});

test.each(['from=yesterday', 'to=2026-13-01', 'ordering=detail', 'outcome=fine'])(
  '%s is rejected',
  async (query) => {
    const { status, body } = await api.get(`/api/audit-events/?${query}`);
    expect([status, Object.keys(body)]).toEqual([400, [query.split('=')[0]!]]);
  },
);

test('a name is shown only to accounts that may see the record', async () => {
  const { body: role } = await api.post('/api/roles/', {
    unique_name: 'Auditor 2',
    permissions: ['audit.read'],
  });
  await api.post('/api/users/', { username: 'mo', password: 'a long password', role: role.id });
  const { body } = await (await api.as('mo', 'a long password')).get(
    '/api/audit-events/?action=device.create&limit=1',
  );
  expect(body[0]).toMatchObject({ object: 'device:2', object_name: null });
});

test('events of one kind of object are listed', async () => {
  const { body } = await api.get('/api/audit-events/?object_kind=device');
  expect(body.map(({ object }: { object: string }) => object)).toEqual(['device:2', 'device:1']);
  expect((await api.get('/api/audit-events/?object_kind=device:1')).status).toBe(400);
});

describe('the export of audit events', () => {
  test('has every matching event, on any number of pages, as CSV with the members of the actor', async () => {
    const { headers, text } = await api.get('/api/audit-events/?action=device.create&format=csv&limit=1');
    expect(headers['content-disposition']).toBe('attachment; filename="audit-events.csv"');
    const [header, ...rows] = text.trimEnd().split('\r\n');
    expect(header).toBe(
      'id,created_at,actor_kind,actor_id,actor_name,actor_address,action,object,object_name,outcome,detail,chain,sequence,request_id,hash',
    );
    expect(rows.map((row) => row.split(',').slice(2, 10))).toEqual([
      ['user', '1', 'admin', '192.0.2.1', 'device.create', 'device:2', 'pump-2', 'success'],
      ['user', '1', 'admin', '192.0.2.1', 'device.create', 'device:1', 'pump-1', 'success'],
    ]);
  });

  test('has one object per line as JSON lines', async () => {
    const { headers, text } = await api.get('/api/audit-events/?action=device.create&format=jsonl');
    expect(headers['content-type']).toBe('application/jsonl; charset=utf-8');
    const { body } = await api.get('/api/audit-events/?action=device.create');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(body);
  });

  test('continues past the records that are read at once', async () => {
    await site.store.commit(
      Array.from({ length: 2100 }, () =>
        audit(site, site.admin.actor, { action: 'webhook.test', object: '' }),
      ),
    );
    const { text } = await api.get('/api/audit-events/?action=webhook.test&format=csv');
    expect(text.trimEnd().split('\r\n')).toHaveLength(2101);
  });

  test('is rejected in an unknown format', async () => {
    const { status, body } = await api.get('/api/audit-events/?format=xml');
    expect([status, body]).toEqual([400, { format: ['one of json, csv, jsonl is expected'] }]);
  });
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nobody can %s an event', async (method) => {
  expect((await api.call(method, '/api/audit-events/1/', { body: {} })).status).toBe(405);
});

test('the complete trail can be verified by accounts that may read it', async () => {
  const path = '/api/audit-events/verification/';
  const { body: intact } = await api.get(path);
  expect(intact).toMatchObject({ is_intact: true, chains: 1, problems: [] });
  expect(intact.events).toBeGreaterThan(3);
  const { body: role } = await api.post('/api/roles/', { unique_name: 'Blind', permissions: [] });
  await api.post('/api/users/', { username: 'jo', password: 'a long password', role: role.id });
  expect((await (await api.as('jo', 'a long password')).get(path)).status).toBe(403);
});
