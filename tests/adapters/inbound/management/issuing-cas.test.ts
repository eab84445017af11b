import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { caWithoutCrl } from '#tests/fixtures/ca-without-crl.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { outsideCa, selfSigned, signed } from '#tests/fixtures/outside-ca.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  // OpenSSL verifies at the current time only.
  site = await installation({ clock: testClock(Date.now() + 60_000) });
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const path = '/api/issuing-cas/';
let names = 0;
const name = (): string => `ca ${++names}`;
const certificateOf = async (id: number): Promise<Uint8Array> => site.gateway.caCertificate(id);

describe('a generated CA', () => {
  test('is a root with the requested fields in its certificate', async () => {
    const uniqueName = name();
    const { status, body } = await api.post(path, {
      unique_name: uniqueName,
      issuing_ca_type: 0,
      subject: 'CN=Plant Root,O=Plant,C=DE',
      key_type: 'p-384',
      validity: 'P5Y',
      path_length: 1,
    });
    expect([status, body]).toEqual([
      201,
      {
        id: body.id,
        unique_name: uniqueName,
        common_name: 'Plant Root',
        issuing_ca_type: 0,
        issuing_ca_type_display: 'Auto-Generated Root',
        is_active: true,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
        last_crl_issued_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        has_crl: true,
      },
    ]);
    const text = openssl(['x509', '-in', 'c', '-noout', '-text'], {
      c: pem('CERTIFICATE', await certificateOf(body.id)),
    }).text;
    expect(text).toMatch(/Subject: C\s?=\s?DE, O\s?=\s?Plant, CN\s?=\s?Plant Root/);
    expect(text).toMatch(/CA:TRUE, pathlen:1/);
    expect(text).toMatch(/secp384r1/);
    const { notBefore, notAfter } = parseCertificate(await certificateOf(body.id));
    expect(Math.round((notAfter - notBefore - 3_600_000) / 86_400_000)).toBe(5 * 365 + 1);
  });

  test('can be below another CA, and OpenSSL verifies the path', async () => {
    const root = await api.post(path, {
      unique_name: name(),
      issuing_ca_type: 0,
      common_name: 'Root of two',
    });
    const { status, body } = await api.post(path, {
      unique_name: name(),
      issuing_ca_type: 1,
      parent: root.body.id,
      common_name: 'Second of two',
      key_type: 'rsa-3072',
    });
    expect([status, body.issuing_ca_type_display]).toEqual([201, 'Auto-Generated']);
    const verified = openssl(['verify', '-x509_strict', '-CAfile', 'root', 'ca'], {
      root: pem('CERTIFICATE', await certificateOf(root.body.id)),
      ca: pem('CERTIFICATE', await certificateOf(body.id)),
    });
    expect(verified.text).toBe('ca: OK\n');
    const { notAfter } = parseCertificate(await certificateOf(body.id));
    expect(notAfter).toBeLessThanOrEqual(parseCertificate(await certificateOf(root.body.id)).notAfter);
  });

  test('cannot be below a CA whose path length leaves no room', async () => {
    const root = await api.post(path, { unique_name: name(), issuing_ca_type: 0, path_length: 1 });
    const below = { issuing_ca_type: 1, parent: root.body.id };
    const { status, body } = await api.post(path, { unique_name: name(), ...below });
    expect(status).toBe(201);
    const refused = await api.post(path, { unique_name: name(), ...below, parent: body.id });
    expect([refused.status, refused.body]).toEqual([
      400,
      { parent: ['pathLenConstraint of this CA allows no CA below it'] },
    ]);
  });

  test('without a parent is below the newest root', async () => {
    const root = await api.post(path, { unique_name: name(), issuing_ca_type: 0, common_name: 'The newest' });
    const { body } = await api.post(path, { unique_name: name(), issuing_ca_type: 1 });
    const { issuer } = parseCertificate(await certificateOf(body.id));
    expect(issuer.der).toEqual(parseCertificate(await certificateOf(root.body.id)).subject.der);
  });

  test('issues for a domain', async () => {
    const ca = await api.post(path, { unique_name: name(), issuing_ca_type: 1, key_type: 'ed25519' });
    const domain = await api.post('/api/domains/', { unique_name: 'of-ed25519', issuing_ca: ca.body.id });
    const issued = await api.post('/api/certificates/', { common_name: 'pump', domain: domain.body.id });
    expect([issued.status, issued.body.issuing_ca]).toEqual([201, ca.body.id]);
  });
});

