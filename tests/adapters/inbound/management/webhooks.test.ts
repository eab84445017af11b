import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';
import { isSigned, receiver } from '#tests/fixtures/webhook-receiver.ts';

let site: Installation;
let api: Api;
beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const deliver = async (site: Installation): Promise<void> => {
  await site.gateway.deliver('here', new AbortController().signal);
  await site.gateway.delivered();
};

test('a webhook is created, tested and gets another secret; its receiver verifies each message', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  await using there = await receiver();
  const { status, body: made } = await api.post('/api/webhooks/', { unique_name: 'tickets', url: there.url });
  expect(status).toBe(201);
  expect(made).toMatchObject({ events: [], is_active: true, truststore: null });
  const one = `/api/webhooks/${made.id}/`;
  expect((await api.get(one)).body.signing_secret).toBeNull();
  const sent = await api.call('POST', `${one}test/`);
  expect([sent.status, sent.body]).toEqual([202, expect.objectContaining({ state: 'pending', attempts: 0 })]);
  await deliver(site);
  expect(there.received).toHaveLength(1);
  expect(isSigned(there.received[0]!, made.signing_secret)).toBe(true);
  expect(there.received[0]!.told).toMatchObject({ type: 'webhook.test', data: { webhook: 'tickets' } });

  const { body: rotated } = await api.call('POST', `${one}rotate/`);
  await api.call('POST', `${one}test/`);
  await deliver(site);
  expect(isSigned(there.received[1]!, rotated.signing_secret)).toBe(true);
  expect(isSigned(there.received[1]!, made.signing_secret)).toBe(false);
  const actions = (await site.audit())
    .map(({ action }) => action)
    .filter((name) => name.startsWith('webhook'));
  expect(actions).toEqual(['webhook.create', 'webhook.test', 'webhook.rotate', 'webhook.test']);
});

test('deliveries are listed by state, and failed ones can be sent again', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  await using there = await receiver();
  const { body: hook } = await api.post('/api/webhooks/', {
    unique_name: 'failing',
    url: there.url,
    events: ['certificate.issued'],
  });
  there.answer = (response) => response.writeHead(503).end();
  const { body: certificate } = await api.post('/api/certificates/', { common_name: 'told of' });
  const before = there.received.length;
  await deliver(site);
  const { body: pending } = await api.get('/api/webhook-deliveries/?state=pending');
  expect(pending).toMatchObject([
    {
      webhook: hook.id,
      event: 'certificate.issued',
      attempts: 1,
      last_status: 503,
      last_error: 'answered 503',
    },
  ]);
  expect(pending[0].next_attempt_at).toMatch(/^2026-06-01T12:00:0[456]\.\d{3}$/);
  expect(pending[0].body).toBeUndefined();
  const { id } = pending[0];
  await site.store.commit([{ op: 'update', kind: 'webhookDelivery', id, set: { attempts: 9, dueAt: 1 } }]);
  await deliver(site);
  expect((await api.get('/api/webhook-deliveries/?state=pending')).body).toEqual([]);
  expect((await api.get('/api/webhook-deliveries/?state=dead')).body).toMatchObject([
    { id, attempts: 10, next_attempt_at: null, delivered_at: null },
  ]);
  expect((await api.get('/metrics')).text).toMatch(/^postern_webhook_deliveries\{state="dead".*\} 1$/m);

  there.answer = (response) => response.writeHead(200).end('thank you');
  expect((await api.call('POST', `/api/webhook-deliveries/${id}/redeliver/`)).status).toBe(202);
  await deliver(site);
  const { body: delivered } = await api.get(`/api/webhook-deliveries/${id}/`);
  expect(delivered).toMatchObject({ state: 'delivered', attempts: 1, last_status: 200 });
  const messages = there.received.slice(before);
  expect(messages.map(({ body }) => body)).toEqual([delivered.body, delivered.body, delivered.body]);
  expect(new Set(messages.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set([delivered.webhook_id]),
  );
  expect(messages[0]!.told.data).toMatchObject({ id: certificate.id, common_name: 'told of' });
});

test.each([
  [{ url: 'http://169.254.169.254/latest/meta-data' }, 'url'],
  [{ url: 'http://[fe80::1]/' }, 'url'],
  [{ url: 'https://user:secret@tickets.example/' }, 'url'],
  [{ url: 'file:///etc/passwd' }, 'url'],
  [{ url: '' }, 'url'],
  [{ events: ['certificate.made'] }, 'events'],
  [{ events: ['certificate.issued', 'certificate.issued'] }, 'events'],
  [{ truststore: 999_999 }, 'truststore'],
  [{ secret: 'mine' }, 'secret'],
  [{ handle: 'mine' }, 'handle'],
])('%j is rejected at %s', async (changes, field) => {
  const input = { unique_name: 'refused', url: 'https://tickets.example/', ...changes };
  const { status, body } = await api.post('/api/webhooks/', input);
  expect([status, Object.keys(body)]).toEqual([400, [field]]);
});

test('the truststore of a webhook cannot be deleted and must be one for TLS', async () => {
  const { body: credentials } = await api.get('/api/tls/?credential_type=0');
  const { body: credential } = await api.get(`/api/tls/${credentials[0].id}/`);
  const truststore = async (unique_name: string, intended_usage: number): Promise<number> =>
    (await api.post('/api/truststores/', { unique_name, intended_usage, trust_store_file: credential.pem }))
      .body.id;
  const [idevid, tls] = [await truststore('makers', 0), await truststore('receivers', 1)];
  const input = { unique_name: 'trusting', url: 'https://tickets.example/' };
  expect((await api.post('/api/webhooks/', { ...input, truststore: idevid })).status).toBe(400);
  expect((await api.post('/api/webhooks/', { ...input, truststore: tls })).status).toBe(201);
  expect((await api.remove(`/api/truststores/${tls}/`)).status).toBe(409);
});
