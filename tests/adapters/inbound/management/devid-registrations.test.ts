import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseCertificate } from '#core/x509/certificate.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { holder, type Installation, installation, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, trust } from '#tests/fixtures/manufacturer.ts';

let site: Installation;
let api: Api;
let operator: Api;
let truststore: number;
let generic: number;
const maker = makerCa('CN=Maker Root');
const path = '/api/devid-registrations/';

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  operator = await apiAs(site, 'Operator');
  truststore = await trust(site, 'makers', maker.certificate);
  const certificates = [maker.certificate];
  const record = { uniqueName: 'generic', intendedUsage: 2, certificates };
  generic = (await site.gateway.truststores.create(site.admin, record)).id;
});
afterAll(() => site[Symbol.asyncDispose]());

let names = 0;
const whole = (changes: object = {}) => ({
  unique_name: `pumps ${++names}`,
  truststore,
  domain: 1,
  serial_number_pattern: 'PMP-[0-9]{4}',
  ...changes,
});

describe('a DevID registration', () => {
  test('can be created, found, changed and deleted', async () => {
    await using own = await installation();
    const api = await apiOf(own);
    const truststore = await trust(own, 'makers', maker.certificate);
    const body = whole({ truststore });
    const { status, body: made } = await api.post(path, body);
    expect([status, made]).toEqual([
      201,
      { ...body, id: expect.any(Number), created_at: expect.stringMatching(/^[\d-]+T[\d:.]+$/) },
    ]);
    for (const query of [
      `unique_name=${body.unique_name}`,
      `truststore=${truststore}`,
      'domain=1',
      'search=PMP',
    ]) {
      expect((await api.get(`${path}?${query}`)).body).toEqual([made]);
    }
    expect((await api.get(`${path}?domain=999`)).body).toEqual([]);
    const changed = await api.patch(`${path}${made.id}/`, { serial_number_pattern: '.*' });
    expect(changed.body).toEqual({ ...made, serial_number_pattern: '.*' });
    expect((await api.put(`${path}${made.id}/`, changed.body)).body).toEqual(changed.body);
    expect((await api.remove(`${path}${made.id}/`)).status).toBe(204);
    const actions = (await own.audit()).map(({ action }) => action).filter((one) => one.startsWith('devid'));
    expect(actions).toEqual(
      ['create', 'update', 'update', 'delete'].map((one) => `devidRegistration.${one}`),
    );
  });

  const refusals: [what: string, changes: () => object, field: string, words: string][] = [
    ['without a name', () => ({ unique_name: undefined }), 'unique_name', 'required'],
    ['without a truststore', () => ({ truststore: undefined }), 'truststore', 'required'],
    ['without a domain', () => ({ domain: undefined }), 'domain', 'required'],
    ['without a pattern', () => ({ serial_number_pattern: undefined }), 'serial_number_pattern', 'required'],
    ['with an empty pattern', () => ({ serial_number_pattern: '' }), 'serial_number_pattern', 'blank'],
    ['for a truststore that is not there', () => ({ truststore: 999 }), 'truststore', 'no such truststore'],
    ['for a truststore of another usage', () => ({ truststore: generic }), 'truststore', 'not IDevID'],
    ['for no truststore', () => ({ truststore: null }), 'truststore', 'integer'],
    ['for a domain that is not there', () => ({ domain: 999 }), 'domain', 'no such domain'],
    ['with a pattern that is none', () => ({ serial_number_pattern: '(' }), 'serial_number_pattern', ''],
    ['with a back-reference', () => ({ serial_number_pattern: '(a)\\1' }), 'serial_number_pattern', ''],
    ['with a look-ahead', () => ({ serial_number_pattern: '(?=a)' }), 'serial_number_pattern', ''],
    [
      'with a pattern that is too long',
      () => ({ serial_number_pattern: 'x'.repeat(1001) }),
      'serial_number_pattern',
      '1000',
    ],
    [
      'with a pattern that is too large',
      () => ({ serial_number_pattern: '((a{100}){100}){100}' }),
      'serial_number_pattern',
      '',
    ],
  ];
  test.each(refusals)('%s is rejected', async (_what, changes, field, words) => {
    const { status, body } = await api.post(path, whole(changes()));
    expect([status, Object.keys(body)]).toEqual([400, [field]]);
    expect(body[field].join()).toContain(words);
  });

  test('has a unique name', async () => {
    const body = whole();
    const { body: made } = await api.post(path, body);
    const again = await api.post(path, body);
    expect([again.status, again.body]).toEqual([
      400,
      { unique_name: ['another DevID registration already has this value'] },
    ]);
    const { body: other } = await api.post(path, whole());
    expect((await api.patch(`${path}${other.id}/`, { unique_name: made.unique_name })).status).toBe(400);
    expect((await api.patch(`${path}${other.id}/`, { truststore: generic })).status).toBe(400);
    for (const { id } of [made, other]) await api.remove(`${path}${id}/`);
  });

  test('prevents the deletion of its truststore and its domain', async () => {
    await using own = await installation();
    const api = await apiOf(own);
    const truststore = await trust(own, 'makers', maker.certificate);
    const { body: domain } = await api.post('/api/domains/', { unique_name: 'hall' });
    const { body: made } = await api.post(path, whole({ truststore, domain: domain.id }));
    for (const url of [`/api/truststores/${truststore}/`, `/api/domains/${domain.id}/`]) {
      const { status, body } = await api.remove(url);
      expect([status, body]).toEqual([
        409,
        {
          detail: 'still used by 1 DevID registration',
          code: 'still_used',
          values: { devidRegistration: 1 },
        },
      ]);
    }
    const { status, body } = await api.patch(`/api/truststores/${truststore}/`, { intended_usage: 1 });
    expect([status, body]).toEqual([
      409,
      {
        detail: 'a DevID registration still uses this truststore for IDevIDs',
        code: 'truststore_used_for_idevids',
      },
    ]);
    expect((await api.patch(`/api/truststores/${truststore}/`, { intended_usage: 0 })).status).toBe(200);
    await api.remove(`${path}${made.id}/`);
    expect((await api.remove(`/api/domains/${domain.id}/`)).status).toBe(204);
  });

  test('can be changed by administrators and read by others', async () => {
    expect((await operator.get(path)).status).toBe(200);
    expect((await operator.post(path, whole())).status).toBe(403);
  });
});

