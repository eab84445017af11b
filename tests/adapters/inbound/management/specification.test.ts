import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, type Api, apiOf } from '#tests/fixtures/api.ts';
import { caWithoutCrl } from '#tests/fixtures/ca-without-crl.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

/**
 * The interface specification for collections and their records, line by line. Written from its text, not from
 * the service's output.
 */
type Kind =
  | 'integer'
  | 'string'
  | 'boolean'
  | 'date-time'
  | 'date-time Z'
  | 'uri'
  | 'integer?'
  | 'date-time Z?';

const kinds: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  'integer?': (value) => value === null || Number.isSafeInteger(value),
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  'date-time': (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(String(value)),
  'date-time Z': (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(String(value)),
  'date-time Z?': (value) => value === null || kinds['date-time Z'](value),
  uri: (value) => URL.canParse(String(value)),
};

interface Collection {
  readonly path: string;
  readonly record: Readonly<Record<string, Kind>>;
  /** The body of a POST with the required fields, and one with every field of the specification. */
  readonly least: Readonly<Record<string, unknown>>;
  readonly all: () => Promise<Readonly<Record<string, unknown>>>;
  readonly required: readonly string[];
  /** Additional filters: parameter → value of the record from `all`. */
  readonly filters: Readonly<Record<string, (record: Readonly<Record<string, unknown>>) => string>>;
}

let site: Installation;
let api: Api;
let pem: string;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  const { body } = await api.get('/api/tls/?credential_type=0');
  pem = (await api.get(`/api/tls/${body[0].id}/`)).body.pem;
});
afterAll(() => site[Symbol.asyncDispose]());

const text = (name: string) => (record: Readonly<Record<string, unknown>>) => String(record[name]);

const collections: readonly Collection[] = [
  {
    path: '/api/backups/',
    record: { id: 'integer', remote_directory: 'string' },
    least: { remote_directory: '/mnt/a' },
    all: async () => ({ remote_directory: '/mnt/b' }),
    required: ['remote_directory'],
    filters: { user: () => 'admin' },
  },
  {
    path: '/api/cert-profiles/',
    record: { id: 'integer', unique_name: 'string', created_at: 'date-time' },
    least: { unique_name: 'one' },
    all: async () => ({ unique_name: 'two' }),
    required: ['unique_name'],
    filters: { created_at: text('created_at'), unique_name: text('unique_name') },
  },
  {
    path: '/api/certificates/',
    record: { id: 'integer', common_name: 'string', not_valid_before: 'date-time', serial_number: 'string' },
    least: { common_name: 'pump-1' },
    all: async () => ({ common_name: 'pump-2' }),
    required: ['common_name'],
    filters: { not_valid_before: text('not_valid_before'), serial_number: text('serial_number') },
  },
  {
    path: '/api/devices/',
    record: {
      id: 'integer',
      common_name: 'string',
      serial_number: 'string',
      device_type: 'integer',
      created_at: 'date-time',
      domain: 'integer?',
      onboarding_config: 'integer?',
      no_onboarding_config: 'integer?',
    },
    least: { common_name: 'valve-1' },
    all: async () => ({
      common_name: 'valve-2',
      serial_number: 'SN-2',
      device_type: 3,
      domain: (await api.get('/api/domains/')).body[0].id,
      onboarding_config: (await api.post('/api/onboarding-configs/', {})).body.id,
      no_onboarding_config: null,
    }),
    required: ['common_name'],
    filters: {},
  },
  {
    path: '/api/domains/',
    record: { id: 'integer', unique_name: 'string' },
    least: { unique_name: 'plant-1' },
    all: async () => ({ unique_name: 'plant-2' }),
    required: ['unique_name'],
    filters: {},
  },
  {
    path: '/api/tls/',
    record: { id: 'integer', credential_type: 'integer', created_at: 'date-time' },
    least: { credential_type: 5 },
    all: async () => ({ credential_type: 4 }),
    required: ['credential_type'],
    filters: { credential_type: text('credential_type') },
  },
  {
    path: '/api/truststores/',
    record: {
      id: 'integer',
      unique_name: 'string',
      intended_usage: 'integer',
      created_at: 'date-time',
      trust_store_file: 'uri',
    },
    get least() {
      return { intended_usage: 1, trust_store_file: pem };
    },
    all: async () => ({ unique_name: 'makers', intended_usage: 0, trust_store_file: pem }),
    required: ['intended_usage', 'trust_store_file'],
    filters: { intended_usage: text('intended_usage') },
  },
];

