import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { DeviceState } from '#core/devices/state.ts';
import { stateCondition } from '#core/devices/state.ts';
import { Fault } from '#core/fault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import {
  holder,
  type Installation,
  installation,
  offer,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, trust } from '#tests/fixtures/manufacturer.ts';

const day = 24 * 3_600_000;
const csr = (name: string) => request(testKey('p-256', name), `CN=${name}`);

async function failure(work: Promise<unknown>): Promise<Fault> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return error;
  throw new Error('no Fault');
}

/** Returns a device that holds a certificate. */
async function enrolled(site: Installation, name: string) {
  const { device, password: secret } = await site.device(name);
  const certificate = await site.enrol(password(name, secret), {}, csr(name));
  return { device, secret, certificate };
}

/** Returns a certificate of a registration authority of the domain. */
async function registrationAuthority(site: Installation): Promise<Uint8Array> {
  await site.gateway.profiles.create(site.admin, {
    uniqueName: 'ra',
    profile: {
      validity: { duration: 'P1Y' },
      subject: { CN: {} },
      extensions: { extendedKeyUsage: { fixed: ['1.3.6.1.5.5.7.3.28'] } },
    },
  });
  await offer(site, 'ra');
  const { password: secret } = await site.device('ra');
  return site.enrol(password('ra', secret), { profile: 'ra' }, csr('ra'));
}

async function namesIn(site: Installation, state: DeviceState): Promise<string[]> {
  const query = stateCondition(state, site.clock.now());
  const { records } = await site.gateway.devices.list(site.admin, { ...query, limit: 100 });
  expect(records.every((device) => device.state === state)).toBe(true);
  return records.map(({ commonName }) => commonName).sort();
}

describe('the state of a device', () => {
  test('is known for a new device without a search', async () => {
    const clock = testClock();
    const store = await openSqliteStore({ path: ':memory:', clock });
    const busy = () => Promise.reject(new Fault('unavailable', 'too many searches'));
    await using site = await installation({ clock, store: { ...store, tally: busy } });
    const made = await site.gateway.devices.create(site.admin, { commonName: 'new' });
    expect(made).toMatchObject({ commonName: 'new', state: 'registered', nextExpiry: null });
  });

  test('is registered, active with a valid certificate, or blocked; lists can filter by each', async () => {
    await using site = await installation();
    const { gateway, admin, clock } = site;
    await site.device('new');
    const { device: pump, certificate } = await enrolled(site, 'pump');
    const { device: lost } = await enrolled(site, 'lost');
    await gateway.devices.block(admin, lost.id, { comment: '' });
    expect(await namesIn(site, 'registered')).toEqual(['new']);
    expect(await namesIn(site, 'active')).toEqual(['pump']);
    expect(await namesIn(site, 'blocked')).toEqual(['lost']);
    const { notAfter } = parseCertificate(certificate);
    expect((await gateway.devices.read(admin, pump.id)).nextExpiry).toBe(notAfter);
    // The certificate is valid until the end of that second.
    clock.advance(notAfter - clock.now() + 1000);
    expect(await namesIn(site, 'registered')).toEqual(['new', 'pump']);
    expect(await namesIn(site, 'active')).toEqual([]);
  });

  test('the next expiry is that of the valid certificate that expires first', async () => {
    await using site = await installation();
    const { device, secret } = await enrolled(site, 'pump');
    const first = (await site.gateway.devices.read(site.admin, device.id)).nextExpiry!;
    site.clock.advance(day);
    await site.enrol(password('pump', secret), {}, csr('pump'));
    expect((await site.gateway.devices.read(site.admin, device.id)).nextExpiry).toBe(first);
    const where = [{ field: 'device', is: 'equal', value: device.id } as const];
    const { records } = await site.store.list('certificate', { where, limit: 10 });
    const oldest = records.at(-1)!;
    await site.gateway.certificates.revoke(site.admin, oldest.id, { reason: 'superseded' });
    expect((await site.gateway.devices.read(site.admin, device.id)).nextExpiry).toBe(first + day);
  });
});