describe('an imported CA', () => {
  const outside = outsideCa();
  const material = {
    private_key: outside.key,
    certificate: outside.certificate,
    certificate_chain: outside.root,
  };
  const p12 = (...options: string[]): Uint8Array =>
    openssl(
      [
        'pkcs12',
        '-export',
        '-inkey',
        'k',
        '-in',
        'c',
        '-certfile',
        'r',
        '-out',
        'out',
        '-passout',
        'pass:secret',
        ...options,
      ],
      { k: outside.key, c: outside.certificate, r: outside.root },
      ['out'],
    ).file('out');

  const bringIn = (fields: object) => api.post(path, { unique_name: name(), issuing_ca_type: 2, ...fields });

  for (const [how, fields] of [
    ['in PEM', material],
    [
      'with the chain in the certificate file',
      { private_key: outside.key, certificate: outside.certificate + outside.root },
    ],
    ['with the chain as a list', { ...material, certificate_chain: [outside.root] }],
    ['with an encrypted key', { ...material, private_key: encrypted(outside.key), password: 'secret' }],
    ['in PKCS #12', { pkcs12: Buffer.from(p12()).toString('base64'), password: 'secret' }],
    [
      'in PKCS #12 as a data: URI',
      {
        pkcs12: `data:application/x-pkcs12;base64,${Buffer.from(p12('-legacy')).toString('base64')}`,
        password: 'secret',
      },
    ],
  ] as const) {
    test(`signs with its own key: ${how}`, async () => {
      const { status, body } = await bringIn(fields);
      expect([status, body.common_name, body.issuing_ca_type]).toEqual([201, 'Outside Issuing', 2]);
      expect(Buffer.from(await certificateOf(body.id))).toEqual(Buffer.from(outside.certificateDer));
      const crl = await api.post(`${path}${body.id}/generate-crl/`);
      expect(crl.status).toBe(200);
      const verified = openssl(['crl', '-in', 'crl', '-CAfile', 'ca', '-noout'], {
        crl: (await api.get(`${path}${body.id}/crl/`)).text,
        ca: outside.certificate + outside.root,
      });
      expect(verified.text).toContain('verify OK');
      expect((await api.remove(`${path}${body.id}/`)).status).toBe(204);
    });
  }

  test('can be uploaded in a form with files', async () => {
    const form = new FormData();
    form.set('unique_name', name());
    form.set('issuing_ca_type', '2');
    form.set('password', 'secret');
    form.set('pkcs12', new Blob([Uint8Array.from(p12())]), 'ca.p12');
    const { status, body } = await api.call('POST', path, { body: form });
    expect([status, body.common_name]).toEqual([201, 'Outside Issuing']);
    const again = await bringIn(material);
    expect(again.body).toEqual({ certificate: [expect.stringContaining('already has this certificate')] });
    await api.remove(`${path}${body.id}/`);
  });

  test('can be a root', async () => {
    const { status, body } = await bringIn({ private_key: outside.rootKey, certificate: outside.root });
    expect([status, body.common_name]).toEqual([201, 'Outside Root']);
  });

  const leaf = 'basicConstraints=CA:FALSE\n';
  const other = testKey('p-256', 'another').pem();
  for (const [what, fields, field] of [
    ['a key of another certificate', { ...material, private_key: other }, 'private_key'],
    ['no key', { ...material, private_key: undefined }, 'private_key'],
    ['no certificate', { private_key: outside.key }, 'certificate'],
    ['what is no key', { ...material, private_key: 'secret' }, 'private_key'],
    ['a weak key', { ...material, private_key: openssl(['genrsa', '1024']).text }, 'private_key'],
    ['what is no certificate', { ...material, certificate: 'certificate' }, 'certificate'],
    [
      'a certificate of no CA',
      { private_key: other, certificate: selfSigned(other, '/CN=x', leaf) },
      'certificate',
    ],
    [
      'a CA that may not sign certificates',
      {
        private_key: other,
        certificate: selfSigned(other, '/CN=x', 'basicConstraints=CA:TRUE\nkeyUsage=cRLSign\n'),
      },
      'certificate',
    ],
    [
      'a CA that may not sign CRLs',
      {
        private_key: other,
        certificate: selfSigned(other, '/CN=x', 'basicConstraints=CA:TRUE\nkeyUsage=keyCertSign\n'),
      },
      'certificate',
    ],
    ['a chain without its root', { ...material, certificate_chain: undefined }, 'certificate_chain'],
    [
      'a chain of somebody else',
      { ...material, certificate_chain: selfSigned(other, '/CN=Outside Root') },
      'certificate_chain',
    ],
    [
      'a chain whose signature does not hold',
      {
        ...material,
        certificate_chain: selfSigned(testKey('p-384', 'forger').pem(), '/O=Plant/CN=Outside Root'),
      },
      'certificate_chain',
    ],
    [
      'a chain that may have no CA below',
      {
        private_key: outside.key,
        certificate: pem('CERTIFICATE', belowRootWithoutSpace()),
        certificate_chain: rootWithoutSpace(),
      },
      'certificate_chain',
    ],
    ['what is no PKCS #12', { pkcs12: 'AAAA' }, 'pkcs12'],
    [
      'PKCS #12 and a certificate',
      { pkcs12: Buffer.from(p12()).toString('base64'), password: 'secret', certificate: outside.certificate },
      'certificate',
    ],
    [
      'PKCS #12 with a wrong password',
      { pkcs12: Buffer.from(p12()).toString('base64'), password: 'wrong' },
      'password',
    ],
    ['a URL', { ...material, certificate: 'https://ca.example/ca.pem' }, 'certificate'],
    ['a validity', { ...material, validity: 'P1Y' }, 'validity'],
    ['a key store that is not configured', { ...material, key_store: 'hsm' }, 'key_store'],
  ] as const) {
    test(`is rejected with ${what}, with the field named, and leaves nothing`, async () => {
      const before = (await api.get(path)).body.length;
      const { status, body } = await bringIn(fields);
      expect([status, Object.keys(body)]).toEqual([400, [field]]);
      expect((await api.get(path)).body).toHaveLength(before);
    });
  }

  test('is rejected when its certificate has expired', async () => {
    const key = testKey('p-256', 'short').pem();
    const short = selfSigned(key, '/CN=Short', undefined, 1);
    await using later = await installation({ clock: testClock(Date.now() + 3 * 86_400_000) });
    const { status, body } = await (await apiOf(later)).post(path, {
      unique_name: 'short',
      issuing_ca_type: 2,
      private_key: key,
      certificate: short,
    });
    expect([status, body]).toEqual([400, { certificate: [expect.stringContaining('expired')] }]);
  });

  function rootWithoutSpace(): string {
    return selfSigned(
      outside.rootKey,
      '/CN=No Space',
      'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n',
    );
  }
  function belowRootWithoutSpace(): Uint8Array {
    const root = { key: outside.rootKey, certificate: rootWithoutSpace() };
    return signed({ key: outside.key, subject: '/CN=Below No Space' }, root);
  }
});

