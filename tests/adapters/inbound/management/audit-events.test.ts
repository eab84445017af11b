import { afterAll, beforeAll, expect, test } from 'bun:test';
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

test('an event says who did what to what', async () => {
  const { body } = await api.get('/api/audit-events/?action=device.create&limit=1');
  expect(body).toEqual([
    {
      id: expect.any(Number),
      created_at: '2026-06-02T12:00:00.000',
      actor: { kind: 'user', id: 1, name: 'admin', address: '192.0.2.1' },
      action: 'device.create',
      object: 'device:2',
      outcome: 'success',
      detail: {},
      chain: expect.any(String),
      sequence: expect.any(Number),
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
  ['outcome=refused&actor=192.0.2.9&search=credentials', ['']],
])('%s finds %j', async (query, objects) => {
  const { body } = await api.get(`/api/audit-events/?${query}`);
  expect(body.map(({ object }: { object: string }) => object)).toEqual(objects);
});

test.each(['from=yesterday', 'to=2026-13-01', 'ordering=detail'])('%s is refused', async (query) => {
  const { status, body } = await api.get(`/api/audit-events/?${query}`);
  expect([status, Object.keys(body)]).toEqual([400, [query.split('=')[0]!]]);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nobody can %s an event', async (method) => {
  expect((await api.call(method, '/api/audit-events/1/', { body: {} })).status).toBe(405);
});

test('the trail is verified as a whole, for those who may read it', async () => {
  const path = '/api/audit-events/verification/';
  const { body: intact } = await api.get(path);
  expect(intact).toMatchObject({ is_intact: true, chains: 1, problems: [] });
  expect(intact.events).toBeGreaterThan(3);
  const { body: role } = await api.post('/api/roles/', { unique_name: 'Blind', permissions: [] });
  await api.post('/api/users/', { username: 'jo', password: 'a long password', role: role.id });
  expect((await (await api.as('jo', 'a long password')).get(path)).status).toBe(403);
});
