import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { fingerprint } from '#core/x509/certificate.ts';
import { type Api, apiAs, apiOf, baseUrl } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { selfSigned } from '#tests/fixtures/outside-ca.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

const path = '/api/truststores/';
const key = testKey('p-256', 'truststores').pem();
const one = selfSigned(key, '/CN=Maker One');
const two = selfSigned(key, '/CN=Maker Two');
const der = Buffer.from(one.split('\n').slice(1, -2).join(''), 'base64');
const converted = (...args: string[]): Uint8Array =>
  openssl([...args, '-out', 'out'], { 'all.pem': one + two, 'one.pem': one, 'key.pem': key }, ['out']).file(
    'out',
  );
const uri = (bytes: Uint8Array): string =>
  `data:application/octet-stream;base64,${Buffer.from(bytes).toString('base64')}`;

let names = 0;
const create = (file: unknown, more: object = {}) =>
  api.post(path, { unique_name: `store ${++names}`, intended_usage: 0, trust_store_file: file, ...more });

describe('a truststore', () => {
  test('can be created from PEM, and gets the name of its first certificate', async () => {
    const { status, body } = await api.post(path, { intended_usage: 2, trust_store_file: one + two });
    expect([status, body]).toEqual([
      201,
      {
        id: body.id,
        unique_name: 'Maker One',
        intended_usage: 2,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+$/),
        trust_store_file: `${baseUrl}/api/truststores/${body.id}/file/`,
        certificates: [
          { subject: 'CN=Maker One', not_valid_after: expect.any(String), fingerprint: fingerprint(der) },
          expect.objectContaining({ subject: 'CN=Maker Two' }),
        ],
      },
    ]);
    const file = await api.get(`${path}${body.id}/file/`);
    expect([file.headers['content-type'], file.headers['content-disposition'], file.text]).toEqual([
      'application/x-pem-file',
      'attachment; filename="Maker-One.pem"',
      one + two,
    ]);
    const again = await api.post(path, { intended_usage: 2, trust_store_file: one });
    expect([again.status, again.body]).toEqual([
      400,
      { unique_name: ['another truststore already has this value'] },
    ]);
    const [listed] = (await api.get(`${path}?unique_name=Maker%20One`)).body;
    expect(listed).toEqual({ ...body, certificates: undefined });
  });

  for (const [what, file, count, more] of [
    ['PEM', one + two, 2, {}],
    ['PEM, each certificate once', one + two + one, 2, {}],
    ['PEM in a data: URI', uri(Buffer.from(one)), 1, {}],
    ['percent-encoded PEM in a data: URI', `data:,${encodeURIComponent(one)}`, 1, {}],
    ['DER', uri(der), 1, {}],
    [
      'PKCS #7 in DER',
      uri(converted('crl2pkcs7', '-nocrl', '-certfile', 'all.pem', '-outform', 'DER')),
      2,
      {},
    ],
    [
      'PKCS #7 in PEM',
      Buffer.from(converted('crl2pkcs7', '-nocrl', '-certfile', 'all.pem')).toString(),
      2,
      {},
    ],
    [
      'PKCS #12',
      uri(converted('pkcs12', '-export', '-nokeys', '-in', 'all.pem', '-passout', 'pass:secret')),
      2,
      { password: 'secret' },
    ],
    [
      'PKCS #12 without a password',
      uri(converted('pkcs12', '-export', '-nokeys', '-in', 'all.pem', '-passout', 'pass:')),
      2,
      {},
    ],
    [
      'PKCS #12 with a key, which is left out',
      uri(converted('pkcs12', '-export', '-inkey', 'key.pem', '-in', 'one.pem', '-passout', 'pass:secret')),
      1,
      { password: 'secret' },
    ],
  ] as const) {
    test(`can be created from ${what}`, async () => {
      const { status, body } = await create(file, more);
      expect([status, body.certificates.length]).toEqual([201, count]);
    });
  }

  test('can be created from an uploaded file with any name', async () => {
    const form = new FormData();
    form.set('intended_usage', '1');
    form.set('unique_name', 'uploaded');
    form.set('trust_store_file', new Blob([Uint8Array.from(der)], { type: 'image/png' }), 'picture.png');
    const { status, body } = await api.call('POST', path, { body: form });
    expect([status, body.intended_usage, body.certificates.length]).toEqual([201, 1, 1]);
  });

  for (const [what, file, message] of [
    ['nothing', '', 'the file is empty'],
    ['text', 'certificates', expect.any(String)],
    ['a private key', key, 'expected CERTIFICATE, found PRIVATE KEY'],
    ['a certificate beside a private key', one + key, 'expected CERTIFICATE, found PRIVATE KEY'],
    [
      'a CSR',
      converted('req', '-new', '-key', 'key.pem', '-subj', '/CN=x'),
      'expected CERTIFICATE, found CERTIFICATE REQUEST',
    ],
    ['a picture', uri(Uint8Array.of(0x89, 0x50, 0x4e, 0x47)), expect.any(String)],
    ['a certificate cut short', uri(der.subarray(0, -5)), expect.any(String)],
    ['DER that is no certificate', uri(Uint8Array.of(0x30, 3, 2, 1, 1)), expect.any(String)],
    ['a URL', 'https://maker.example/root.pem', expect.stringContaining('Postern does not fetch URLs')],
    [
      'the URI of another truststore',
      `${baseUrl}/api/truststores/1/file/`,
      expect.stringContaining('Postern does not fetch URLs'),
    ],
    ['201 certificates', many(201), 'the file contains more than 200 certificates'],
    ['a number', 7, 'a string is expected'],
  ] as const) {
    test(`cannot be created from ${what}`, async () => {
      const before = (await api.get(path)).body.length;
      const { status, body } = await create(file instanceof Uint8Array ? Buffer.from(file).toString() : file);
      expect([status, body]).toEqual([400, { trust_store_file: [message] }]);
      expect((await api.get(path)).body).toHaveLength(before);
    });
  }

  test('from PKCS #12 with a wrong password is rejected with the password named', async () => {
    const p12 = uri(converted('pkcs12', '-export', '-nokeys', '-in', 'all.pem', '-passout', 'pass:secret'));
    const { status, body } = await create(p12, { password: 'wrong' });
    expect([status, body]).toEqual([400, { password: ['the password is wrong'] }]);
  });

  for (const [body, field] of [
    [{ trust_store_file: one }, 'intended_usage'],
    [{ intended_usage: 4, trust_store_file: one }, 'intended_usage'],
    [{ intended_usage: 0 }, 'trust_store_file'],
    [{ intended_usage: 0, trust_store_file: one, unique_name: 'x'.repeat(256) }, 'unique_name'],
  ] as const) {
    test(`is rejected with ${field} named when that is invalid`, async () => {
      const answer = await api.post(path, body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
    });
  }

  test('can be changed, sent back as it was read, and deleted', async () => {
    const { body: made } = await create(one);
    const url = `${path}${made.id}/`;
    const moved = await api.patch(url, { intended_usage: 3 });
    expect([moved.status, moved.body]).toEqual([200, { ...made, intended_usage: 3 }]);
    const same = await api.put(
      url,
      moved.body.certificates ? without(moved.body, 'certificates') : moved.body,
    );
    expect([same.status, same.body]).toEqual([200, moved.body]);
    const withRead = await api.put(url, moved.body);
    expect([withRead.status, withRead.body]).toEqual([200, moved.body]);
    const replaced = await api.patch(url, { trust_store_file: two });
    expect(replaced.body.certificates.map(({ subject }: { subject: string }) => subject)).toEqual([
      'CN=Maker Two',
    ]);
    const bad = await api.patch(url, { trust_store_file: 'x' });
    expect([bad.status, Object.keys(bad.body)]).toEqual([400, ['trust_store_file']]);
    expect((await api.put(url, { intended_usage: 1 })).body).toEqual({
      trust_store_file: ['this field is required'],
    });
    const asking = { idevid_truststore: made.id };
    const otherwise = await api.post('/api/onboarding-configs/', asking);
    expect([otherwise.status, otherwise.body]).toEqual([
      400,
      { idevid_truststore: ['the intended usage of this truststore is not IDevID'] },
    ]);
    await api.patch(url, { intended_usage: 0 });
    const config = await api.post('/api/onboarding-configs/', asking);
    const kept = await api.patch(url, { intended_usage: 3 });
    expect([kept.status, kept.body]).toEqual([
      409,
      {
        detail: 'an onboarding configuration still uses this truststore for IDevIDs',
        code: 'truststore_used_for_idevids',
      },
    ]);
    const used = await api.remove(url);
    expect([used.status, used.body]).toEqual([
      409,
      {
        detail: 'still used by 1 onboarding configuration',
        code: 'still_used',
        values: { onboardingConfig: 1 },
      },
    ]);
    await api.remove(`/api/onboarding-configs/${config.body.id}/`);
    expect((await api.remove(url)).status).toBe(204);
    expect((await api.get(`${url}file/`)).status).toBe(404);
    const actions = (await site.audit())
      .map(({ action }) => action)
      .filter((action) => action.startsWith('truststore.'));
    expect(new Set(actions)).toEqual(
      new Set(['truststore.create', 'truststore.update', 'truststore.delete']),
    );
  });

  test('can be filtered by usage, and read only with the permission', async () => {
    await create(one);
    await create(one, { intended_usage: 1 });
    const { body } = await api.get(`${path}?intended_usage=1`);
    expect(body.every((store: { intended_usage: number }) => store.intended_usage === 1)).toBe(true);
    expect(body.length).toBeGreaterThan(0);
    const reader = await apiAs(site, 'Default');
    expect((await reader.get(path)).status).toBe(200);
    expect((await reader.post(path, { intended_usage: 0, trust_store_file: one })).status).toBe(403);
    expect((await api.anonymous.get(`${path}1/file/`)).status).toBe(401);
  });
});

const without = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([member]) => member !== name));

/** Copies with a few other octets in their signatures, which are not verified. */
function many(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const copy = Buffer.from(der);
    copy[copy.length - 1] = i & 0xff;
    copy[copy.length - 2] = i >> 8;
    return `-----BEGIN CERTIFICATE-----\n${copy.toString('base64')}\n-----END CERTIFICATE-----\n`;
  }).join('');
}
