import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { extensionInWords } from '#core/x509/words.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';

const path = '/api/cert-profiles/';
const key = testKey('p-256', 'preview');

let site: Installation;
let api: Api;
let device: number;
let secret: string;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  const made = await site.device('pump-1');
  device = made.device.id;
  secret = made.password;
  await api.patch(`/api/devices/${device}/`, { serial_number: 'SN-1' });
});
afterAll(() => site[Symbol.asyncDispose]());

const idOf = async (uniqueName: string): Promise<number> =>
  (await api.get(`${path}?unique_name=${uniqueName}`)).body[0].id;
const csr = (subject: string, names: readonly string[] = []): string =>
  pem('CERTIFICATE REQUEST', request(key, subject, names));
const previewOf = async (uniqueName: string, body: object) =>
  api.post(`${path}${await idOf(uniqueName)}/preview/`, body);
const stored = async () => [
  await site.store.count('certificate', [], 1000),
  (await site.audit()).length,
  (await api.get(path)).body.length,
];

describe('the language of profiles', () => {
  test('has a JSON Schema, which accepts the shipped profiles and rejects mistakes', async () => {
    const { status, body } = await api.get(`${path}schema/`);
    expect([status, body.$schema]).toEqual([200, 'https://json-schema.org/draft/2020-12/schema']);
    const valid = new Ajv2020({ strict: false }).compile(body);
    for (const rules of Object.values(shippedProfiles)) expect(valid(rules)).toBe(true);
    for (const wrong of [{}, { validity: {}, x: 1 }, { validity: {}, subject: { CN: { fix: 'x' } } }]) {
      expect(valid(wrong)).toBe(false);
    }
    const { body: document } = await api.get('/schema/?format=json');
    const { properties } = document.components.schemas.ProfileRules;
    expect(Object.keys(properties)).toEqual(Object.keys(body.properties));
    expect(document.components.schemas.CertificateProfile.properties.profile).toEqual({
      $ref: '#/components/schemas/ProfileRules',
      description: expect.any(String),
    });
  });

  test('rejects an invalid profile with the place of each problem', async () => {
    const profile = {
      validity: { duration: '1 year' },
      subject: { CN: { fixed: '{device.name}' }, nickname: {} },
      subjectAltName: { dns: { pattern: '(' } },
      extensions: { custom: { '1.2.3.4': { fixed: { hex: 'zz00' } } }, 'a/b': 1 },
    };
    const form = await api.post(path, { unique_name: 'wrong', profile });
    expect([form.status, form.body]).toEqual([400, { profile: ['/extensions/a~1b: unknown member'] }]);
    const { 'a/b': _, ...extensions } = profile.extensions;
    const { status, body } = await api.post(path, {
      unique_name: 'wrong',
      profile: { ...profile, extensions },
    });
    expect([status, Object.keys(body)]).toEqual([400, ['profile']]);
    expect(body.profile.map((message: string) => message.split(': ', 1)[0])).toEqual([
      '/subject/CN/fixed',
      '/subject/nickname',
      '/subjectAltName/dns/pattern',
      '/extensions/custom/1.2.3.4/fixed',
      '/validity/duration',
    ]);
  });
});