function expectRecord(
  record: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Kind>>,
): void {
  const wrong = Object.entries(fields).filter(([name, kind]) => !kinds[kind](record[name]));
  expect(wrong.map(([name, kind]) => [name, kind, record[name]])).toEqual([]);
}

/** NULL first, ties by id. Two URIs that differ only in the id have no order between them. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return typeof a === 'string' ? (a < String(b) ? -1 : a > String(b) ? 1 : 0) : Number(a) - Number(b);
}

/** Both directions, on one page and on pages of one record. */
async function expectOrdered(path: string, field: string): Promise<void> {
  for (const sign of ['', '-']) {
    const answer = await api.get(`${path}?ordering=${sign}${field}`);
    expect([field, answer.status]).toEqual([field, 200]);
    const values: unknown[] = answer.body.map((record: Readonly<Record<string, unknown>>) => record[field]);
    const sorted = values.toSorted((a, b) => (sign === '' ? compare(a, b) : compare(b, a)));
    if (field !== 'trust_store_file') expect([field, values]).toEqual([field, sorted]);
    const seen: number[] = [];
    let next: string | undefined = `${path}?ordering=${sign}${field}&limit=1`;
    while (next !== undefined) {
      const page: Answer = await api.get(next);
      seen.push(...ids(page));
      next = /^<([^>]*)>; rel="next"$/.exec(page.headers.link ?? '')?.[1];
    }
    expect([field, seen]).toEqual([field, ids(answer)]);
  }
}

const ids = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

