import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Fault, type FaultCode } from '#core/fault.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import {
  holder,
  type Installation,
  installation,
  offer,
  password,
  request,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

let site: Installation;
let pump: { password: string };
const key = testKey('p-256', 'pump');
const evidence: Record<string, Evidence> = { none: { kind: 'none', address: '192.0.2.7' } };

beforeAll(async () => {
  site = await installation();
  await offer(site, 'opc_ua_client', 'opc_ua_server');
  pump = await site.device('pump-1');
  evidence.password = password('pump-1', pump.password);
  const domainCredential = await site.enrol(evidence.password, {}, request(key, 'CN=pump-1'));
  evidence.domainCredential = holder(domainCredential);
  evidence.tlsClient = holder(
    await site.enrol(evidence.domainCredential, { profile: 'tls_client' }, request(key, 'CN=pump-1')),
  );
});
afterAll(() => site[Symbol.asyncDispose]());

async function verdict(run: () => Promise<unknown>): Promise<FaultCode | 'issued'> {
  try {
    await run();
    return 'issued';
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

describe('each kind of credential', () => {
  const rows: [
    credential: string,
    operation: 'enrol' | 'renew',
    profile: string | undefined,
    FaultCode | 'issued',
  ][] = [
    ['none', 'enrol', undefined, 'unauthenticated'],
    ['none', 'renew', undefined, 'unauthenticated'],
    ['password', 'enrol', undefined, 'issued'],
    ['password', 'enrol', 'domain_credential', 'issued'],
    ['password', 'enrol', 'tls_client', 'issued'],
    ['password', 'enrol', 'code_signing', 'forbidden'],
    ['password', 'enrol', 'no_such_profile', 'notFound'],
    ['password', 'renew', undefined, 'forbidden'],
    ['domainCredential', 'enrol', 'tls_client', 'issued'],
    ['domainCredential', 'enrol', undefined, 'issued'],
    ['domainCredential', 'enrol', 'code_signing', 'forbidden'],
    ['domainCredential', 'renew', undefined, 'issued'],
    ['domainCredential', 'renew', 'domain_credential', 'issued'],
    ['domainCredential', 'renew', 'tls_client', 'forbidden'],
    ['tlsClient', 'renew', undefined, 'issued'],
    ['tlsClient', 'renew', 'tls_client', 'issued'],
    ['tlsClient', 'renew', 'domain_credential', 'forbidden'],
    ['tlsClient', 'enrol', 'tls_client', 'forbidden'],
    ['tlsClient', 'enrol', undefined, 'forbidden'],
  ];
  test.each(rows)('%s, %s, profile %s: %s', async (credential, operation, profile, expected) => {
    const der = request(key, 'CN=pump-1');
    expect(await verdict(() => site.enrol(evidence[credential]!, { profile }, der, operation))).toBe(
      expected,
    );
  });
});

describe('admission', () => {
  const cases: [what: string, run: () => Promise<unknown>, FaultCode][] = [
    [
      'a wrong password',
      () => site.enrol(password('pump-1', 'x'.repeat(43)), {}, new Uint8Array()),
      'unauthenticated',
    ],
    [
      'an unknown name',
      () => site.enrol(password('nobody', pump.password), {}, new Uint8Array()),
      'unauthenticated',
    ],
    [
      'an unknown domain',
      () => site.enrol(evidence.password!, { domain: 'mars' }, new Uint8Array()),
      'notFound',
    ],
    [
      'bytes that are not a certificate',
      () => site.enrol(holder(Uint8Array.of(1, 2)), {}, new Uint8Array()),
      'unauthenticated',
    ],
  ];
  test.each(cases)('%s is rejected', async (_what, run, code) => {
    expect(await verdict(run)).toBe(code);
  });

  test('accepts the id of a device instead of its name', async () => {
    const { device, password: secret } = await site.device('named-by-id');
    const certificate = await site.enrol(
      password(String(device.id), secret),
      {},
      request(key, 'CN=named-by-id'),
    );
    expect(certificate.length).toBeGreaterThan(300);
  });

  test('rejects a device of another domain, with a password and with a certificate', async () => {
    const domain = await site.gateway.domains.create(site.admin, { uniqueName: 'elsewhere' });
    const { password: secret } = await site.device('stranger', domain.id);
    const der = request(key, 'CN=stranger');
    expect(await verdict(() => site.enrol(password('stranger', secret), {}, der))).toBe('forbidden');
    const own = await site.enrol(password('stranger', secret), { domain: 'elsewhere' }, der);
    expect(await verdict(() => site.enrol(holder(own), {}, der, 'renew'))).toBe('forbidden');
  });

  test('rejects a device with the credentials of its former domain, in both domains', async () => {
    const domain = await site.gateway.domains.create(site.admin, { uniqueName: 'next hall' });
    const { device, password: secret } = await site.device('moved');
    const der = request(key, 'CN=moved');
    const own = holder(await site.enrol(password('moved', secret), {}, der));
    expect(await verdict(() => site.enrol(own, {}, der, 'renew'))).toBe('issued');
    await site.gateway.devices.update(site.admin, device.id, { domain: domain.id });
    const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
    expect(await verdict(() => site.gateway.admit(own, target))).toBe('forbidden');
    expect(await verdict(() => site.enrol(own, {}, der, 'renew'))).toBe('forbidden');
    expect(await verdict(() => site.enrol(own, { domain: 'next hall' }, der, 'renew'))).toBe('forbidden');
    expect(await verdict(() => site.enrol(password('moved', secret), { domain: 'next hall' }, der))).toBe(
      'issued',
    );
  });

  test('rejects a certificate that is not yet valid or has expired', async () => {
    await using other = await installation();
    const { password: secret } = await other.device('pump-1');
    const der = request(key, 'CN=pump-1');
    const certificate = await other.enrol(password('pump-1', secret), {}, der);
    const renew = () => verdict(() => other.enrol(holder(certificate), {}, der, 'renew'));
    const { notBefore, notAfter } = parseCertificate(certificate);
    // Both limits are inclusive, in seconds.
    for (const [at, expected] of [
      [notBefore - 1000, 'unauthenticated'],
      [notBefore, 'issued'],
      [notAfter, 'issued'],
      [notAfter + 1000, 'unauthenticated'],
    ] as const) {
      other.clock.advance(at - other.clock.now());
      expect([at, await renew()]).toEqual([at, expected]);
    }
  });

  test('rejects a protocol that the device configuration does not name', async () => {
    const { device, password: secret } = await site.device('cmp-only');
    await site.gateway.noOnboardingConfigs.update(site.admin, device.noOnboardingConfig!, {
      protocols: ['cmp'],
    });
    expect(await verdict(() => site.enrol(password('cmp-only', secret), {}, new Uint8Array()))).toBe(
      'unauthenticated',
    );
  });

  test('rejects a certificate that is revoked or on hold, and accepts it again when it is released', async () => {
    const der = request(key, 'CN=pump-1');
    const certificate = await site.enrol(evidence.password!, {}, der);
    const renew = () => verdict(() => site.enrol(holder(certificate), {}, der, 'renew'));
    const { records } = await site.gateway.certificates.list(site.admin, { limit: 1 });
    const { id } = records[0]!;
    const revoke = (reason: 'certificateHold' | 'removeFromCRL' | 'keyCompromise') =>
      site.gateway.certificates.revoke(site.admin, id, { reason });
    expect(await renew()).toBe('issued');
    await revoke('certificateHold');
    expect(await renew()).toBe('unauthenticated');
    await revoke('removeFromCRL');
    expect(await renew()).toBe('issued');
    await revoke('keyCompromise');
    expect(await renew()).toBe('unauthenticated');
  });

  test('rejects an altered copy of our certificate', async () => {
    const certificate = (evidence.domainCredential as Extract<Evidence, { kind: 'certificate' }>)
      .certificates[0]!;
    const altered = Uint8Array.from(certificate);
    altered[altered.length - 1]! ^= 1;
    expect(await verdict(() => site.enrol(holder(altered), {}, new Uint8Array(), 'renew'))).toBe(
      'unauthenticated',
    );
  });
});

describe('the names of a renewal', () => {
  const names = ['DNS:pump-1.plant.example', 'IP:192.0.2.9'];
  const rows: [what: string, subject: string, sans: string[], FaultCode | 'issued'][] = [
    ['the same', 'CN=pump-1', names, 'issued'],
    ['the same in another order', 'CN=pump-1', [...names].reverse(), 'issued'],
    ['another subject', 'CN=pump-2', names, 'badCsr'],
    ['no subjectAltName', 'CN=pump-1', [], 'badCsr'],
    ['one name removed', 'CN=pump-1', [names[0]!], 'badCsr'],
    ['one name added', 'CN=pump-1', [...names, 'DNS:other.example'], 'badCsr'],
  ];
  test.each(rows)('%s', async (_what, subject, sans, expected) => {
    const first = await site.enrol(
      evidence.password!,
      { profile: 'tls_server' },
      request(key, 'CN=pump-1', names),
    );
    const der = request(testKey('p-256', 'new'), subject, sans);
    expect(await verdict(() => site.enrol(holder(first), {}, der, 'renew'))).toBe(expected);
  });
});

describe('a device certificate for a server cannot have a name of this service', () => {
  const rows: [profile: string, subject: string, sans: string[], FaultCode | 'issued'][] = [
    ['tls_server', 'CN=pump-1', ['DNS:pki.example'], 'forbidden'],
    ['tls_server', 'CN=pump-1', ['DNS:pump-1.plant.example', 'DNS:PKI.example'], 'forbidden'],
    ['tls_server', 'CN=pump-1', ['IP:192.0.2.1'], 'forbidden'],
    ['tls_server', 'CN=pki.example', [], 'forbidden'],
    ['tls_server', 'CN=pki.example', ['IP:192.0.2.9'], 'forbidden'],
    ['opc_ua_server', 'CN=pump', ['URI:urn:pump', 'DNS:pki.example'], 'forbidden'],
    ['opc_ua_client', 'CN=pump-1', ['URI:urn:pump', 'DNS:pki.example'], 'issued'],
    ['opc_ua_client', 'CN=scada@PUMP-1', ['URI:urn:pump'], 'issued'],
    ['opc_ua_client', 'CN=pump-2', ['URI:urn:pump'], 'badCsr'],
    ['tls_server', 'CN=pump-1', ['DNS:pki.plant.example', 'IP:192.0.2.2'], 'issued'],
    ['tls_server', 'CN=pump-1', ['DNS:localhost', 'IP:127.0.0.1'], 'issued'],
  ];
  test.each(rows)('%s: %s, %p', async (profile, subject, sans, expected) => {
    const der = request(key, subject, sans);
    expect(await verdict(() => site.enrol(evidence.password!, { profile }, der))).toBe(expected);
  });
});

test('a certificate without a device can be renewed only with the same name', async () => {
  const csr = request(key, 'CN=app-1');
  const made = await site.gateway.certificates.create(site.admin, { commonName: 'app-1', csr });
  if ('kind' in made) throw new Error('it waits');
  const { der } = made;
  expect(await verdict(() => site.enrol(holder(der), {}, csr, 'renew'))).toBe('issued');
  expect(await verdict(() => site.enrol(holder(der), {}, request(key, 'CN=app-2'), 'renew'))).toBe('badCsr');
  expect(await verdict(() => site.enrol(holder(der), {}, csr, 'enrol'))).toBe('forbidden');
});

test('a certificate can be renewed until the end of the second of notAfter, and not afterwards', async () => {
  await using other = await installation();
  const { password: secret } = await other.device('late');
  const der = request(key, 'CN=late');
  const certificate = await other.enrol(password('late', secret), {}, der);
  other.clock.advance(parseCertificate(certificate).notAfter + 999 - other.clock.now());
  expect(await verdict(() => other.enrol(holder(certificate), {}, der, 'renew'))).toBe('issued');
  other.clock.advance(1);
  expect(await verdict(() => other.enrol(holder(certificate), {}, der, 'renew'))).toBe('unauthenticated');
  other.clock.advance(30 * 365 * 24 * 3_600_000);
  expect(await verdict(() => other.enrol(holder(certificate), {}, der, 'renew'))).toBe('unauthenticated');
});

test('every rejection and every issuance is audited', async () => {
  await using other = await installation();
  const { password: secret } = await other.device('pump-9');
  const good = password('pump-9', secret);
  await verdict(() => other.enrol(password('pump-9', 'wrong'), {}, new Uint8Array()));
  await verdict(() => other.enrol(good, {}, Uint8Array.of(0x30, 0)));
  await verdict(() => other.enrol(good, { profile: 'code_signing' }, request(key, 'CN=pump-9')));
  await other.enrol(good, {}, request(key, 'CN=pump-9'));
  expect(
    (await other.audit('enrolment.admit')).map(({ outcome, actor }) => [outcome, actor.kind, actor.name]),
  ).toEqual([['refused', 'unknown', 'pump-9']]);
  expect((await other.audit('enrolment.enrol')).map(({ outcome, detail }) => [outcome, detail.code])).toEqual(
    [
      ['refused', 'malformed'],
      ['refused', 'forbidden'],
    ],
  );
  const issued = (await other.audit('certificate.issue')).filter(({ actor }) => actor.kind === 'device');
  expect(issued.map(({ outcome, actor, detail }) => [outcome, actor.name, detail.profile])).toEqual([
    ['success', 'pump-9', 'domain_credential'],
  ]);
  expect(JSON.stringify(await other.audit())).not.toContain(secret);
});
