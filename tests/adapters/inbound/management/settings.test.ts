import { describe, expect, test } from 'bun:test';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiOf } from '#tests/fixtures/api.ts';
import { adminPassword, installation } from '#tests/fixtures/installation.ts';

const usual = {
  access_token_seconds: 900,
  refresh_token_seconds: 86_400,
  ca_warning_days: 180,
  expiry_warning_days: 30,
  log_retention_days: null,
  webhook_warn_days: [30, 7, 1],
  webhook_hosts: [],
  security_level: 'brownfield',
};

test('settings have defaults, and changes are stored', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  expect((await api.get('/api/settings/')).body).toEqual(usual);
  const { status, body } = await api.patch('/api/settings/', { expiry_warning_days: 7 });
  expect([status, body]).toEqual([200, { ...usual, expiry_warning_days: 7 }]);
  await using elsewhere = await installation({ store: site.store, clock: site.clock });
  const there = await apiOf(elsewhere);
  await there.patch('/api/settings/', { log_retention_days: 90 });
  expect((await api.get('/api/settings/')).body).toEqual({
    ...usual,
    expiry_warning_days: 7,
    log_retention_days: 90,
  });
  expect((await site.audit('settings.update')).map(({ detail }) => detail)).toEqual([
    { expiryWarningDays: 7 },
    { logRetentionDays: 90 },
  ]);
});

test('concurrent changes to different settings are all stored', async () => {
  await using site = await installation();
  await using other = await installation({ store: site.store, clock: site.clock });
  const [here, there] = [await apiOf(site), await apiOf(other)];
  const answers = await Promise.all([
    here.patch('/api/settings/', { expiry_warning_days: 7 }),
    there.patch('/api/settings/', { access_token_seconds: 60 }),
    here.patch('/api/settings/', { log_retention_days: 5 }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await here.get('/api/settings/')).body).toEqual({
    ...usual,
    expiry_warning_days: 7,
    access_token_seconds: 60,
    log_retention_days: 5,
  });
});

test.each([
  [{ access_token_seconds: 59 }, 'access_token_seconds'],
  [{ access_token_seconds: 1.5 }, 'access_token_seconds'],
  [{ access_token_seconds: null }, 'access_token_seconds'],
  [{ refresh_token_seconds: 2_592_001 }, 'refresh_token_seconds'],
  [{ access_token_seconds: 4000, refresh_token_seconds: 3600 }, 'refresh_token_seconds'],
  [{ expiry_warning_days: '7' }, 'expiry_warning_days'],
  [{ log_retention_days: 0 }, 'log_retention_days'],
  [{ webhook_warn_days: [7, 7] }, 'webhook_warn_days'],
  [{ webhook_warn_days: [0] }, 'webhook_warn_days'],
  [{ webhook_hosts: ['https://tickets.example'] }, 'webhook_hosts'],
  [{ webhook_hosts: ['*'] }, 'webhook_hosts'],
  [{ debug: true }, 'debug'],
])('%j is rejected at %s, and nothing changes', async (changes, field) => {
  await using site = await installation();
  const api = await apiOf(site);
  const { status, body } = await api.patch('/api/settings/', { expiry_warning_days: 9, ...changes });
  expect([status, Object.keys(body)]).toEqual([400, [field]]);
  expect((await api.get('/api/settings/')).body).toEqual(usual);
});

describe('each setting takes effect:', () => {
  test('access_token_seconds and refresh_token_seconds', async () => {
    await using site = await installation();
    const api = await apiOf(site);
    await api.patch('/api/settings/', { access_token_seconds: 60, refresh_token_seconds: 120 });
    const credentials = { username: 'admin', password: adminPassword };
    const short = await api.as('admin', adminPassword);
    const { body: pair } = await api.anonymous.post('/api/token/', credentials);
    site.clock.advance(61_000);
    expect((await short.get('/api/settings/')).status).toBe(401);
    const { status, body: next } = await api.anonymous.post('/api/token/refresh/', { refresh: pair.refresh });
    expect(status).toBe(200);
    site.clock.advance(121_000);
    expect((await api.anonymous.post('/api/token/refresh/', { refresh: next.refresh })).status).toBe(401);
  });

  test('expiry_warning_days', async () => {
    await using site = await installation();
    const api = await apiOf(site);
    const expiring = async () =>
      / (\d+)\n/.exec((await api.get('/metrics')).text.split('postern_certificates_expiring{')[1]!)![1];
    expect(await expiring()).toBe('0');
    await api.patch('/api/settings/', { expiry_warning_days: 3650 });
    expect(Number(await expiring())).toBeGreaterThan(0);
  });

  test('log_retention_days', async () => {
    await using site = await installation();
    const api = await apiOf(site);
    const old = 'postern-20260501T000000000Z.log';
    const young = 'postern-20260531T000000000Z.log';
    for (const [name, daysAgo] of [
      [old, 31],
      [young, 1],
      ['postern.log', 31],
    ] as const) {
      const path = join(site.logDirectory, name);
      writeFileSync(path, '{}\n');
      const time = site.clock.now() / 1000 - daysAgo * 86_400;
      utimesSync(path, time, time);
    }
    await site.gateway.maintain('test');
    expect((await api.get('/api/logging/list_files/')).body).toHaveLength(3);
    await api.patch('/api/settings/', { log_retention_days: 30 });
    await site.gateway.maintain('test');
    const { body } = await api.get('/api/logging/list_files/');
    expect(body.map(({ name }: { name: string }) => name)).toEqual([young, 'postern.log']);
  });
});
