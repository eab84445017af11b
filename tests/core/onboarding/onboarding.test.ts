import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import type { Store, Write } from '#core/ports/store.ts';
import type { Evidence, Target } from '#core/requester/evidence.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { apiAs, apiOf } from '#tests/fixtures/api.ts';
import {
  holder,
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { recording } from '#tests/fixtures/intruded.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';

const acme = makerCa('CN=Acme Root,O=Acme');
const acmeIssuing = makerCa('CN=Acme Issuing,O=Acme', acme);
const other = makerCa('CN=Other Root,O=Other');
const key = testKey('p-256', 'pump');
const ldevid = testKey('p-256', 'ldevid');
const pump = idevid(key, acmeIssuing, 'CN=Pump 3000,serialNumber=SN-1,O=Acme');
const bearer = (certificate: Uint8Array): Evidence => holder(certificate, acmeIssuing.certificate);
const csr = (subject: string) => request(ldevid, subject);

let site: Installation;
let truststore: number;
let registration: number;
/** Called before each commit of the gateway. */
let intruder: ((writes: readonly Write[]) => Promise<void>) | undefined;

beforeEach(async () => {
  const clock = testClock();
  const opened = await openSqliteStore({ path: ':memory:', clock });
  const store: Store = Object.assign(Object.create(opened), {
    commit: async (writes: readonly Write[]) => {
      const intrude = intruder;
      intruder = undefined;
      await intrude?.(writes);
      return opened.commit(writes);
    },
  });
  site = await installation({ store, clock });
  truststore = await trust(site, 'acme', acme.certificate);
  registration = await register(site, 'acme pumps', truststore, 'SN-\\d+');
});
afterEach(async () => {
  intruder = undefined;
  await site[Symbol.asyncDispose]();
});

async function verdict(run: () => Promise<unknown>): Promise<FaultCode | 'issued'> {
  try {
    await run();
    return 'issued';
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

const onboard = (
  certificate: Uint8Array,
  subject = 'CN=SN-1',
  target: Partial<Target> = {},
  operation: 'enrol' | 'renew' = 'enrol',
) => site.enrol(bearer(certificate), target, csr(subject), operation);
/** Enrols with another key than that of the certificate. */
const anew = (certificate: Uint8Array) =>
  site.enrol(bearer(certificate), {}, request(testKey('p-256', 'another'), 'CN=SN-1'));
const device = (commonName: string) => site.store.find('device', { commonName });
const certificates = async () =>
  (await site.gateway.certificates.list(site.admin, { search: ['SN-1'], limit: 9 })).records;
async function configOf(commonName: string) {
  const { onboardingConfig } = (await device(commonName))!;
  return site.gateway.onboardingConfigs.read(site.admin, onboardingConfig!);
}
const subjectOf = (certificate: Uint8Array) => formatDistinguishedName(parseCertificate(certificate).subject);

describe('the first onboarding', () => {
  test('creates the device in the registration’s domain, binds it to its IDevID and issues its domain credential', async () => {
    const certificate = await onboard(pump);
    expect(subjectOf(certificate)).toBe('CN=SN-1');
    expect(await device('SN-1')).toMatchObject({ serialNumber: 'SN-1', domain: 1, noOnboardingConfig: null });
    expect(await configOf('SN-1')).toMatchObject({
      onboardingStatus: 2,
      onboardingProtocol: 'est',
      idevidTruststore: truststore,
      idevid: pump,
      estPassword: null,
      cmpSharedSecret: null,
    });
    const [record] = (await site.gateway.certificates.list(site.admin, { limit: 1 })).records;
    expect(record).toMatchObject({ device: (await device('SN-1'))!.id, status: 'good', protocol: 'est' });
  });

  test('is audited', async () => {
    await onboard(pump);
    const { id } = (await device('SN-1'))!;
    const created = await site.audit('device.create');
    expect(created.map(({ actor, object, detail }) => [actor.kind, actor.name, object, detail])).toEqual([
      [
        'unknown',
        'CN=Pump 3000,serialNumber=SN-1,O=Acme',
        `device:${id}`,
        expect.objectContaining({ commonName: 'SN-1', serialNumber: 'SN-1', registration: 'acme pumps' }),
      ],
    ]);
    expect((await site.audit('device.onboard')).map(({ actor, detail }) => [actor.name, detail])).toEqual([
      ['SN-1', { protocol: 'est', credential: 'idevid' }],
    ]);
  });

  const names: [subject: string, outcome: FaultCode | string][] = [
    ['CN=SN-1', 'CN=SN-1'],
    ['CN=SN-1,O=Acme', 'CN=SN-1,O=Acme'],
    ['', 'CN=SN-1'],
    // The common name is not evaluated here, even if another device has it.
    ['CN=Pump 3000,serialNumber=SN-1,O=Acme', 'CN=SN-1'],
    ['CN=valve-1', 'CN=SN-1'],
  ];
  test.each(names)('a request with subject "%s" gets "%s"', async (subject, outcome) => {
    await site.device('valve-1');
    expect(subjectOf(await onboard(pump, subject))).toBe(outcome);
  });

  test('uses another name when a device of another manufacturer, or without one, has the name', async () => {
    await site.device('SN-1');
    await register(site, 'others', await trust(site, 'other', other.certificate));
    expect(subjectOf(await onboard(pump, ''))).toBe('CN=Acme-SN-1');
    const theirs = idevid(testKey('p-256', 'theirs'), other, 'serialNumber=SN-1');
    expect(subjectOf(await onboard(theirs, ''))).toBe('CN=Other-SN-1');
  });

  test('issues only a domain credential', async () => {
    for (const profile of ['tls_client', 'tls_server', 'code_signing']) {
      expect(await verdict(() => onboard(pump, 'CN=SN-1', { profile }))).toBe('forbidden');
    }
    expect(await verdict(() => onboard(pump, 'CN=SN-1', {}, 'renew'))).toBe('forbidden');
    expect((await configOf('SN-1')).onboardingStatus).toBe(1);
    const credential = await onboard(pump);
    const own = holder(credential);
    expect(await verdict(() => site.enrol(own, { profile: 'tls_client' }, csr('CN=SN-1')))).toBe('issued');
    expect(await verdict(() => site.enrol(own, {}, csr('CN=SN-1'), 'renew'))).toBe('issued');
  });

  test('can be repeated until it succeeds, and creates one device', async () => {
    expect(await verdict(() => site.enrol(bearer(pump), {}, Uint8Array.of(0x30, 0)))).toBe('malformed');
    expect(await verdict(() => onboard(pump))).toBe('issued');
    expect((await site.gateway.devices.list(site.admin, { limit: 9 })).records.length).toBe(1);
  });

  test('leaves the device pending after a crash', async () => {
    await site.gateway.admit(bearer(pump), { protocol: 'est', domain: undefined, profile: undefined });
    intruder = async () => {
      throw new Fault('unavailable', 'the power is gone');
    };
    expect(await verdict(() => onboard(pump))).toBe('unavailable');
    expect((await configOf('SN-1')).onboardingStatus).toBe(1);
    expect(await verdict(() => onboard(pump))).toBe('issued');
  });
});

describe('a second onboarding', () => {
  test('is rejected and audited until an administrator resets the device', async () => {
    await onboard(pump);
    expect(await verdict(() => anew(pump))).toBe('forbidden');
    expect(
      (await site.audit('enrolment.enrol')).map(({ outcome, detail }) => [outcome, detail.reason]),
    ).toEqual([['refused', 'this device has been onboarded already']]);
    const { id } = (await device('SN-1'))!;
    await site.gateway.devices.resetOnboarding(site.admin, id);
    expect(await configOf('SN-1')).toMatchObject({
      onboardingStatus: 1,
      onboardingProtocol: null,
      idevid: null,
    });
    expect(await verdict(() => onboard(pump))).toBe('issued');
    expect((await device('SN-1'))!.id).toBe(id);
    expect(await verdict(() => anew(pump))).toBe('forbidden');
    expect((await site.audit('device.resetOnboarding')).length).toBe(1);
  });

  test('is allowed when the onboarding configuration is pending', async () => {
    await onboard(pump);
    const { onboardingConfig } = (await device('SN-1'))!;
    await site.gateway.onboardingConfigs.update(site.admin, onboardingConfig!, { onboardingStatus: 1 });
    expect(await verdict(() => onboard(pump))).toBe('issued');
  });

  test('succeeds once when many run concurrently, and so does the first', async () => {
    const keys = Array.from({ length: 8 }, (_, n) => testKey('p-256', `ldevid ${n}`));
    const verdicts = await Promise.all(
      keys.map((one) => verdict(() => site.enrol(bearer(pump), {}, request(one, 'CN=SN-1')))),
    );
    expect(verdicts.sort()).toEqual([...Array(7).fill('forbidden'), 'issued']);
    expect((await certificates()).length).toBe(1);
  });

  test('that commits between the check and the commit of another one succeeds, and the other is rejected', async () => {
    await site.gateway.admit(bearer(pump), { protocol: 'est', domain: undefined, profile: undefined });
    let first: FaultCode | 'issued' | undefined;
    intruder = async () => {
      first = await verdict(() => onboard(pump));
    };
    expect(await verdict(() => anew(pump))).toBe('forbidden');
    expect(first).toBe('issued');
  });

  test('with another IDevID of the same serial number does not take over the device', async () => {
    const twin = idevid(testKey('p-256', 'twin'), acmeIssuing, 'serialNumber=SN-1');
    await onboard(pump);
    expect(await verdict(() => onboard(twin))).toBe('forbidden');
    expect(
      (await site.audit('enrolment.admit')).map(({ actor, detail }) => [actor.name, detail.reason]),
    ).toEqual([['SN-1', 'the device with its serial number is bound to another IDevID']]);
    expect((await configOf('SN-1')).idevid).toEqual(pump);
    // A device that was repaired.
    await site.gateway.devices.resetOnboarding(site.admin, (await device('SN-1'))!.id);
    expect(await verdict(() => onboard(twin))).toBe('issued');
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
  });

  test('with another certificate for the same key belongs to the same device, but not with another serial number', async () => {
    await site.gateway.admit(bearer(pump), { protocol: 'est', domain: undefined, profile: undefined });
    expect(await verdict(() => onboard(idevid(key, acme, 'serialNumber=SN-2')))).toBe('forbidden');
    expect(await verdict(() => onboard(idevid(key, acme, 'serialNumber=SN-1')))).toBe('issued');
  });
});

describe('a device that lost the response', () => {
  const day = 24 * 3_600_000;

  test('gets the same certificate again for a day, over every protocol, and nothing changes', async () => {
    const certificate = await onboard(pump);
    const before = [await configOf('SN-1'), await certificates(), await site.audit()];
    expect(await onboard(pump)).toEqual(certificate);
    // The other names are not evaluated here.
    expect(await onboard(pump, 'CN=Pump 3000', { protocol: 'rest', domain: 'default' })).toEqual(certificate);
    site.clock.advance(day - 1);
    expect(await onboard(pump)).toEqual(certificate);
    expect([await configOf('SN-1'), await certificates(), await site.audit()]).toEqual(before);
    site.clock.advance(1);
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
  });

  const asked: [what: string, der: () => Uint8Array, FaultCode, target?: Partial<Target>][] = [
    ['another key', () => request(testKey('p-256', 'another'), 'CN=SN-1'), 'forbidden'],
    ['another subject', () => csr('CN=SN-1,O=Acme'), 'forbidden'],
    ['another name', () => request(ldevid, 'CN=SN-1', ['DNS:sn-1.example']), 'forbidden'],
    ['another profile', () => csr('CN=SN-1'), 'forbidden', { profile: 'tls_client' }],
    ['the same key but no proof of possession', () => csr('CN=SN-1').with(-1, 0xff), 'badProof'],
  ];
  test.each(asked)('is rejected with %s', async (_, der, code, target = {}) => {
    await onboard(pump);
    expect(await verdict(() => site.enrol(bearer(pump), target, der()))).toBe(code);
  });

  const contact = () =>
    site.gateway.admit(bearer(pump), { protocol: 'est', domain: undefined, profile: undefined });

  test('cannot get a server-generated key again', async () => {
    await onboard(pump);
    const requester = await contact();
    const wanted = { kind: 'pkcs10', der: csr('CN=SN-1'), keyMadeHere: true } as const;
    const ask = () => site.gateway.enrol(requester, { operation: 'enrol', request: wanted });
    expect(await verdict(ask)).toBe('forbidden');
  });

  const revoke = (id: number, reason: 'superseded' | 'certificateHold') =>
    site.gateway.certificates.revoke(site.admin, id, { reason });
  const expire = (id: number) => {
    const set = { notValidAfter: site.clock.now() - 1 };
    return site.store.commit([{ op: 'update', kind: 'certificate', id, set }]);
  };
  const block = (id: number) => site.gateway.devices.block(site.admin, id, { comment: '' });
  const move = async (id: number) => {
    const { id: domain } = await site.gateway.domains.create(site.admin, { uniqueName: 'hall' });
    await site.gateway.devices.update(site.admin, id, { domain });
  };
  const deny = () =>
    site.gateway.approvalPolicies.create(site.admin, { uniqueName: 'none', decision: 'deny' });
  const turn = async () => {
    const { id } = await configOf('SN-1');
    await site.gateway.onboardingConfigs.update(site.admin, id, { onboardingStatus: 1 });
    await contact();
    await site.gateway.onboardingConfigs.update(site.admin, id, { onboardingStatus: 2 });
  };
  type Meanwhile = (of: { certificate: number; device: number }) => Promise<unknown>;
  const meanwhile: [what: string, happens: Meanwhile][] = [
    ['is revoked', ({ certificate }) => revoke(certificate, 'superseded')],
    ['is on hold', ({ certificate }) => revoke(certificate, 'certificateHold')],
    ['has expired', ({ certificate }) => expire(certificate)],
    ['is that of a device which is blocked', ({ device }) => block(device)],
    ['is that of a device which is in another domain', ({ device }) => move(device)],
    ['a policy no longer allows', deny],
    ['is older than the last onboarding in its configuration', turn],
  ];
  test.each(meanwhile)('does not get a certificate again that %s', async (_, happens) => {
    await onboard(pump);
    const [certificate] = await certificates();
    await happens({ certificate: certificate!.id, device: certificate!.device! });
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
    expect((await certificates()).length).toBe(1);
  });

  test('gets the new certificate after a reset, not the earlier one', async () => {
    const before = await onboard(pump);
    await site.gateway.devices.resetOnboarding(site.admin, (await device('SN-1'))!.id);
    const after = await onboard(pump);
    expect(after).not.toEqual(before);
    expect(await onboard(pump)).toEqual(after);
  });

  test('cannot get a certificate again that was issued for its secret', async () => {
    await contact();
    const { id } = await configOf('SN-1');
    const estPassword = 'a password for SN-1';
    await site.gateway.onboardingConfigs.update(site.admin, id, { estPassword });
    await site.enrol(password('SN-1', estPassword), {}, csr('CN=SN-1'));
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
  });

  test('gets one certificate when it sends many concurrent requests to two gateways', async () => {
    const store: Store = Object.assign(Object.create(site.store), { close: async () => {} });
    await using second = await installation({ store, clock: site.clock, wrapKeys: () => site.keys });
    const given = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? site : second).enrol(bearer(pump), {}, csr('CN=SN-1')),
      ),
    );
    expect(new Set(given.map(fingerprint)).size).toBe(1);
    expect((await certificates()).length).toBe(1);
    expect((await site.audit('device.onboard')).length).toBe(1);
  });
});