test('shows the IDevID of a device that it accepted, and managers of devices can reset it', async () => {
  await api.post(path, whole());
  const pump = idevid(testKey('p-256', 'pump'), maker, 'serialNumber=PMP-0001');
  const csr = request(testKey('p-256', 'ldevid'), 'CN=PMP-0001');
  await site.enrol(holder(pump), {}, csr);
  const [device] = (await api.get('/api/devices/?search=PMP-0001')).body;
  const config = `/api/onboarding-configs/${device.onboarding_config}/`;
  const { body: shown } = await api.get(config);
  expect(shown).toMatchObject({
    onboarding_status: 2,
    onboarding_protocol: 'est',
    idevid_truststore: truststore,
    idevid: {
      subject: 'serialNumber=PMP-0001',
      issuer: 'CN=Maker Root',
      serial_number: parseCertificate(pump).serialNumber,
      fingerprint: expect.stringMatching(/^[0-9A-F]{64}$/),
    },
  });
  // The record can be sent back as it was read, and nothing changes.
  expect((await api.put(config, shown)).body).toEqual(shown);

  const auditor = await apiAs(site, 'Auditor');
  const reset = `/api/devices/${device.id}/reset-onboarding/`;
  expect((await auditor.call('POST', reset)).status).toBe(403);
  expect(await operator.call('POST', reset)).toMatchObject({ status: 200, body: device });
  expect((await api.get(config)).body).toMatchObject({ onboarding_status: 1, idevid: null });
  await site.enrol(holder(pump), {}, csr);
  expect((await api.patch(config, { onboarding_status: 1 })).body).toMatchObject({
    onboarding_status: 1,
    onboarding_protocol: null,
    idevid: null,
  });
  const { device: other } = await site.device('no-onboarding');
  const { status, body } = await api.call('POST', `/api/devices/${other.id}/reset-onboarding/`);
  expect([status, body]).toEqual([
    409,
    { detail: 'the device has no onboarding configuration', code: 'no_onboarding_config' },
  ]);
});