function encrypted(key: string): string {
  return openssl(['pkcs8', '-topk8', '-in', 'key', '-passout', 'pass:secret'], { key }).text;
}

describe('creation is rejected with the field named', () => {
  const root = { unique_name: 'x', issuing_ca_type: 0 };
  for (const [body, field, message] of [
    [{ issuing_ca_type: 0 }, 'unique_name', 'this field is required'],
    [{ unique_name: 'x' }, 'issuing_ca_type', 'this field is required'],
    [{ ...root, unique_name: '' }, 'unique_name', 'this field may not be blank'],
    [{ ...root, unique_name: 'x'.repeat(256) }, 'unique_name', 'at most 255 characters are allowed'],
    [{ ...root, unique_name: 'a\u0007b' }, 'unique_name', 'control characters are not allowed'],
    [{ ...root, unique_name: 'root' }, 'unique_name', 'another issuing CA already has this name'],
    [{ ...root, issuing_ca_type: 9 }, 'issuing_ca_type', 'one of 0, 1, 2, 3, 4, 5 is expected'],
    [{ ...root, issuing_ca_type: '0' }, 'issuing_ca_type', 'one of 0, 1, 2, 3, 4, 5 is expected'],
    [{ ...root, issuing_ca_type: 4 }, 'issuer', 'this field is required'],
    [
      { ...root, issuing_ca_type: 5, issuer: 'plant' },
      'issuer',
      'this issuer is not configured; configured issuers: none',
    ],
    [
      { ...root, issuing_ca_type: 4, key_type: 'p-256' },
      'key_type',
      'the upstream CA has its own key and certificate',
    ],
    [{ ...root, issuer: 'plant' }, 'issuer', 'a root signs itself'],
    [{ ...root, common_name: 'x'.repeat(65) }, 'common_name', 'at most 64 characters are allowed'],
    [{ ...root, subject: 'plant root' }, 'subject', expect.any(String)],
    [{ ...root, subject: 'CN=x', common_name: 'x' }, 'subject', expect.any(String)],
    [{ ...root, subject: 'C=Germany' }, 'subject', expect.any(String)],
    [{ ...root, subject: 'C=D1,CN=x' }, 'subject', expect.any(String)],
    [{ ...root, key_type: 'rsa-1024' }, 'key_type', expect.stringContaining('one of p-256')],
    [
      { ...root, key_store: 'hsm' },
      'key_store',
      'this key store is not configured; configured key stores: default',
    ],
    [{ ...root, key_id: 'x' }, 'key_id', expect.any(String)],
    [{ ...root, validity: '10 years' }, 'validity', expect.stringContaining('P10Y')],
    [{ ...root, validity: 'P0D' }, 'validity', expect.any(String)],
    [{ ...root, validity: 'P9999Y' }, 'validity', expect.any(String)],
    [{ ...root, path_length: -1 }, 'path_length', expect.any(String)],
    [{ ...root, path_length: 1.5 }, 'path_length', expect.any(String)],
    [{ ...root, parent: 1 }, 'parent', 'a root signs itself'],
    [{ ...root, issuing_ca_type: 1, parent: 999 }, 'parent', 'there is no such issuing CA'],
    // The issuing CA of the first start.
    [
      { ...root, issuing_ca_type: 1, parent: 2 },
      'parent',
      'pathLenConstraint of this CA allows no CA below it',
    ],
    [{ ...root, is_active: 'yes' }, 'is_active', 'true or false is expected'],
    [{ ...root, issuing_ca_type: 3 }, 'key_store', expect.stringContaining('token')],
    [
      { ...root, issuing_ca_type: 3, key_store: 'default' },
      'key_store',
      expect.stringContaining('not a token'),
    ],
    [{ ...root, certificate: 'x' }, 'certificate', expect.any(String)],
    [{ ...root, hidden: true }, 'hidden', 'unknown field'],
  ] as const) {
    test(`${JSON.stringify(body).slice(0, 100)}: ${field}`, async () => {
      const before = (await api.get(path)).body.length;
      const answer = await api.post(path, body);
      expect([answer.status, answer.body]).toEqual([400, { [field]: [message] }]);
      expect((await api.get(path)).body).toHaveLength(before);
    });
  }
});