test('onboarding that needs approval is pending, can be repeated with the same IDevID, and succeeds when it is approved', async () => {
  const { gateway, admin } = site;
  await gateway.approvalPolicies.create(admin, { uniqueName: 'by hand', decision: 'manual' });
  const again = csr('CN=SN-1');
  const ask = async () => {
    const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
    const requester = await gateway.admit(bearer(pump), target);
    return gateway.enrol(requester, { operation: 'enrol', request: { kind: 'pkcs10', der: again } });
  };
  const first = await ask();
  expect(await ask()).toEqual(first);
  expect([first.kind, (await configOf('SN-1')).onboardingStatus]).toEqual(['pending', 1]);
  const api = await apiOf(site);
  // The record can be sent back as it was read, and keeps the IDevID.
  const config = `/api/onboarding-configs/${(await configOf('SN-1')).id}/`;
  const { body: shown } = await api.get(config);
  expect(shown.idevid.subject).toContain('serialNumber=SN-1');
  expect((await api.put(config, shown)).body).toEqual(shown);
  const [waiting] = (await api.get('/api/approvals/')).body;
  // The account that wrote the configuration cannot approve.
  expect((await api.post(`/api/approvals/${waiting.id}/approve/`, {})).status).toBe(403);
  const operator = await apiAs(site, 'Operator');
  expect((await operator.post(`/api/approvals/${waiting.id}/approve/`, {})).status).toBe(200);
  const given = await ask();
  expect([given.kind, (await configOf('SN-1')).onboardingStatus]).toEqual(['issued', 2]);
  expect(await ask()).toEqual(given);
  expect(await verdict(() => anew(pump))).toBe('forbidden');
});

