import { expect, test } from 'bun:test';
import { apiOf } from '#tests/fixtures/api.ts';
import { installation } from '#tests/fixtures/installation.ts';

const day = 24 * 3_600_000;

test('health warns of an issuing CA that shortens certificates or expires soon, and names the fix', async () => {
  await using site = await installation();
  const { gateway, admin, clock } = site;
  const issuing = async () => (await gateway.health()).issuing;
  expect(await issuing()).toEqual({ ok: true });

  const create = (uniqueName: string, validity: string) =>
    gateway.issuingCas.create(admin, { uniqueName, type: 1, validity });
  const ca = await create('short', 'P1Y6M');
  await gateway.domains.update(admin, 1, { issuingCa: ca.id });
  // domain_credential is valid for two years.
  const warnings = async () => Object.fromEntries(await gateway.issuingCas.endings(admin));
  expect(await warnings()).toEqual({ [ca.id]: 'shortens certificates' });
  const shortened = await issuing();
  expect(shortened?.ok).toBe(false);
  expect(shortened?.detail).toMatch(
    /^the issuing CA "short" \(id 3\) expires on \d{4}-\d\d-\d\d, in 54\d days, so certificates of domain_credential are shortened to that date: create a successor \(POST \/api\/issuing-cas\/\) and assign it to default$/,
  );

  const long = await create('long', 'P4Y');
  await gateway.domains.update(admin, 1, { issuingCa: long.id, profiles: [] });
  expect(await issuing()).toEqual({ ok: true });
  clock.advance(4 * 365 * day - 170 * day);
  expect((await issuing())?.detail).toContain('expires on');
  expect(await warnings()).toMatchObject({ [ca.id]: 'expired', [long.id]: 'expires soon' });
  await gateway.settings.change(admin, { caWarningDays: 100 });
  expect(await issuing()).toEqual({ ok: true });

  clock.advance(200 * day);
  expect((await issuing())?.detail).toContain('expired on');
  // Other gateways have the same CA: this one stays ready.
  expect((await (await apiOf(site)).anonymous.get('/api/health/')).status).toBe(200);
  const families = await gateway.metrics(admin);
  const family = families.find(({ name }) => name === 'postern_ca_expires_in_seconds');
  const seconds = new Map(family?.samples.map(({ labels, value }) => [labels.ca, value]));
  expect(seconds.get('long')).toBeLessThan(0);
  expect(seconds.get('issuing')).toBeGreaterThan(5 * 365 * 86_400);
});