describe('a blocked device', () => {
  test('is rejected with its secret and with its certificate, with the reason, until it is unblocked', async () => {
    await using site = await installation();
    const { gateway, admin } = site;
    const { device, secret, certificate } = await enrolled(site, 'pump');
    await gateway.devices.block(admin, device.id, { comment: 'stolen' });
    const blocked = { code: 'forbidden', detail: 'the device is blocked' };
    expect(await failure(site.enrol(password('pump', secret), {}, csr('pump')))).toMatchObject(blocked);
    const renewal = () => site.enrol(holder(certificate), {}, csr('pump'), 'renew');
    expect(await failure(renewal())).toMatchObject(blocked);
    // A client that does not know the secret gets no reason.
    expect(await failure(site.enrol(password('pump', 'wrong'), {}, csr('pump')))).toMatchObject({
      code: 'unauthenticated',
    });
    const refusals = await site.audit('enrolment.admit');
    expect(refusals.map(({ actor, detail }) => [actor.kind, detail.reason])).toEqual([
      ['device', blocked.detail],
      ['device', blocked.detail],
      ['unknown', 'wrong credentials'],
    ]);
    await gateway.devices.unblock(admin, device.id);
    expect(parseCertificate(await renewal()).subject.der).toEqual(parseCertificate(certificate).subject.der);
  });

  test('cannot be onboarded with its pending or its current IDevID until it is unblocked', async () => {
    await using site = await installation();
    const { gateway, admin } = site;
    const maker = makerCa('CN=Maker');
    const truststore = await trust(site, 'maker', maker.certificate);
    const config = await gateway.onboardingConfigs.create(admin, { idevidTruststore: truststore });
    const input = { commonName: 'pump', serialNumber: 'SN-1', onboardingConfig: config.id };
    const { id } = await gateway.devices.create(admin, input);
    const bearer = idevid(testKey('p-256', 'maker pump'), maker, 'CN=P,serialNumber=SN-1');
    const onboard = () => site.enrol(holder(bearer), {}, csr('pump'));
    const refused = {
      code: 'forbidden',
      detail: 'the client certificate is not accepted: its device is blocked',
    };
    await gateway.devices.block(admin, id, { comment: '' });
    expect(await failure(onboard())).toMatchObject(refused);
    await gateway.devices.unblock(admin, id);
    await onboard();
    await gateway.devices.resetOnboarding(admin, id);
    await gateway.devices.block(admin, id, { comment: '' });
    expect(await failure(onboard())).toMatchObject(refused);
  });

  test('keeps its certificates unless their revocation is requested', async () => {
    await using site = await installation();
    const { gateway, admin, store } = site;
    const kept = await enrolled(site, 'kept');
    const stolen = await enrolled(site, 'stolen');
    await gateway.devices.block(admin, kept.device.id, { comment: '' });
    await gateway.devices.block(admin, stolen.device.id, { comment: '', revoke: 'keyCompromise' });
    const states = async (device: number) =>
      (
        await store.list('certificate', {
          where: [{ field: 'device', is: 'equal', value: device }],
          limit: 5,
        })
      ).records.map(({ status, revocationReason }) => [status, revocationReason]);
    expect(await states(kept.device.id)).toEqual([['good', null]]);
    expect(await states(stolen.device.id)).toEqual([['revoked', 'keyCompromise']]);
  });

  test('cannot be blocked or unblocked twice', async () => {
    await using site = await installation();
    const { device } = await site.device('pump');
    const { devices } = site.gateway;
    expect(await failure(devices.unblock(site.admin, device.id))).toMatchObject({ code: 'conflict' });
    const blocks = [1, 2, 3].map(() => devices.block(site.admin, device.id, { comment: '' }));
    const outcomes = await Promise.allSettled(blocks);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await site.audit('device.block')).toHaveLength(1);
  });

  test('gets no certificate through a registration authority', async () => {
    await using site = await installation();
    const { gateway, admin } = site;
    const ra = await registrationAuthority(site);
    const { device } = await site.device('pump');
    const onBehalf = () => site.enrol(holder(ra), { profile: 'domain_credential' }, csr('pump'));
    await onBehalf();
    await gateway.devices.block(admin, device.id, { comment: '' });
    expect(await failure(onBehalf())).toMatchObject({ code: 'forbidden', detail: 'the device is blocked' });
  });
});

test('the registration authority of the former domain cannot renew the certificate of a moved device', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const ra = await registrationAuthority(site);
  const { device, certificate } = await enrolled(site, 'pump');
  const { subject, issuer, serialNumber } = parseCertificate(certificate);
  const der = request(testKey('p-256', 'new'), formatDistinguishedName(subject));
  const renew = async () => {
    const target = { protocol: 'cmp', domain: undefined, profile: undefined } as const;
    const requester = await gateway.admit(holder(ra), target);
    const renews = { issuer, serialNumber };
    return gateway.enrol(requester, { operation: 'renew', request: { kind: 'pkcs10', der }, renews });
  };
  expect((await renew()).kind).toBe('issued');
  const elsewhere = await gateway.domains.create(admin, { uniqueName: 'elsewhere' });
  await gateway.devices.update(admin, device.id, { domain: elsewhere.id });
  expect(await failure(renew())).toMatchObject({
    code: 'forbidden',
    detail: 'the device "pump" does not belong to the domain "default"',
  });
});