describe('a device that an administrator registered', () => {
  async function registered(commonName: string, config: object = {}, fields: object = {}) {
    const { id } = await site.gateway.onboardingConfigs.create(site.admin, {
      estPassword: null,
      cmpSharedSecret: null,
      idevidTruststore: truststore,
      ...config,
    });
    const input = { commonName, serialNumber: 'SN-1', onboardingConfig: id, ...fields };
    return site.gateway.devices.create(site.admin, input);
  }

  test('is found by truststore and serial number, without a registration', async () => {
    await site.gateway.devidRegistrations.remove(site.admin, registration);
    expect(await verdict(() => onboard(pump))).toBe('unauthenticated');
    await registered('pump-1');
    expect(subjectOf(await onboard(pump, ''))).toBe('CN=pump-1');
    expect(await configOf('pump-1')).toMatchObject({ onboardingStatus: 2, idevid: pump });
    expect((await site.audit('device.meet')).map(({ object }) => object)).toEqual([
      `device:${(await device('pump-1'))!.id}`,
    ]);
    expect(await verdict(() => anew(pump))).toBe('forbidden');
  });

  test('is bound to the first of two concurrent IDevIDs with the same serial number', async () => {
    await registered('pump-1');
    await site.gateway.devidRegistrations.remove(site.admin, registration);
    const twin = idevid(testKey('p-256', 'twin'), acmeIssuing, 'serialNumber=SN-1');
    let first: FaultCode | 'issued' | undefined;
    intruder = async (writes) => {
      expect(recording('device.meet')(writes)).toBe(true);
      first = await verdict(() => onboard(twin, ''));
    };
    expect(await verdict(() => onboard(pump, ''))).not.toBe('issued');
    expect(first).toBe('issued');
    expect(await configOf('pump-1')).toMatchObject({ onboardingStatus: 2, idevid: twin });
    expect(await site.audit('device.meet')).toHaveLength(1);
  });

  test('takes precedence over every registration', async () => {
    await registered('pump-1');
    expect(subjectOf(await onboard(pump, ''))).toBe('CN=pump-1');
  });

  test('is ignored for another truststore or none', async () => {
    const makers = await trust(site, 'other', other.certificate);
    await registered('pump-1', { idevidTruststore: makers });
    await registered('pump-2', { idevidTruststore: null });
    expect(subjectOf(await onboard(pump, ''))).toBe('CN=SN-1');
  });

  test('is not pending when it got its certificate in another way', async () => {
    await registered('pump-1', { onboardingStatus: 2 });
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
  });

  test('is the older one when there are two', async () => {
    await registered('pump-1');
    await registered('pump-2');
    const twin = idevid(testKey('p-256', 'twin'), acmeIssuing, 'serialNumber=SN-1');
    expect(subjectOf(await onboard(twin, ''))).toBe('CN=pump-1');
    expect(subjectOf(await onboard(pump, ''))).toBe('CN=pump-2');
  });

  test('may use only the protocols of its configuration', async () => {
    await registered('pump-1', { protocols: ['cmp'] });
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
    expect((await configOf('pump-1')).idevid).toBeNull();
  });

  test('is onboarded in its own domain', async () => {
    const { id: domain } = await site.gateway.domains.create(site.admin, { uniqueName: 'hall' });
    await registered('pump-1', {}, { domain });
    expect(await verdict(() => onboard(pump, '', { domain: 'default' }))).toBe('forbidden');
    expect(await verdict(() => onboard(pump, ''))).toBe('issued');
    await registered('pump-2', {}, { domain: null, serialNumber: 'SN-2' });
    const homeless = idevid(testKey('p-256', 'homeless'), acmeIssuing, 'serialNumber=SN-2');
    expect(await verdict(() => onboard(homeless))).toBe('forbidden');
  });

  test('can also be onboarded with its secret', async () => {
    await registered('pump-1', { estPassword: 'a password for pump-1' });
    const secret = password('pump-1', 'a password for pump-1');
    await site.enrol(secret, { profile: 'tls_client' }, csr('CN=pump-1'));
    expect((await configOf('pump-1')).onboardingStatus).toBe(1);
    await site.enrol(secret, {}, csr('CN=pump-1'));
    expect(await configOf('pump-1')).toMatchObject({ onboardingStatus: 2, onboardingProtocol: 'est' });
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
    expect(await verdict(() => site.enrol(secret, {}, csr('CN=pump-1')))).toBe('issued');
  });
});

