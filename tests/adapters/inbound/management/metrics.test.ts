import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { apiOf } from '#tests/fixtures/api.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

/** `name{labels} value` → value, without the number of the worker. */
function read(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const match = /^([a-z_]+(?:\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/.exec(line);
    if (!match) throw new Error(`not a sample: ${line}`);
    const name = match[1]!.replace(/,?worker="\d+"/, '').replace('{}', '');
    samples.set(name, Number(match[2]));
  }
  return samples;
}

test('enrolments are counted by protocol, domain, operation and outcome, and their time is measured', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { password: secret } = await site.device('pump');
  const key = testKey('p-256');
  await site.enrol(password('pump', secret), {}, request(key, 'CN=pump'));
  await site.enrol(password('pump', 'wrong'), {}, request(key, 'CN=pump')).catch(() => {});
  await site.enrol(password('pump', secret), {}, request(key, 'CN=pump'), 'renew').catch(() => {});
  await site.enrol(password('pump', secret), { domain: 'made up' }, request(key, 'CN=pump')).catch(() => {});
  const { headers, text } = await api.get('/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const samples = read(text);
  const enrolments = [...samples].filter(([name]) => name.startsWith('postern_enrolments_total'));
  expect(Object.fromEntries(enrolments)).toEqual({
    'postern_enrolments_total{protocol="est",domain="default",operation="enrol",outcome="issued"}': 1,
    'postern_enrolments_total{protocol="est",domain="default",operation="renew",outcome="refused"}': 1,
    'postern_enrolments_total{protocol="est",domain="",operation="admit",outcome="refused"}': 2,
  });
  const seconds = [...samples].filter(([name]) => /^postern_enrolment_seconds_count|le="\+Inf"/.test(name));
  const [issued, refused] = [
    'protocol="est",operation="enrol",outcome="issued"',
    'protocol="est",operation="renew",outcome="refused"',
  ];
  expect(Object.fromEntries(seconds)).toEqual({
    [`postern_enrolment_seconds_count{${issued}}`]: 1,
    [`postern_enrolment_seconds_bucket{${issued},le="+Inf"}`]: 1,
    [`postern_enrolment_seconds_count{${refused}}`]: 1,
    [`postern_enrolment_seconds_bucket{${refused},le="+Inf"}`]: 1,
  });
  expect(samples.get('postern_certificates_expiring_within{days="90"}')).toBeNumber();
});

test('the age of CRLs and the health of dependencies are metrics', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  await site.gateway.maintain('test');
  site.clock.advance(60_000);
  const samples = read((await api.get('/metrics')).text);
  expect(samples.get('postern_crl_age_seconds{ca="issuing"}')).toBe(60);
  expect(samples.get('postern_crl_expires_in_seconds{ca="root"}')).toBe(7 * 86_400 - 60);
  expect(samples.get('postern_healthy{part="store"}')).toBe(1);
  expect(samples.get('postern_healthy{part="keys.default"}')).toBe(1);
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
});

test('a name with quotes is escaped', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  await api.post('/api/domains/', { unique_name: 'a"b' });
  const { body: domains } = await api.get('/api/domains/?search=a');
  const { password: secret } = await site.device(
    'pump',
    domains.find((d: { unique_name: string }) => d.unique_name === 'a"b').id,
  );
  await site.enrol(password('pump', secret), { domain: 'a"b' }, request(testKey('p-256'), 'CN=pump'));
  expect((await api.get('/metrics')).text).toContain('domain="a\\"b",operation="enrol",outcome="issued"');
});

describe('the scrape token of the configuration', () => {
  const scrapeToken = 'b0'.repeat(32);
  const scrape = (token: string) => ({ authorization: `Bearer ${token}` });
  const withToken = async (site: Installation, token?: string) => {
    const gateway = await site.restarted(token === undefined ? {} : { scrapeToken: token });
    return (await apiOf({ ...site, gateway })).anonymous;
  };

  test('opens /metrics and nothing else', async () => {
    await using site = await installation();
    const api = await withToken(site, scrapeToken);
    for (const path of ['/metrics', '/metrics/']) {
      const { status, text } = await api.get(path, scrape(scrapeToken));
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('postern_healthy{part="store"} 1\n');
    }
    for (const path of ['/api/devices/', '/api/me/', '/api/metrics', '/api/audit-events/'])
      expect([path, (await api.get(path, scrape(scrapeToken))).status]).toEqual([
        path,
        path === '/api/metrics' ? 404 : 401,
      ]);
  });

  test.each([
    ['another one', 'b1'.repeat(32)],
    ['the beginning of it', scrapeToken.slice(0, -1)],
    ['more than it', `${scrapeToken}0`],
    ['another case', scrapeToken.toUpperCase()],
  ])('%s is rejected', async (_, token) => {
    await using site = await installation();
    const api = await withToken(site, scrapeToken);
    expect((await api.get('/metrics', scrape(token))).status).toBe(401);
    expect((await api.get(`/metrics?token=${scrapeToken}`)).status).toBe(401);
  });

  test('opens nothing if it is not configured', async () => {
    await using site = await installation();
    const api = await withToken(site);
    for (const token of [scrapeToken, 'undefined'])
      expect((await api.get('/metrics', scrape(token))).status).toBe(401);
  });
});

test('the result of the last verification of the audit trail is a metric', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-metrics-'));
  const path = join(directory, 'store.db');
  const clock = testClock();
  {
    await using site = await installation({ store: await openSqliteStore({ path, clock }), clock });
    const api = await apiOf(site);
    const verified = async () => {
      const samples = read((await api.get('/metrics')).text);
      return ['postern_audit_intact', 'postern_audit_verified_seconds'].map((name) => samples.get(name));
    };
    expect(await verified()).toEqual([undefined, undefined]);
    await site.gateway.auditEvents.verify(site.admin);
    expect(await verified()).toEqual([1, clock.now() / 1000]);
    {
      using db = new Database(path);
      db.run('drop trigger audit_events_update');
      db.run("update audit_events set outcome = 'failed' where id = 2");
    }
    clock.advance(60_000);
    await site.gateway.auditEvents.verify(site.admin);
    expect(await verified()).toEqual([0, clock.now() / 1000]);
  }
  rmSync(directory, { recursive: true });
});
