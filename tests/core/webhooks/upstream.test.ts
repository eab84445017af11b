import { expect, test } from 'bun:test';
import { answer } from '#tests/fixtures/est-upstream.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { plant, pumpRequest } from '#tests/fixtures/plant.ts';

test('an upstream CA that rejects a request is reported, and so is the certificate that it issues later', async () => {
  await using one = await plant();
  const { gateway, admin, store, clock } = one.service;
  await gateway.webhooks.create(admin, { uniqueName: 'tickets', url: 'https://tickets.example/' });
  const wish = pumpRequest(testKey('p-256'));
  one.upstream.always(() => answer(403, 'not in this plant'));
  await one.ask(wish).catch(() => {});
  one.upstream.always(undefined);
  clock.advance(3_600_000);
  expect((await one.ask(wish)).kind).toBe('issued');
  const { records } = await store.list('webhookDelivery', { limit: 10 });
  const [certificate] = (await store.list('certificate', { limit: 1 })).records;
  const requests = (await one.requests()).map(({ id }) => id);
  expect(records).toMatchObject([
    { event: 'certificate.issued', object: certificate!.id, data: { subject: 'CN=pump-1' } },
    { event: 'upstream.failed', data: { code: 'forbidden', subject: 'CN=pump-1' } },
  ]);
  expect(requests).toContain(records[1]!.object!);
});