describe('a CA', () => {
  test('can be renamed without any other change', async () => {
    const { body: ca } = await api.post(path, { unique_name: name(), issuing_ca_type: 0 });
    const renamed = await api.patch(`${path}${ca.id}/`, { unique_name: 'renamed' });
    expect([renamed.status, renamed.body.unique_name]).toEqual([200, 'renamed']);
    const replaced = await api.put(`${path}${ca.id}/`, { ...renamed.body, unique_name: 'again' });
    expect([replaced.status, replaced.body]).toEqual([
      200,
      { ...renamed.body, unique_name: 'again', updated_at: expect.any(String) },
    ]);
    for (const [changes, field] of [
      [{ issuing_ca_type: 1 }, 'issuing_ca_type'],
      [{ common_name: 'other' }, 'common_name'],
      [{ private_key: 'x' }, 'private_key'],
      [{ unique_name: 'root' }, 'unique_name'],
      [{ validity: 'P1Y' }, 'validity'],
    ] as const) {
      const refused = await api.patch(`${path}${ca.id}/`, changes);
      expect([refused.status, Object.keys(refused.body)]).toEqual([400, [field]]);
    }
    const missing = await api.put(`${path}${ca.id}/`, {});
    expect([missing.status, missing.body]).toEqual([400, { unique_name: ['this field is required'] }]);
  });

  test('signs nothing while it is inactive', async () => {
    const { body: ca } = await api.post(path, { unique_name: name(), issuing_ca_type: 1 });
    const { body: domain } = await api.post('/api/domains/', {
      unique_name: 'of-inactive',
      issuing_ca: ca.id,
    });
    const issue = () => api.post('/api/certificates/', { common_name: 'pump', domain: domain.id });
    const off = await api.post(`${path}${ca.id}/deactivate/`);
    expect([off.status, off.body.is_active]).toEqual([200, false]);
    expect((await issue()).status).toBe(503);
    expect((await api.post(`${path}${ca.id}/generate-crl/`)).status).toBe(200);
    expect((await api.get(`${path}?is_active=false`)).body.map(({ id }: { id: number }) => id)).toContain(
      ca.id,
    );
    const on = await api.post(`${path}${ca.id}/activate/`);
    expect([on.status, on.body.is_active]).toEqual([200, true]);
    expect((await issue()).status).toBe(201);
    const patched = await api.patch(`${path}${ca.id}/`, { is_active: false });
    expect(patched.body.is_active).toBe(false);
  });

  test('can be deleted with its key and its CRL only if it has issued nothing', async () => {
    const { body: root } = await api.post(path, { unique_name: name(), issuing_ca_type: 0 });
    const { body: below } = await api.post(path, {
      unique_name: name(),
      issuing_ca_type: 1,
      parent: root.id,
    });
    await api.post(`${path}${below.id}/generate-crl/`);
    const refused = await api.remove(`${path}${root.id}/`);
    expect([refused.status, refused.body]).toEqual([
      409,
      { detail: 'this CA has issued 1 certificate', code: 'ca_has_issued', values: { certificates: 1 } },
    ]);
    const { body: domain } = await api.post('/api/domains/', {
      unique_name: 'of-deleted',
      issuing_ca: below.id,
    });
    expect((await api.remove(`${path}${below.id}/`)).body).toEqual({
      detail: 'still used by 1 domain',
      code: 'still_used',
      values: { domain: 1 },
    });
    await api.remove(`/api/domains/${domain.id}/`);
    expect((await api.remove(`${path}${below.id}/`)).status).toBe(204);
    expect((await api.get(`${path}${below.id}/`)).status).toBe(404);
    const { body: other } = await api.post(path, { unique_name: name(), issuing_ca_type: 0 });
    expect((await api.remove(`${path}${other.id}/`)).status).toBe(204);
  });

  test('that does not exist gives 404 for every operation', async () => {
    for (const [method, rest] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', 'crl/'],
      ['POST', 'generate-crl/'],
      ['POST', 'activate/'],
    ] as const) {
      const { status, body } = await api.call(method, `${path}999/${rest}`, { body: {} });
      expect([method, rest, status, Object.keys(body)]).toEqual([method, rest, 404, ['detail', 'code']]);
    }
  });

  test('has every change audited', async () => {
    const { body: ca } = await api.post(path, { unique_name: 'audited', issuing_ca_type: 0 });
    await api.patch(`${path}${ca.id}/`, { unique_name: 'audited still' });
    for (const action of ['deactivate', 'activate']) await api.post(`${path}${ca.id}/${action}/`);
    await api.remove(`${path}${ca.id}/`);
    const events = (await site.audit()).filter(({ object }) => object === `issuingCa:${ca.id}`);
    const actions = new Set(events.map(({ action }) => action));
    for (const action of ['create', 'update', 'delete', 'activate', 'deactivate'])
      expect(actions).toContain(`issuingCa.${action}`);
  });
});

