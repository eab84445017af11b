import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { CmpClient, cmpServer, cr, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

let site: Installation;
let api: Api;
let device: number;
let opened: CmpClient;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  const { device: record } = await site.device('pump-1');
  device = record.id;
  const { body } = await api.get(`/api/no-onboarding-configs/${record.noOnboardingConfig}/`);
  const { mount } = cmpServer(site.gateway, site.clock);
  const credential = { reference: 'pump-1', secret: body.cmp_shared_secret as string };
  const request = crmf(testKey('p-256'));
  opened = new CmpClient(mount, credential);
  issued(await opened.send(ir(request), { path: '/p/~tls_client' }));
  issued(await new CmpClient(mount, credential).send(cr(request), { implicitConfirm: true }));
});
afterAll(() => site[Symbol.asyncDispose]());

test('a transaction shows its state and no message contents', async () => {
  const { body } = await api.get('/api/transactions/?state=waiting');
  const { body: certificates } = await api.get('/api/certificates/?ordering=id');
  expect(body).toEqual([
    {
      id: expect.any(Number),
      created_at: '2026-06-01T12:00:00.000',
      transaction_id: Buffer.from(opened.transactionID).toString('hex').toUpperCase(),
      operation: 'ir',
      state: 'waiting',
      expires_at: '2026-06-01T12:10:00.000',
      device,
      domain: 1,
      cert_profile: 'tls_client',
      certificate: certificates.at(-2).id,
    },
  ]);
  expect((await api.get(`/api/transactions/${body[0].id}/`)).body).toEqual(body[0]);
});

test.each([
  ['state=done', ['cr']],
  ['operation=ir', ['ir']],
  ['device=99', []],
  ['ordering=operation', ['cr', 'ir']],
  ['ordering=-operation', ['ir', 'cr']],
  ['search=waiting', []],
  ['from=2026-06-02', []],
])('%s finds %j', async (query, operations) => {
  const { body } = await api.get(`/api/transactions/?${query}`);
  expect(body.map(({ operation }: { operation: string }) => operation)).toEqual(operations);
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nobody can %s a transaction', async (method) => {
  const path = method === 'POST' ? '/api/transactions/' : '/api/transactions/1/';
  expect((await api.call(method, path, { body: {} })).status).toBe(405);
});