describe('a preview', () => {
  test('is equal to the issued certificate, has a reason for each field, and leaves no record', async () => {
    const asked = { csr: csr('CN=pump-1,O=Plant', ['DNS:pump-1.example', 'IP:10.0.0.1']), device };
    const before = await stored();
    const { status, body } = await previewOf('tls_server', asked);
    expect(await stored()).toEqual(before);
    expect([status, body.would_be_issued, body.objections, body.lint_passes]).toEqual([200, true, [], true]);
    const der = await site.enrol(
      password('pump-1', secret),
      { profile: 'tls_server' },
      request(key, 'CN=pump-1,O=Plant', ['DNS:pump-1.example', 'IP:10.0.0.1']),
    );
    const issued = parseCertificate(der);
    const stamp = (time: number) => new Date(time).toISOString().slice(0, -1);
    expect(body.certificate).toEqual({
      subject: formatDistinguishedName(issued.subject),
      subject_alternative_names: ['DNS:pump-1.example', 'IP:10.0.0.1'],
      issuer: formatDistinguishedName(issued.issuer),
      not_valid_before: stamp(issued.notBefore),
      not_valid_after: stamp(issued.notAfter),
      key_type: 'p-256',
      signature_algorithm: 'ecdsa-sha256',
      extensions: issued.extensions.map((one) => ({
        oid: one.oid,
        critical: one.critical,
        ...extensionInWords(one),
      })),
    });
    const words = Object.fromEntries(
      body.certificate.extensions.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    expect(words).toEqual({
      basicConstraints: 'not a CA',
      keyUsage: 'digitalSignature',
      extendedKeyUsage: 'serverAuth',
      subjectAltName: 'DNS:pump-1.example, IP:10.0.0.1',
      subjectKeyIdentifier: expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/),
      authorityKeyIdentifier: expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/),
      crlDistributionPoints: 'http://pki.example:8080/crl/2.crl',
      authorityInfoAccess: 'CA issuers http://pki.example:8080/aia/2.cer',
    });
    const explained = new Set(body.explanations.map(({ field }: { field: string }) => field));
    for (const name of Object.keys(words).filter((one) => one !== 'subjectAltName'))
      expect(explained).toContain(`extensions.${name}`);
    for (const field of [
      'keys',
      'subject.CN',
      'subject.O',
      'subjectAltName.dns',
      'subjectAltName.ip',
      'notBefore',
      'notAfter',
    ])
      expect(explained).toContain(field);
    expect(body).toMatchObject({
      profile: { unique_name: 'tls_server' },
      domain: { id: 1, unique_name: 'default' },
      offered_as: ['tls_server'],
      device: { id: device, common_name: 'pump-1', serial_number: 'SN-1' },
      issuing_ca: { id: 2, unique_name: 'issuing' },
      security_level: 'brownfield',
      request: { subject: 'CN=pump-1,O=Plant', key_type: 'p-256' },
    });
  });

  test('accepts base64 of DER, and uses the name in the request if there is no device', async () => {
    const base64 = Buffer.from(request(key, 'CN=someone')).toString('base64');
    const { body } = await previewOf('domain_credential', { csr: base64 });
    expect([body.would_be_issued, body.device, body.certificate.subject]).toEqual([true, null, 'CN=someone']);
  });

  test('accepts rules that are not stored, with or without a profile', async () => {
    const profile = {
      validity: { duration: 'P3D' },
      subject: { CN: { fixed: '{device.common_name}-x', unfit: 'drop' } },
      others: { subject: 'drop' },
    };
    const asked = { csr: csr('CN=pump-1,O=Plant'), device, profile };
    for (const { status, body } of [
      await previewOf('tls_server', asked),
      await api.post(`${path}preview/`, asked),
    ]) {
      expect([status, body.would_be_issued, body.certificate.subject]).toEqual([200, true, 'CN=pump-1-x']);
      expect(body.explanations).toContainEqual({
        field: 'subject.O',
        value: '',
        because: '"Plant" is omitted: the profile does not allow it',
      });
    }
    const alone = await api.post(`${path}preview/`, asked);
    expect([alone.body.profile, alone.body.offered_as]).toEqual([null, []]);
    const { status, body } = await api.post(`${path}preview/`, { csr: asked.csr });
    expect([status, body]).toEqual([400, { profile: ['this field is required'] }]);
  });

  const objections: readonly [what: string, profile: string, body: () => object, expected: object[]][] = [
    [
      'a name that does not fit, and how far it came',
      'domain_credential',
      () => ({ csr: csr('CN=pump-2'), device }),
      [{ by: 'profile', code: 'badCsr', where: 'subject.CN', detail: expect.stringContaining('"pump-1"') }],
    ],
    [
      'no name at all',
      'tls_server',
      () => ({ csr: csr('') }),
      [{ by: 'profile', code: 'badCsr', where: 'subjectAltName', detail: expect.any(String) }],
    ],
    [
      'a profile that the domain does not offer',
      'code_signing',
      () => ({ csr: csr('CN=builder') }),
      [
        {
          by: 'domain',
          code: 'forbidden',
          where: null,
          detail: 'the domain default does not offer this profile',
        },
      ],
    ],
    [
      'a name of this service',
      'tls_server',
      () => ({ csr: csr('CN=pump-1', ['DNS:pki.example']), device }),
      [{ by: 'names', code: 'forbidden', where: null, detail: expect.stringContaining('pki.example') }],
    ],
    [
      'a request that is none',
      'tls_server',
      () => ({ csr: Buffer.from('0123').toString('base64') }),
      [{ by: 'request', code: 'malformed', where: null, detail: expect.any(String) }],
    ],
    [
      'a request without proof of possession',
      'tls_server',
      () => ({ csr: pem('CERTIFICATE REQUEST', tampered(request(key, 'CN=pump-1'))) }),
      [{ by: 'request', code: 'badProof', where: null, detail: expect.any(String) }],
    ],
    [
      'rules that are none',
      'tls_server',
      () => ({ csr: csr('CN=x'), profile: { validity: { duration: 'P1Y' }, subject: { CN: { most: 0 } } } }),
      [{ by: 'rules', code: 'malformed', where: '/subject/CN/most', detail: expect.any(String) }],
    ],
    [
      'a CA below one that may have none',
      'tls_server',
      () => ({ csr: csr('CN=x'), profile: shippedProfiles.issuing_ca }),
      [{ by: 'lint', code: 'badCsr', where: null, detail: expect.stringContaining('RFC 5280') }],
    ],
  ];
  test.each(objections)('reports %s, and does not fail', async (_, profile, body, expected) => {
    const before = await stored();
    const answer = await previewOf(profile, body());
    expect([answer.status, answer.body.would_be_issued, answer.body.objections]).toEqual([
      200,
      false,
      expected,
    ]);
    expect(await stored()).toEqual(before);
  });

  test('of a rejected request has the explanations up to the rejection', async () => {
    const { body } = await previewOf('tls_client', { csr: csr('CN=pump-1,DC=x'), device });
    expect([body.certificate, body.lint_passes]).toEqual([null, null]);
    expect(body.explanations).toEqual([
      { field: 'keys', value: 'p-256', because: 'the profile allows every type of key' },
    ]);
  });

  test('reports a CA that cannot sign', async () => {
    await api.post('/api/issuing-cas/2/deactivate/');
    const { body } = await previewOf('tls_server', { csr: csr('CN=pump-1'), device });
    await api.post('/api/issuing-cas/2/activate/');
    expect([body.objections, body.certificate.subject]).toEqual([
      [{ by: 'issuingCa', code: 'unavailable', where: null, detail: 'the issuing CA is not active' }],
      'CN=pump-1',
    ]);
    await api.post('/api/domains/', { unique_name: 'barren', issuing_ca: null });
    const { body: domains } = await api.get('/api/domains/?search=barren');
    const barren = await previewOf('tls_server', { csr: csr('CN=pump-1'), device, domain: domains[0].id });
    expect(
      barren.body.objections.map(({ by, detail }: { by: string; detail: string }) => [by, detail]),
    ).toEqual([
      ['domain', 'the device "pump-1" does not belong to the domain "barren"'],
      ['issuingCa', 'the domain "barren" has no issuing CA: assign one'],
    ]);
  });

  test.each([
    ['device', { device: 999 }],
    ['domain', { domain: 999 }],
    ['csr', { csr: '!' }],
    ['profil', { profil: {} }],
  ])('of invalid input is rejected at %s', async (field, part) => {
    const { status, body } = await previewOf('tls_server', { csr: csr('CN=x'), ...part });
    expect([status, Object.keys(body)]).toEqual([400, [field]]);
  });

  test('is available to accounts that may read profiles and the other records of the preview', async () => {
    const unique_name = 'Profiles only';
    await api.post('/api/roles/', { unique_name, permissions: ['profiles.read'] });
    const limited = await apiAs(site, unique_name);
    const at = `${path}${await idOf('tls_server')}/preview/`;
    expect((await limited.post(at, { csr: csr('CN=x') })).status).toBe(200);
    for (const more of [{ device }, { domain: 1 }]) {
      expect((await limited.post(at, { csr: csr('CN=x'), ...more })).status).toBe(403);
    }
  });
});