describe('the CRL', () => {
  test('is PEM, DER or JSON, as the Accept field says', async () => {
    const { body: ca } = await api.post(path, { unique_name: 'Ärger & Co', issuing_ca_type: 0 });
    const without = await caWithoutCrl(site, 'without CRL');
    const missing = await api.get(`${path}${without}/crl/`);
    expect([missing.status, missing.body]).toEqual([
      404,
      {
        error: expect.any(String),
        hint: expect.stringContaining(`/api/issuing-cas/${without}/generate-crl/`),
      },
    ]);
    const made = await api.post(`${path}${ca.id}/generate-crl/`);
    expect([made.status, made.body]).toEqual([
      200,
      {
        message: expect.any(String),
        last_crl_issued_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ]);
    const { body: after } = await api.get(`${path}${ca.id}/`);
    expect([after.has_crl, after.last_crl_issued_at]).toEqual([true, made.body.last_crl_issued_at]);

    const file = await api.get(`${path}${ca.id}/crl/`);
    expect([file.status, file.headers['content-type'], file.headers['content-disposition']]).toEqual([
      200,
      'application/x-pem-file',
      'attachment; filename="-rger-Co.crl.pem"',
    ]);
    expect(file.text).toStartWith('-----BEGIN X509 CRL-----\n');
    const der = await api.get(`${path}${ca.id}/crl/?encoding=der`);
    expect(der.headers['content-type']).toBe('application/pkix-crl');
    expect(file.text).toBe(pem('X509 CRL', der.bytes));
    expect((await api.get(`${path}${ca.id}/crl?format=der`)).bytes).toEqual(der.bytes);
    expect((await api.get(`${path}${ca.id}/crl/?encoding=PEM`)).text).toBe(file.text);
    const inJson = await api.get(`${path}${ca.id}/crl/`, { accept: 'application/json' });
    expect([inJson.status, inJson.body]).toEqual([200, { detail: file.text }]);
    expect((await api.get(`${path}${ca.id}/crl/`, { accept: '*/*' })).text).toBe(file.text);
    const unknown = await api.get(`${path}${ca.id}/crl/?encoding=txt`);
    expect([unknown.status, unknown.body]).toEqual([
      400,
      { error: expect.any(String), hint: expect.any(String) },
    ]);
  });

  test('gives 500 with a detail when it cannot be issued without the key', async () => {
    const { body: ca } = await api.post(path, { unique_name: name(), issuing_ca_type: 0 });
    await site.store.commit([
      { op: 'update', kind: 'issuingCa', id: ca.id, set: { key: { store: 'gone', id: 'x' } } },
    ]);
    site.clock.advance(2000);
    const { status, body } = await api.post(`${path}${ca.id}/generate-crl/`);
    expect([status, body]).toEqual([500, { detail: expect.any(String), code: 'unsupported' }]);
  });

  test('requires a token and the permission of each operation', async () => {
    expect((await api.anonymous.get(`${path}1/crl/`)).status).toBe(401);
    const reader = await apiAs(site, 'Default');
    const operator = await apiAs(site, 'Operator');
    await api.post(`${path}1/generate-crl/`);
    expect((await reader.get(`${path}1/crl/`)).status).toBe(200);
    expect((await reader.post(`${path}1/generate-crl/`)).status).toBe(403);
    expect((await operator.post(`${path}1/generate-crl/`)).status).toBe(200);
    expect((await operator.post(`${path}1/deactivate/`)).status).toBe(403);
    expect((await operator.post(path, { unique_name: 'x', issuing_ca_type: 0 })).status).toBe(403);
  });
});

test('a CA whose certificate its parent revokes cannot sign or be activated', async () => {
  const { body: ca } = await api.post(path, { unique_name: 'doomed', issuing_ca_type: 1, parent: 1 });
  const { records } = await site.store.list('certificate', { limit: 1 });
  const certificate = records[0]!;
  const revoked = await api.post(`/api/certificates/${certificate.id}/revoke/`, { reason: 'cACompromise' });
  expect([revoked.status, revoked.body.status]).toEqual([200, 'revoked']);
  expect((await api.get(`${path}${ca.id}/`)).body.is_active).toBe(false);
  const active = await api.post(`${path}${ca.id}/activate/`);
  expect([active.status, active.body]).toEqual([
    409,
    { detail: 'the certificate of this CA is revoked', code: 'certificate_revoked' },
  ]);
  expect((await api.patch(`${path}${ca.id}/`, { is_active: true })).status).toBe(409);
  const crl = parseCrl((await api.get(`${path}${revoked.body.issuing_ca}/crl/?encoding=der`)).bytes);
  const entries = [...revokedEntries(crl)];
  expect(entries.map(({ reason }) => reason)).toEqual(['cACompromise']);
  const text = openssl(['verify', '-crl_check', '-CAfile', 'root', '-CRLfile', 'crl', 'ca'], {
    root: pem('CERTIFICATE', await certificateOf(revoked.body.issuing_ca)),
    crl: pem('X509 CRL', crl.der),
    ca: pem('CERTIFICATE', await certificateOf(ca.id)),
  }).text;
  expect(text).toContain('certificate revoked');
});

test('a root cannot revoke its own certificate', async () => {
  const { body: ca } = await api.post(path, { unique_name: name(), issuing_ca_type: 0 });
  const own = await site.store.find('certificate', { ca: ca.id });
  const { status, body } = await api.post(`/api/certificates/${own!.id}/revoke/`);
  expect([status, body]).toEqual([
    409,
    { detail: expect.stringContaining('root'), code: 'root_not_revocable' },
  ]);
});

test('the key stores and upstream CAs for new CAs are listed for accounts that may read CAs', async () => {
  const keyStores = await api.get('/api/key-stores/');
  expect([keyStores.status, keyStores.body]).toEqual([
    200,
    [{ name: 'default', key_types: null, hands_out_keys: true, takes_keys: true }],
  ]);
  expect((await api.get('/api/issuers/')).body).toEqual([]);
  const { body: role } = await api.post('/api/roles/', {
    unique_name: 'no CAs',
    permissions: ['devices.read'],
  });
  await api.post('/api/users/', { username: 'kim', password: 'the password of kim', role: role.id });
  const kim = await api.as('kim', 'the password of kim');
  for (const one of ['/api/key-stores/', '/api/issuers/']) {
    expect((await kim.get(one)).status).toBe(403);
    expect((await api.anonymous.get(one)).status).toBe(401);
  }
});