describe('the certificates of a device', () => {
  test('are all revoked for the given reason, in several commits if needed, and no others are', async () => {
    await using site = await installation();
    const { gateway, admin, store } = site;
    const { device } = await enrolled(site, 'pump');
    const other = await enrolled(site, 'other');
    const [sample] = (
      await store.list('certificate', {
        where: [{ field: 'device', is: 'equal', value: device.id }],
        limit: 1,
      })
    ).records;
    const { id: _, ...values } = sample!;
    await store.commit(
      Array.from({ length: 230 }, (_, n) => ({
        op: 'insert',
        kind: 'certificate',
        values: { ...values, serialNumber: `7F${String(n).padStart(6, '0')}` },
      })),
    );
    const before = (await store.get('issuingCa', sample!.ca))!.crlNumber;
    expect(await gateway.devices.revokeCertificates(admin, device.id, 'superseded')).toBe(231);
    expect(await gateway.devices.revokeCertificates(admin, device.id, 'superseded')).toBe(0);
    expect((await store.get('issuingCa', sample!.ca))!.crlNumber).toBe(before + 1);
    const good = [{ field: 'status', is: 'equal', value: 'good' } as const];
    const { records } = await store.list('certificate', { where: good, limit: 100 });
    expect(records.map((record) => record.device)).toContain(other.device.id);
    expect(records.map((record) => record.device)).not.toContain(device.id);
  });

  test('can all be put on hold together, and are released one by one', async () => {
    await using site = await installation();
    const { device } = await enrolled(site, 'pump');
    const { devices } = site.gateway;
    expect(await devices.revokeCertificates(site.admin, device.id, 'certificateHold')).toBe(1);
    expect(await devices.revokeCertificates(site.admin, device.id, 'certificateHold')).toBe(0);
    const release = devices.revokeCertificates(site.admin, device.id, 'removeFromCRL');
    expect(await failure(release)).toMatchObject({ code: 'malformed', field: 'reason' });
    expect(await devices.revokeCertificates(site.admin, device.id, 'keyCompromise')).toBe(1);
  });
});

test('the history of a device has its actions, and those on it and its certificates, page by page', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const { device, secret } = await enrolled(site, 'pump');
  // Events of another device, whose id starts with the same digit and whose name only adds a suffix.
  for (let n = 2; n <= 11; n++) await site.device(`pump-${n}`);
  const [certificate] = (await site.store.list('certificate', { limit: 1 })).records;
  await gateway.certificates.revoke(admin, certificate!.id, { reason: 'superseded' });
  await gateway.devices.block(admin, device.id, { comment: 'lost' });
  await failure(site.enrol(password('pump', secret), {}, csr('pump')));
  const all = await gateway.devices.timeline(admin, device.id, { limit: 100 });
  expect(all.records.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'enrolment.admit refused',
    'device.block success',
    'certificate.revoke success',
    'certificate.issue success',
    'device.readSecrets success',
    'device.create success',
  ]);
  const paged: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await gateway.devices.timeline(admin, device.id, { limit: 2, ...(cursor && { cursor }) });
    paged.push(...page.records.map(({ id }) => id));
    cursor = page.next;
  } while (cursor);
  expect(paged).toEqual(all.records.map(({ id }) => id));
  const wrong = gateway.devices.timeline(admin, device.id, { limit: 2, cursor: '1 or 1' });
  expect(await failure(wrong)).toMatchObject({ code: 'malformed', field: 'cursor' });
});

test('a device in another domain gets and renews no certificate through a registration authority', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const { device, certificate } = await enrolled(site, 'pump');
  const evidence = holder(await registrationAuthority(site));
  const { issuingCa, profiles } = await gateway.domains.read(admin, 1);
  const { id: domain } = await gateway.domains.create(admin, { uniqueName: 'other', issuingCa, profiles });
  const { issuer, serialNumber } = parseCertificate(certificate);
  const renewal = async () => {
    const target = { protocol: 'cmp', domain: undefined, profile: undefined } as const;
    const requester = await gateway.admit(evidence, target);
    const request = { kind: 'pkcs10', der: csr('pump') } as const;
    return gateway.enrol(requester, { operation: 'renew', request, renews: { issuer, serialNumber } });
  };
  expect((await renewal()).kind).toBe('issued');
  await site.store.commit([{ op: 'update', kind: 'device', id: device.id, set: { domain } }]);
  expect(await failure(renewal())).toMatchObject({ code: 'forbidden', id: 'device_in_other_domain' });
  const enrolment = site.enrol(evidence, { profile: 'domain_credential' }, csr('pump'));
  expect(await failure(enrolment)).toMatchObject({ code: 'forbidden' });
});
