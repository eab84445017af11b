import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { insert } from '#tests/contracts/store-samples.ts';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const day = 24 * 3_600_000;
let site: Installation;
let api: Api;
let ca: number;

/** Makes certificates by name: their fields, and the days until they expire. */
const samples = {
  'good for long': ['good', 400, {}],
  'expires in a week': ['good', 6, { protocol: 'cmp' }],
  'expires this month': ['good', 20, {}],
  'has expired': ['good', -3, {}],
  'expired on hold': ['hold', -2, {}],
  'is on hold': ['hold', 100, {}],
  'was revoked': ['revoked', 100, {}],
  'was revoked and expired': ['revoked', -1, {}],
  'came to nothing': ['failed', 100, {}],
  'came to nothing long ago': ['failed', -100, {}],
} as const;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  ca = (await site.store.list('issuingCa', { limit: 1 })).records[0]!.id;
  const now = site.clock.now();
  await site.store.commit(
    Object.entries(samples).map(([commonName, [status, left, more]], n) =>
      insert('certificate', {
        commonName,
        ca,
        status,
        hidden: false,
        device: null,
        domain: 1,
        profile: 1,
        revokedAt: null,
        revocationReason: null,
        protocol: 'est',
        serialNumber: `0${n}`,
        createdAt: now - n * day,
        notValidBefore: now - 500 * day,
        notValidAfter: now + left * day,
        der: Uint8Array.of(0x30, 0),
        ...more,
      }),
    ),
  );
});
afterAll(() => site[Symbol.asyncDispose]());

const names = async (query: string): Promise<string[]> => {
  const { status, body } = await api.get(`/api/certificates/?protocol=est&${query}`);
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return body.map(({ common_name }: { common_name: string }) => common_name).sort();
};
const date = (days: number): string => new Date(site.clock.now() + days * day).toISOString();

describe('certificates can be filtered', () => {
  test.each([
    ['state=active', ['expires this month', 'good for long']],
    ['state=expired', ['expired on hold', 'has expired']],
    ['state=hold', ['is on hold']],
    ['state=revoked', ['was revoked', 'was revoked and expired']],
    ['state=on_crl', ['is on hold', 'was revoked']],
    ['expires_within=30', ['expires this month']],
  ])('by %s', async (query, found) => {
    expect(await names(query)).toEqual(found);
  });

  test('by the days of expiry and issuance', async () => {
    expect(await names(`expires_from=${date(-2)}&expires_to=${date(20)}`)).toEqual([
      'expired on hold',
      'expires this month',
      'was revoked and expired',
    ]);
    expect(await names(`created_from=${date(-2.5)}&created_to=${date(-1.5)}`)).toEqual([
      'expires this month',
    ]);
  });

  test('by CA, profile and protocol', async () => {
    expect(await names(`issuing_ca=${ca}&cert_profile=1&state=hold`)).toEqual(['is on hold']);
    expect(await names(`issuing_ca=${ca + 1000}`)).toEqual([]);
    expect(await names('cert_profile=999')).toEqual([]);
    const { body } = await api.get('/api/certificates/?protocol=cmp');
    expect(body).toMatchObject([{ common_name: 'expires in a week' }]);
  });

  test.each(['state=new', 'issuing_ca=x', 'expires_from=soon', 'created_to=2026-02-31'])(
    '%s is rejected',
    async (query) => {
      const { status, body } = await api.get(`/api/certificates/?${query}`);
      expect([status, Object.keys(body)]).toEqual([400, [query.split('=')[0]!]]);
    },
  );

  test('and exported with the filters, without formulas for spreadsheets', async () => {
    await site.store.commit([
      insert('certificate', {
        commonName: '=cmd()',
        ca,
        status: 'good',
        hidden: false,
        device: null,
        domain: 1,
        profile: 1,
        protocol: 'rest',
        der: Uint8Array.of(0x30, 0),
      }),
    ]);
    const { text } = await api.get('/api/certificates/?protocol=rest&format=csv');
    const [header, ...rows] = text.trimEnd().split('\r\n');
    expect(header).toStartWith('id,common_name,created_at,serial_number,subject,');
    expect(header).not.toContain('pem');
    expect(rows).toEqual([expect.stringMatching(/^\d+,"'=cmd\(\)",/)]);
  });
});

describe('the numbers of the overview', () => {
  test('count certificates like their lists', async () => {
    const before = (await api.get('/api/overview/expiry/')).body;
    // The service itself has certificates.
    const { body: active } = await api.get('/api/certificates/?state=active');
    expect(before).toMatchObject({
      active: active.length,
      expired: 2,
      revoked: 2,
      hold: 2,
      expiring_in_7_days: 1,
      expiring_in_30_days: 2,
    });
  });

  test('count days in the time zone of the account', async () => {
    // At noon in UTC, 'expires in a week' has six days of 24 hours left.
    const expiring = async (zone: string) => {
      const { body } = await api.get(`/api/overview/expiry/?time_zone=${zone}`);
      expect(body.days).toHaveLength(30);
      const { begins } = body.days.find(({ count }: { count: number }) => count > 0);
      return begins;
    };
    const end = new Date(site.clock.now() + 6 * day).toISOString();
    expect(await expiring('UTC')).toBe(`${end.slice(0, 10)}T00:00:00.000`);
    expect(await expiring('Pacific/Kiritimati')).toBe(`${end.slice(0, 10)}T10:00:00.000`);
  });
});

describe('several certificates can be revoked in one request', () => {
  let site: Installation;
  let api: Api;
  beforeAll(async () => {
    site = await installation();
    api = await apiOf(site);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const issue = async (name: string): Promise<number> =>
    (await api.post('/api/certificates/', { common_name: name })).body.id;

  test('with one new CRL, and a certificate that cannot be revoked does not affect the others', async () => {
    const ids = [await issue('first'), await issue('second')];
    await api.post(`/api/certificates/${ids[0]}/revoke/`);
    const crls = (await site.audit('crl.generate')).length;
    const third = await issue('third');
    const { status, body } = await api.post('/api/certificates/revoke/', {
      ids: [...ids, 999_999, third],
      reason: 'superseded',
    });
    expect([status, body]).toEqual([
      200,
      [
        { id: ids[0], revoked: false, detail: 'the certificate is already revoked' },
        { id: ids[1], revoked: true, detail: null },
        { id: 999_999, revoked: false, detail: 'there is no such certificate' },
        { id: third, revoked: true, detail: null },
      ],
    ]);
    expect(await site.audit('crl.generate')).toHaveLength(crls + 1);
    expect((await api.get(`/api/certificates/${third}/`)).body).toMatchObject({
      status: 'revoked',
      revocation_reason: 'superseded',
    });
  });

  test.each([
    ['none', []],
    ['one twice', [1, 1]],
    ['more than a hundred', Array.from({ length: 101 }, (_, n) => n + 1)],
  ])('%s is rejected', async (_what, ids) => {
    expect((await api.post('/api/certificates/revoke/', { ids })).status).toBe(400);
  });

  test('a role without the permission is rejected', async () => {
    const auditor = await apiAs(site, 'Auditor');
    expect((await auditor.post('/api/certificates/revoke/', { ids: [1] })).status).toBe(403);
  });
});
