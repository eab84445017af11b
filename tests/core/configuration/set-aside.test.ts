import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { decodePem } from '#adapters/wire/pem.ts';
import type { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import { proven } from '#core/x509/facts.ts';
import { apiOf } from '#tests/fixtures/api.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { caExtensions, outsideCa, selfSigned } from '#tests/fixtures/outside-ca.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;

interface Site extends Installation {
  /** Writes to the database without the service. */
  sql(...statements: readonly string[]): void;
}

async function siteOnFile(): Promise<Site> {
  const path = join(directory, `${files++}.db`);
  const clock = testClock();
  const site = await installation({ clock, store: await openSqliteStore({ path, clock }) });
  return Object.assign(site, {
    sql(...statements: readonly string[]) {
      using database = new Database(path);
      for (const one of statements) expect(database.run(one).changes).toBeGreaterThan(0);
      database.run('UPDATE change_counter SET value = value + 1');
      clock.advance(2000);
    },
  });
}

const key = testKey('p-256');

async function enrol(gateway: Gateway, name: string, secret: string, domain = 'default'): Promise<string> {
  const target = { protocol: 'est', domain, profile: undefined } as const;
  const requester = await gateway.admit(password(name, secret), target);
  const der = request(key, `CN=${name}`);
  const { kind } = await gateway.enrol(requester, { operation: 'enrol', request: { kind: 'pkcs10', der } });
  return kind;
}

const refused = (promise: Promise<unknown>): Promise<Fault> =>
  promise.then(
    () => undefined as never,
    (e) => e,
  );

const detailOf = async (gateway: Gateway): Promise<string> => {
  const { configuration } = await gateway.health();
  expect(configuration?.ok).toBe(false);
  return configuration!.detail!;
};

interface Breakage {
  readonly what: string;
  readonly sql: string;
  readonly told: string;
}

const notDer = "X'3003020100'";
const breakages: readonly Breakage[] = [
  {
    what: 'a CA certificate',
    sql: `UPDATE issuing_cas SET certificate = ${notDer} WHERE unique_name = 'other'`,
    told: 'the issuing CA "other"',
  },
  {
    what: 'a CA certificate that is text',
    sql: "UPDATE issuing_cas SET certificate = 'lost' WHERE unique_name = 'other'",
    told: 'the issuing CA "other"',
  },
  {
    what: 'the chain of a CA',
    sql: "UPDATE issuing_cas SET chain = '[\"' WHERE unique_name = 'other'",
    told: 'the issuing CA "other"',
  },
  {
    what: 'the rules of a profile',
    sql: "UPDATE profiles SET profile = '{\"subject\":5}' WHERE unique_name = 'code_signing'",
    told: 'the certificate profile "code_signing"',
  },
  {
    what: 'the JSON of a profile',
    sql: "UPDATE profiles SET profile = '{' WHERE unique_name = 'code_signing'",
    told: 'the certificate profile "code_signing"',
  },
  {
    what: 'a trust anchor',
    sql: `UPDATE truststores SET certificates = '["MAMCAQA="]'`,
    told: 'the truststore "maker"',
  },
  {
    what: 'the list of a truststore',
    sql: "UPDATE truststores SET certificates = 'x'",
    told: 'the truststore "maker"',
  },
  {
    what: 'the pattern of a registration',
    sql: "UPDATE devid_registrations SET serial_number_pattern = '('",
    told: 'the DevID registration "line 1"',
  },
  {
    what: 'the pattern of a policy',
    sql: "UPDATE approval_policies SET device_pattern = '('",
    told: 'the approval policy "valves"',
  },
  {
    what: 'the operations of a policy',
    sql: "UPDATE approval_policies SET operations = '7'",
    told: 'the approval policy "valves"',
  },
  {
    what: 'the JSON of a policy',
    sql: "UPDATE approval_policies SET protocols = ']'",
    told: 'the approval policy "valves"',
  },
  {
    what: 'the profiles of a domain',
    sql: "UPDATE domains SET profiles = '{}' WHERE unique_name = 'second'",
    told: 'the domain "second"',
  },
  { what: 'the events of a webhook', sql: "UPDATE webhooks SET events = '{}'", told: 'the webhook "siem"' },
];

/** Returns a site with a record of every kind, and a second CA with a domain and a device. */
async function furnished(): Promise<Site & { readonly secret: string; readonly otherSecret: string }> {
  const site = await siteOnFile();
  const { gateway, admin } = site;
  const other = await gateway.issuingCas.create(admin, { uniqueName: 'other', type: 1, pathLength: 0 });
  const second = await gateway.domains.create(admin, { uniqueName: 'second', issuingCa: other.id });
  const certificates = [outsideCa().certificateDer];
  const truststore = await gateway.truststores.create(admin, {
    uniqueName: 'maker',
    intendedUsage: 0,
    certificates,
  });
  await gateway.devidRegistrations.create(admin, {
    uniqueName: 'line 1',
    truststore: truststore.id,
    domain: 1,
    serialNumberPattern: '[0-9]+',
  });
  await gateway.approvalPolicies.create(admin, {
    uniqueName: 'valves',
    decision: 'manual',
    domain: second.id,
    devicePattern: 'valve-[0-9]+',
  });
  await gateway.webhooks.create(admin, { uniqueName: 'siem', url: 'https://siem.example/hook' });
  const { password: secret } = await site.device('pump-1');
  const { password: otherSecret } = await site.device('pump-2', second.id);
  return Object.assign(site, { secret, otherSecret });
}

test.each(breakages.map((one) => [one.what, one] as const))(
  '%s that is damaged in the store affects nothing else, also after a restart',
  async (_, { sql, told }) => {
    await using site = await furnished();
    site.sql(sql);
    for (const gateway of [site.gateway, await site.restarted()]) {
      expect(await enrol(gateway, 'pump-1', site.secret)).toBe('issued');
      expect(await detailOf(gateway)).toContain(told);
      await gateway.maintain('test');
    }
    const logged = site.log.entries.filter(({ event }) => event.endsWith('cannot be loaded and is ignored'));
    // Each of the two gateways logs it once, although both reload the configuration repeatedly.
    expect(logged).toHaveLength(2);
  },
);

test('damaged records of all kinds together do not affect readiness', async () => {
  await using site = await furnished();
  const once = new Map(breakages.map((one) => [one.told, one.sql]));
  site.sql(...once.values());
  const gateway = await site.restarted();
  expect(await enrol(gateway, 'pump-1', site.secret)).toBe('issued');
  expect(await detailOf(gateway)).toContain('and 2 more');
  const { status, body } = await (await apiOf(site)).anonymous.get('/api/health/');
  expect([status, body.checks.configuration.ok]).toEqual([200, false]);
});

test('the domain of a damaged CA answers 503, and works again once the CA is repaired', async () => {
  await using site = await furnished();
  const before = await site.store.find('issuingCa', { uniqueName: 'other' });
  site.sql(breakages[0]!.sql);
  const fault = await refused(enrol(site.gateway, 'pump-2', site.otherSecret, 'second'));
  expect(fault.code).toBe('unavailable');
  const hexadecimal = Buffer.from(before!.certificate).toString('hex');
  site.sql(`UPDATE issuing_cas SET certificate = X'${hexadecimal}' WHERE unique_name = 'other'`);
  expect(await enrol(site.gateway, 'pump-2', site.otherSecret, 'second')).toBe('issued');
  expect((await site.gateway.health()).configuration).toEqual({ ok: true });
});

test.each([
  ['a pattern that cannot be read', "device_pattern = '('", 'pending'],
  ['lists that cannot be read', "protocols = ']', device_pattern = NULL", 'pending'],
])('a policy with %s applies as broadly as its readable fields allow', async (_, damage, outcome) => {
  await using site = await furnished();
  expect(await enrol(site.gateway, 'pump-2', site.otherSecret, 'second')).toBe('issued');
  site.sql(`UPDATE approval_policies SET ${damage}`);
  const gateway = await site.restarted();
  const asked = enrol(gateway, 'pump-2', site.otherSecret, 'second');
  expect(await asked).toBe(outcome);
  // Its domain is readable: the policy applies to no other domain.
  expect(await enrol(gateway, 'pump-1', site.secret)).toBe('issued');
});

test('a policy with an unreadable decision denies', async () => {
  await using site = await furnished();
  site.sql("UPDATE approval_policies SET decision = 'perhaps', device_pattern = NULL");
  const fault = await refused(enrol(await site.restarted(), 'pump-2', site.otherSecret, 'second'));
  expect(fault.code).toBe('forbidden');
});

test('an unreadable trust anchor does not affect the others', async () => {
  await using site = await furnished();
  const good = Buffer.from(outsideCa().certificateDer).toString('base64');
  site.sql(`UPDATE truststores SET certificates = '["MAMCAQA=","${good}"]'`);
  expect(await detailOf(site.gateway)).toContain('certificate 1 of 2');
});

test('damaged settings are replaced by the strictest security level until an administrator saves them', async () => {
  await using site = await furnished();
  await site.gateway.settings.change(site.admin, { webhookHosts: ['siem.example'] });
  site.sql("UPDATE settings SET value = X'7b' WHERE name = 'runtime-settings'");
  const gateway = await site.restarted();
  expect(await detailOf(gateway)).toContain('runtime-settings');
  expect(await gateway.settings.read(site.admin)).toMatchObject({
    securityLevel: 'critical',
    webhookHosts: ['none.invalid'],
  });
  await gateway.settings.change(site.admin, { securityLevel: 'brownfield', webhookHosts: [] });
  expect((await gateway.health()).configuration).toEqual({ ok: true });
});

test('an unreadable TLS server credential is replaced at the next start', async () => {
  await using site = await furnished();
  const { id } = await site.gateway.tlsCredential();
  site.sql(`UPDATE credentials SET certificate = ${notDer}, chain = '[' WHERE id = ${id}`);
  expect((await (await site.restarted()).tlsCredential()).id).toBeGreaterThan(id);
});

test('an unreadable CA can be deleted', async () => {
  await using site = await furnished();
  await site.gateway.domains.update(site.admin, 2, { issuingCa: null });
  site.sql(breakages[0]!.sql);
  const { id } = (await site.store.find('issuingCa', { uniqueName: 'other' }))!;
  await site.gateway.issuingCas.remove(site.admin, id);
  expect((await site.gateway.health()).configuration).toEqual({ ok: true });
});

test('a CA that cannot be loaded is rejected before it is stored, and its key is not kept', async () => {
  await using site = await siteOnFile();
  const own = testKey('p-256', 'unreadable CA');
  // An extension that path validation ignores, but the CA needs.
  const root = selfSigned(own.pem(), '/CN=Unreadable', `${caExtensions}2.5.29.14=DER:010100\n`);
  const keys = await site.keys.files!.list();
  const fault = await refused(
    site.gateway.issuingCas.create(site.admin, {
      uniqueName: 'unreadable',
      type: 2,
      material: {
        privateKey: new Uint8Array(own.privateKey.export({ format: 'der', type: 'pkcs8' })),
        certificate: decodePem(root)[0]!.der,
        chain: [],
      },
    }),
  );
  expect([fault.code, fault.field]).toEqual(['malformed', 'certificate']);
  expect(await site.store.find('issuingCa', { uniqueName: 'unreadable' })).toBeUndefined();
  expect(await site.keys.files!.list()).toEqual(keys);
});

test('any exception while a record is checked is reported as invalid input', () => {
  const broken = (): never => {
    throw new TypeError('undefined is not an object');
  };
  expect(() => proven('certificate', broken)).toThrow(
    expect.objectContaining({ code: 'malformed', field: 'certificate', detail: 'this cannot be read' }),
  );
});