function tampered(der: Uint8Array): Uint8Array {
  const copy = der.slice();
  copy[copy.length - 1]! ^= 1;
  return copy;
}

describe('an alias of a profile', () => {
  let domain: { id: number };
  beforeAll(async () => {
    const [credential, server] = [await idOf('domain_credential'), await idOf('tls_server')];
    const profiles = [{ profile: credential }, { profile: server, alias: 'web' }];
    domain = (await api.post('/api/domains/', { unique_name: 'aliased', profiles })).body;
  });

  test("is used in paths of a domain in place of the profile's name", async () => {
    const { password: own } = await site.device('pump-2', domain.id);
    const enrol = (profile: string) =>
      site.enrol(password('pump-2', own), { domain: 'aliased', profile }, request(key, 'CN=pump-2'));
    expect(formatDistinguishedName(parseCertificate(await enrol('web')).subject)).toBe('CN=pump-2');
    await expect(enrol('tls_server')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(enrol('nothing')).rejects.toMatchObject({ code: 'notFound' });
    const { body } = await previewOf('tls_server', { csr: csr('CN=pump-2'), domain: domain.id });
    expect([body.offered_as, body.would_be_issued]).toEqual([['web'], true]);
    // It is unknown in other domains.
    const elsewhere = site.enrol(password('pump-1', secret), { profile: 'web' }, request(key, 'CN=pump-1'));
    await expect(elsewhere).rejects.toMatchObject({ code: 'notFound' });
    await elsewhere.catch(() => {});
  });

  test.each(['a/b', '~web', '..', 'a?b', 'a%2fb', 'tls_client'])('cannot be %s', async (alias) => {
    const profile = await idOf('tls_server');
    const { status, body } = await api.post('/api/domains/', {
      unique_name: 'x',
      profiles: [{ profile, alias }],
    });
    expect([status, Object.keys(body)]).toEqual([400, ['profiles']]);
  });

  test('cannot be the name of another profile', async () => {
    const { status, body } = await api.post(path, { unique_name: 'web' });
    expect([status, body]).toEqual([
      400,
      { unique_name: ['the domain "aliased" offers another profile under this alias'] },
    ]);
    const { body: made } = await api.post(path, { unique_name: 'fine' });
    expect((await api.patch(`${path}${made.id}/`, { unique_name: 'web' })).status).toBe(400);
  });
});
