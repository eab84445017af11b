import { expect, test } from 'bun:test';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const day = 24 * 3_600_000;

/** Returns the CA events of the next maintenance: `name threshold`. */
async function told({ gateway, store }: Installation, after: { seen: number }): Promise<string[]> {
  await gateway.maintain('here');
  const where = [
    { field: 'event', is: 'equal', value: 'ca.expiring' } as const,
    { field: 'id', is: 'greater', value: after.seen } as const,
  ];
  const { records } = await store.list('webhookDelivery', { where, limit: 100 });
  after.seen = records[0]?.id ?? after.seen;
  return records.map(({ data }) => `${data.unique_name} ${data.days}`).sort();
}

const hook = ({ gateway, admin }: Installation, events: readonly string[] = ['ca.expiring']) =>
  gateway.webhooks.create(admin, {
    uniqueName: 'tickets',
    url: 'https://x.example/',
    events: events as readonly 'ca.expiring'[],
  });

test('a CA that expires is reported once at each threshold, starting at ca_warning_days', async () => {
  await using site = await installation();
  const { gateway, admin, clock, store } = site;
  const after = { seen: 0 };
  const create = (uniqueName: string, validity: string) =>
    gateway.issuingCas.create(admin, { uniqueName, type: 1, validity });
  const { id, certificate } = await create('short', 'P1Y');
  await create('idle', 'P1Y');
  await create('long', 'P3Y');
  await gateway.domains.update(admin, 1, { issuingCa: id });
  const idle = (await store.find('issuingCa', { uniqueName: 'idle' }))!;
  await gateway.issuingCas.deactivate(admin, idle.id);
  await hook(site);
  expect(await told(site, after)).toEqual([]);

  clock.advance((365 - 179) * day);
  expect(await told(site, after)).toEqual(['short 180']);
  const [delivery] = (await store.list('webhookDelivery', { limit: 1 })).records;
  expect(delivery).toMatchObject({
    object: id,
    data: { subject: expect.stringContaining('CN='), domains: 'default', key: 'local' },
  });
  expect(certificate.length).toBeGreaterThan(0);
  expect(await told(site, after)).toEqual([]);
  clock.advance(150 * day);
  expect(await told(site, after)).toEqual(['short 30']);
  // The threshold of 7 days passed unnoticed: only the nearest one is reported.
  clock.advance(28 * day + day / 2);
  expect(await told(site, after)).toEqual(['short 1']);
  clock.advance(30 * day);
  expect(await told(site, after)).toEqual([]);
});

test('CA events are not recorded without a webhook, and a new webhook gets the nearest threshold', async () => {
  await using site = await installation();
  const { gateway, admin, clock, store } = site;
  const after = { seen: 0 };
  await gateway.issuingCas.create(admin, { uniqueName: 'short', type: 1, validity: 'P30D' });
  await hook(site, ['certificate.revoked']);
  clock.advance(10 * day);
  expect(await told(site, after)).toEqual([]);
  expect(await store.find('setting', { name: 'ca-expiry-notices' })).toBeUndefined();
  const { id } = (await store.find('webhook', { uniqueName: 'tickets' }))!;
  await gateway.webhooks.update(admin, id, { events: [] });
  expect(await told(site, after)).toEqual(['short 30']);
});