describe('an onboarded device', () => {
  test('is rejected when no truststore trusts it any longer', async () => {
    await site.gateway.admit(bearer(pump), { protocol: 'est', domain: undefined, profile: undefined });
    const { onboardingConfig } = (await device('SN-1'))!;
    await site.gateway.onboardingConfigs.update(site.admin, onboardingConfig!, { idevidTruststore: null });
    expect(await verdict(() => onboard(pump))).toBe('unauthenticated');
    const makers = await trust(site, 'other', other.certificate);
    await site.gateway.onboardingConfigs.update(site.admin, onboardingConfig!, { idevidTruststore: makers });
    expect(await verdict(() => onboard(pump))).toBe('unauthenticated');
  });

  test('can be onboarded as a new device after it was deleted', async () => {
    await onboard(pump);
    const { id } = (await device('SN-1'))!;
    await site.gateway.devices.remove(site.admin, id);
    expect(await verdict(() => onboard(pump))).toBe('issued');
    expect((await device('SN-1'))!.id).not.toBe(id);
  });

  test('prevents the deletion of its truststore and domain', async () => {
    await onboard(pump);
    expect(await verdict(() => site.gateway.truststores.remove(site.admin, truststore))).toBe('conflict');
    await site.gateway.devidRegistrations.remove(site.admin, registration);
    expect(await verdict(() => site.gateway.truststores.remove(site.admin, truststore))).toBe('conflict');
  });
});

