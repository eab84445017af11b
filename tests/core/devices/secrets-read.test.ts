import { expect, test } from 'bun:test';
import { apiAs, apiOf } from '#tests/fixtures/api.ts';
import { installation } from '#tests/fixtures/installation.ts';

test("reading a device's secrets leaves an audit event, whichever way they are read", async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: device } = await api.post('/api/devices/', { common_name: 'pump' });
  const { body: other } = await api.post('/api/devices/', { common_name: 'valve' });
  const config = device.no_onboarding_config;
  const path = `/api/no-onboarding-configs/${config}/`;
  const { body: spare } = await api.post('/api/no-onboarding-configs/', {});
  const events = async () =>
    (await site.audit('device.readSecrets')).map(({ actor, object, detail }) => [actor.name, object, detail]);
  expect(await events()).toEqual([]);

  await api.get(path);
  await api.patch(path, { protocols: ['est'] });
  await api.get(`/api/devices/${device.id}/commands/`);
  await api.get(`/api/no-onboarding-configs/${spare.id}/`);
  await api.get('/api/no-onboarding-configs/');
  const configurations = `${spare.id} ${other.no_onboarding_config} ${config}`;
  const expected = [
    ['admin', `device:${device.id}`, {}],
    ['admin', `device:${device.id}`, {}],
    ['admin', `device:${device.id}`, {}],
    ['admin', `noOnboardingConfig:${spare.id}`, {}],
    ['admin', 'noOnboardingConfig', { count: 3, configurations }],
  ];
  expect(await events()).toEqual(expected);

  // An account that may read no secrets is not recorded.
  const reader = await apiAs(site, 'Default');
  expect((await reader.get(path)).body.est_password).toBeNull();
  await reader.get('/api/no-onboarding-configs/');
  await reader.get(`/api/devices/${device.id}/commands/`);
  await api.patch(path, { est_password: null, cmp_shared_secret: null });
  await api.get(path);
  expect(await events()).toEqual(expected);
});

test('secrets are not shown while the audit trail cannot be written', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: device } = await api.post('/api/devices/', { common_name: 'pump' });
  site.store.commit = () => Promise.reject(new Error('no space left'));
  const answer = await api.get(`/api/no-onboarding-configs/${device.no_onboarding_config}/`);
  expect([answer.status, answer.text.includes('est_password')]).toEqual([500, false]);
});
