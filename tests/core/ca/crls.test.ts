import { expect, test } from 'bun:test';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

async function caWithCrl({ store, gateway, admin }: Installation): Promise<number> {
  const domain = await store.find('domain', { uniqueName: 'default' });
  const ca = domain!.issuingCa!;
  await gateway.issuingCas.generateCrl(admin, ca);
  return ca;
}

test('everybody who asks for a CRL gets the same octets, not a copy each', async () => {
  await using site = await installation();
  const ca = await caWithCrl(site);
  const first = await site.gateway.crl(ca);
  expect(await site.gateway.crl(ca)).toBe(first);
  site.clock.advance(60_000);
  expect(await site.gateway.crl(ca)).toBe(first);
});

test('a new CRL is what is given out from then on, and at other instances within a second', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  const ca = await caWithCrl(one);
  const before = await one.gateway.crl(ca);
  expect(await two.gateway.crl(ca)).toEqual(before);
  await one.gateway.issuingCas.generateCrl(one.admin, ca);
  const after = await one.gateway.crl(ca);
  expect(after).not.toEqual(before);
  one.clock.advance(1000);
  expect(await two.gateway.crl(ca)).toEqual(after);
});