describe('the configuration of a device', () => {
  const devices = () => site.gateway.devices;
  const configs = () => site.gateway.onboardingConfigs;

  test('is deleted when the device gets another one or none, unless another device uses it', async () => {
    const first = await configs().create(site.admin, {});
    const second = await configs().create(site.admin, {});
    const { id } = await devices().create(site.admin, { commonName: 'pump-1', onboardingConfig: first.id });
    await devices().update(site.admin, id, { onboardingConfig: first.id, serialNumber: 'x' });
    expect(await site.store.get('onboardingConfig', first.id)).toBeDefined();
    await devices().update(site.admin, id, { onboardingConfig: second.id });
    expect(await site.store.get('onboardingConfig', first.id)).toBeUndefined();
    await devices().update(site.admin, id, { onboardingConfig: null });
    expect(await site.store.get('onboardingConfig', second.id)).toBeUndefined();

    const { device: one } = await site.device('pump-2');
    const shared = one.noOnboardingConfig!;
    const two = await devices().create(site.admin, { commonName: 'pump-3', noOnboardingConfig: shared });
    await devices().update(site.admin, one.id, { noOnboardingConfig: null });
    expect(await site.store.get('noOnboardingConfig', shared)).toBeDefined();
    await devices().update(site.admin, two.id, { noOnboardingConfig: null });
    expect(await site.store.get('noOnboardingConfig', shared)).toBeUndefined();
  });

  test('for onboarding belongs to one device only', async () => {
    const { id } = await configs().create(site.admin, {});
    await devices().create(site.admin, { commonName: 'pump-1', onboardingConfig: id });
    const create = () => devices().create(site.admin, { commonName: 'pump-2', onboardingConfig: id });
    expect(await verdict(create)).toBe('malformed');
    const { id: another } = await devices().create(site.admin, { commonName: 'pump-2' });
    const update = () =>
      devices().update(site.admin, another, { onboardingConfig: id, noOnboardingConfig: null });
    expect(await verdict(update)).toBe('malformed');
    // Two devices that were given it concurrently.
    const both = { onboardingConfig: id, noOnboardingConfig: null };
    await site.store.commit([{ op: 'update', kind: 'device', id: another, set: both }]);
    const idevidKey = fingerprint(parseCertificate(pump).spki);
    const set = { idevidKey, idevid: pump, idevidTruststore: truststore };
    await site.store.commit([{ op: 'update', kind: 'onboardingConfig', id, set }]);
    expect(await verdict(() => onboard(pump))).toBe('forbidden');
  });
});

describe('a requester that is rejected before its credentials are checked', () => {
  test('is audited until its address has been rejected too often', async () => {
    const none: Evidence = { kind: 'none', address: '192.0.2.9' };
    expect(await verdict(() => site.enrol(none, {}, csr('CN=x')))).toBe('unauthenticated');
    expect(await verdict(() => site.enrol(none, { domain: 'mars' }, csr('CN=x')))).toBe('notFound');
    expect(await verdict(() => site.enrol(none, { domain: 'm'.repeat(500) }, csr('CN=x')))).toBe('notFound');
    const events = await site.audit('enrolment.admit');
    expect(events.map(({ actor, object, detail }) => [actor.address, object, detail.reason])).toEqual([
      ['192.0.2.9', 'domain:default', 'no credentials'],
      ['192.0.2.9', 'domain:mars', 'no such domain'],
      ['192.0.2.9', `domain:${'m'.repeat(199)}…`, 'no such domain'],
    ]);
    for (let n = 0; n < 70; n++) await verdict(() => site.enrol(none, {}, csr('CN=x')));
    expect((await site.audit('enrolment.admit')).length).toBe(60);
  });
});