describe.each(collections.map((collection) => [collection.path, collection] as const))(
  '%s',
  (path, collection) => {
    let least: Answer;
    let sent: Readonly<Record<string, unknown>>;
    let whole: Answer;
    let made: Record<string, unknown>;

    beforeAll(async () => {
      least = await api.post(path, collection.least);
      sent = await collection.all();
      whole = await api.post(path, sent);
      made = whole.body;
    });

    /** The required fields, with other names than those of the existing records. */
    const others = (number: number): Record<string, unknown> => ({
      ...Object.fromEntries(
        collection.required.map((name) => {
          const value = collection.least[name];
          const isName = typeof value === 'string' && name !== 'trust_store_file';
          return [name, isName ? `${value}-${number}` : value];
        }),
      ),
      ...(path === '/api/truststores/' && { unique_name: `truststore-${number}` }),
    });

    test('POST with the required fields, or with all, gives 201 and the record', () => {
      expect([least.status, least.text]).toEqual([201, expect.any(String)]);
      expectRecord(least.body, collection.record);
      expect(whole.status).toBe(201);
      expectRecord(whole.body, collection.record);
      const { trust_store_file: _, ...plain } = sent;
      expect(whole.body).toMatchObject(plain);
    });

    test('POST without a required field gives 400 and names the field', async () => {
      for (const name of collection.required) {
        const { [name]: _, ...rest } = collection.least;
        const { status, body } = await api.post(path, rest);
        expect([status, body[name]]).toEqual([400, ['this field is required']]);
      }
    });

    test('GET gives 200 and an array, newest first', async () => {
      const { body: newest } = await api.post(path, others(4));
      const answer = await api.get(path);
      expect([answer.status, Array.isArray(answer.body)]).toEqual([200, true]);
      for (const record of answer.body) expectRecord(record, collection.record);
      expect(ids(answer)).toEqual(ids(answer).toSorted((a, b) => b - a));
      expect(ids(answer)[0]).toBe(newest.id);
    });

    test('filters, `ordering` and `search` select and order records', async () => {
      for (const [name, value] of Object.entries(collection.filters)) {
        const found = await api.get(`${path}?${name}=${encodeURIComponent(value(made))}`);
        expect([name, found.status, ids(found).includes(Number(made.id))]).toEqual([name, 200, true]);
      }
      const ascending = ids(await api.get(`${path}?ordering=id`));
      expect(ascending).toEqual(ascending.toSorted((a, b) => a - b));
      expect(ids(await api.get(`${path}?ordering=-id`))).toEqual(ascending.toReversed());
      expect((await api.get(`${path}?ordering=no_such_field`)).status).toBe(400);
      expect(ids(await api.get(`${path}?search=surely-nothing-has-this`))).toEqual([]);
    });

    test('`ordering` accepts every field of the specification, on any page', async () => {
      for (const name of Object.keys(collection.record)) await expectOrdered(path, name);
    });

    test('pages with `limit` and the Link header return every record once', async () => {
      const seen: number[] = [];
      let next: string | undefined = `${path}?limit=1`;
      while (next !== undefined) {
        const answer: Answer = await api.get(next);
        expect(answer.body).toHaveLength(1);
        seen.push(...ids(answer));
        next = /^<([^>]*)>; rel="next"$/.exec(answer.headers.link ?? '')?.[1];
      }
      expect(seen).toEqual(ids(await api.get(path)));
    });

    test('GET, PUT and PATCH of a record give 200, with and without the trailing slash', async () => {
      for (const one of [`${path}${made.id}/`, `${path}${made.id}`]) {
        const read = await api.get(one);
        expect([read.status, read.body.id]).toEqual([200, made.id]);
        expectRecord(read.body, collection.record);
        const [name] = collection.required;
        const patched = await api.patch(one, { [name!]: read.body[name!] });
        expect([patched.status, patched.body]).toEqual([200, expect.objectContaining({ id: made.id })]);
        expectRecord(patched.body, collection.record);
        const put = await api.put(one, patched.body);
        expect([put.status, put.status === 200 || put.text]).toEqual([200, true]);
        expectRecord(put.body, collection.record);
      }
    });

    test('an unknown record or an invalid id gives 404, and another method 405 with Allow', async () => {
      for (const id of ['999999', '0', '-1', 'x', '1.5', '99999999999999999999', '9007199254740993']) {
        for (const method of ['GET', 'DELETE'])
          expect([id, (await api.call(method, `${path}${id}/`)).status]).toEqual([id, 404]);
      }
      const collectionAnswer = await api.call('DELETE', path);
      expect([collectionAnswer.status, collectionAnswer.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
      const oneAnswer = await api.call('POST', `${path}${made.id}/`, { body: {} });
      expect([oneAnswer.status, oneAnswer.headers.allow]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE']);
    });

    test('a form is accepted as a body, and other types give 415', async () => {
      const form = new FormData();
      for (const [name, value] of Object.entries(others(3)))
        form.set(name, name === 'trust_store_file' ? new Blob([pem]) : `${value}`);
      const answer = await api.call('POST', path, { body: form });
      expect([answer.status, answer.status === 201 || answer.text]).toEqual([201, true]);
      const refused = await api.call('POST', path, { body: '<a/>', contentType: 'application/xml' });
      expect([refused.status, Object.keys(refused.body)]).toEqual([415, ['detail', 'code']]);
    });

    test('DELETE gives 204 without a body', async () => {
      const { body: other } = await api.post(path, others(5));
      const { status, bytes } = await api.remove(`${path}${other.id}/`);
      expect([status, bytes.length]).toEqual([204, 0]);
      expect((await api.get(`${path}${other.id}/`)).status).toBe(404);
    });
  },
);

describe('resources that are not full collections', () => {
  const ca = {
    id: 'integer',
    unique_name: 'string',
    common_name: 'string',
    issuing_ca_type: 'integer',
    issuing_ca_type_display: 'string',
    is_active: 'boolean',
    created_at: 'date-time',
    updated_at: 'date-time',
    last_crl_issued_at: 'date-time Z?',
    has_crl: 'boolean',
  } as const;

  test('issuing CAs, their filters and CRLs', async () => {
    const { status, body: all } = await api.get('/api/issuing-cas/');
    expect([status, all.length]).toEqual([200, 2]);
    for (const record of all) expectRecord(record, ca);
    expect(ids(await api.get('/api/issuing-cas/?is_active=true&issuing_ca_type=0&unique_name=root'))).toEqual(
      [1],
    );
    expect(ids(await api.get('/api/issuing-cas/?is_active=false'))).toEqual([]);
    expect((await api.get('/api/issuing-cas/?issuing_ca_type=nine')).status).toBe(400);
    const without = await caWithoutCrl(site, 'without CRL');
    const none = await api.get(`/api/issuing-cas/${without}/crl/`);
    await site.store.commit([{ op: 'delete', kind: 'issuingCa', id: without }]);
    expect([none.status, none.body]).toEqual([
      404,
      { error: expect.any(String), hint: expect.stringContaining('generate-crl') },
    ]);
    const generated = await api.call('POST', '/api/issuing-cas/1/generate-crl/');
    expect(generated.status).toBe(200);
    expectRecord(generated.body, { message: 'string', last_crl_issued_at: 'date-time Z' });
    const crl = await api.get('/api/issuing-cas/1/crl/');
    expect([crl.status, crl.headers['content-type']]).toEqual([200, 'application/x-pem-file']);
    expect(crl.text).toStartWith('-----BEGIN X509 CRL-----\n');
    expect(crl.headers['content-disposition']).toStartWith('attachment');
    const json = await api.get('/api/issuing-cas/1/crl/', { accept: 'application/json' });
    expect(json.body).toEqual({ detail: crl.text });
    for (const name of ['encoding', 'format']) {
      const der = await api.get(`/api/issuing-cas/1/crl/?${name}=der`);
      expect([der.headers['content-type'], der.bytes[0]]).toEqual(['application/pkix-crl', 0x30]);
    }
    const wrong = await api.get('/api/issuing-cas/1/crl/?encoding=xml');
    expect([wrong.status, Object.keys(wrong.body).sort()]).toEqual([400, ['error', 'hint']]);
    expect((await api.anonymous.get('/api/issuing-cas/1/crl/')).status).toBe(401);
    expect((await api.get('/api/issuing-cas/1/')).body).toMatchObject({ has_crl: true });
    for (const unique_name of ['b', 'a'])
      expect((await api.post('/api/issuing-cas/', { unique_name, issuing_ca_type: 0 })).status).toBe(201);
    for (const name of Object.keys(ca)) await expectOrdered('/api/issuing-cas/', name);
  });

  test('signers, signing and signed messages', async () => {
    await api.post('/api/tls/', { credential_type: 5, unique_name: 'a signer' });
    const { body: signers } = await api.get('/api/signers/?search=a+signer');
    expectRecord(signers[0], {
      id: 'integer',
      unique_name: 'string',
      certificate_cn: 'string',
      certificate_not_valid_after: 'date-time',
      signature_suite: 'string',
      created_at: 'date-time',
      updated_at: 'date-time',
    });
    const signer = signers[0].id;
    const certificate = await api.get(`/api/signers/${signer}/certificate/`);
    expect([certificate.status, certificate.text.slice(0, 27)]).toEqual([200, '-----BEGIN CERTIFICATE-----']);
    const hash_value = 'ab'.repeat(32);
    const signed = await api.post('/api/signers/sign/', { signer_id: signer, hash_value });
    expect(signed.status).toBe(200);
    expect(signed.body).toMatchObject({ signer_id: signer, hash_value });
    expect(signed.body.signature).toMatch(/^([0-9a-f]{2})+$/i);
    for (const [input, status] of [
      [{ signer_id: signer, hash_value: 'not hex' }, 400],
      [{ signer_id: signer, hash_value: 'abcd' }, 400],
      [{ signer_id: signer }, 400],
      [{ signer_id: 999_999, hash_value }, 404],
    ] as const) {
      expect([input, (await api.post('/api/signers/sign/', input)).status]).toEqual([input, status]);
    }
    const { body: messages } = await api.get(`/api/signed-messages/?signer=${signer}`);
    const message = {
      id: 'integer',
      signer: 'integer',
      signer_name: 'string',
      hash_value: 'string',
      signature: 'string',
      created_at: 'date-time',
    } as const;
    expectRecord(messages[0], message);
    await api.post('/api/signers/sign/', { signer_id: signer, hash_value: '01'.repeat(32) });
    for (const name of Object.keys(message)) await expectOrdered('/api/signed-messages/', name);
    for (const name of Object.keys(signers[0])) await expectOrdered('/api/signers/', name);
    expect((await api.get(`/api/signed-messages/${messages[0].id}/`)).body).toEqual(messages[0]);
    expect((await api.remove(`/api/signed-messages/${messages[0].id}/`)).status).toBe(405);
  });
});

describe('invalid input', () => {
  const bad: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = collections.flatMap(
    ({ path, required, record }) =>
      Object.keys(record)
        .filter(
          (name) =>
            required.includes(name) || (path === '/api/devices/' && !['id', 'created_at'].includes(name)),
        )
        .flatMap((name) =>
          [{}, [], true, 1e300, -1, 0.5, '', '   ', 'a\u0000b', 'line\nfeed', 'x'.repeat(600), null]
            .filter((value) => !isGood(path, name, value))
            .map((value) => [path, { [name]: value }] as const),
        ),
  );

  /** null is no reference, and a serial number may be empty. */
  function isGood(path: string, name: string, value: unknown): boolean {
    if (path !== '/api/devices/') return false;
    if (name === 'serial_number') return typeof value === 'string' && value.trim() === '';
    return value === null && ['domain', 'onboarding_config', 'no_onboarding_config'].includes(name);
  }

  test.each(bad)('%s %j gives 400 with the field, and nothing is written', async (path, member) => {
    const collection = collections.find((candidate) => candidate.path === path)!;
    const before = ids(await api.get(path));
    const [name] = Object.keys(member);
    const { status, body } = await api.post(path, { ...collection.least, ...member });
    expect([status, Object.keys(body)]).toEqual([400, [name!]]);
    expect(ids(await api.get(path))).toEqual(before);
  });

  test.each([
    ['not JSON', '{"common_name":', 'non_field_errors'],
    ['a list', '[]', 'non_field_errors'],
    ['a number', '5', 'non_field_errors'],
    ['33 levels', `{"a":${'['.repeat(33)}${']'.repeat(33)}}`, 'non_field_errors'],
    ['not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'non_field_errors'],
    ['an unknown field', '{"common_name":"x","no_such":1}', 'no_such'],
    ['a prototype', '{"common_name":"x","__proto__":{"a":1}}', '__proto__'],
  ])('%s gives 400', async (_what, body, field) => {
    const answer = await api.call('POST', '/api/devices/', { body, contentType: 'application/json' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
  });

  test('a second record with a unique name gives 400 with the field', async () => {
    for (const [path, input, field] of [
      ['/api/domains/', { unique_name: 'twice' }, 'unique_name'],
      ['/api/cert-profiles/', { unique_name: 'twice' }, 'unique_name'],
      ['/api/devices/', { common_name: 'twice' }, 'common_name'],
      [
        '/api/truststores/',
        { unique_name: 'twice', intended_usage: 1, trust_store_file: pem },
        'unique_name',
      ],
    ] as const) {
      await api.post(path, input);
      const { status, body } = await api.post(path, input);
      expect([path, status, Object.keys(body)]).toEqual([path, 400, [field]]);
    }
  });
});
