import { expect, test } from 'bun:test';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { type Api, apiOf, baseUrl } from '#tests/fixtures/api.ts';
import { adminPassword, installation } from '#tests/fixtures/installation.ts';

async function within(work: (api: Api) => Promise<void>): Promise<void> {
  await using site = await installation();
  await work(await apiOf(site));
}

test.each([
  [
    'a member called __proto__',
    '{"common_name":"p","__proto__":{"domain":1}}',
    JSON.parse('{"__proto__":["unknown field"]}'),
  ],
  ['a member called constructor', '{"common_name":"p","constructor":1}', { constructor: ['unknown field'] }],
  ['half a surrogate pair', '{"common_name":"\\ud800"}', { common_name: ['the text is not valid Unicode'] }],
  [
    'an id that is none',
    '{"common_name":"p","domain":0}',
    { domain: ['expected integer to be greater or equal to 1'] },
  ],
  [
    'a space of no width',
    '{"common_name":"pump\u200b1"}',
    { common_name: ['invisible characters are not allowed'] },
  ],
  ['U+0000', '{"common_name":"\\u0000"}', { common_name: ['control characters are not allowed'] }],
  ['a list', '[]', { non_field_errors: ['an object is expected'] }],
  [
    'a member that is given twice',
    '{"common_name":"p","common_name":"q"}',
    { non_field_errors: ['the member "common_name" appears more than once'] },
  ],
  [
    '33 levels',
    `${'['.repeat(33)}${']'.repeat(33)}`,
    { non_field_errors: ['JSON may be nested at most 32 levels deep'] },
  ],
])('a body with %s is rejected, and creates nothing', (_, body, errors) =>
  within(async (api) => {
    const answer = await api.call('POST', '/api/devices/', { body, contentType: 'application/json' });
    expect(answer.status).toBe(400);
    expect(Object.entries(answer.body)).toEqual(Object.entries(errors));
    expect((await api.get('/api/devices/')).body).toEqual([]);
  }),
);

test.each([
  '/api/issuing-cas/?is_active=constructor',
  '/api/issuing-cas/?is_active=__proto__',
  '/api/issuing-cas/?issuing_ca_type=1e0',
  '/api/certificates/?not_valid_before=2026-02-31',
  '/api/certificates/?not_valid_before=2026-13-01',
  '/api/certificates/?serial_number=%00',
  '/api/devices/?ordering=constructor',
  '/api/devices/?ordering=__proto__',
  '/api/devices/?cursor=WzFd',
  '/api/devices/?limit=0',
  '/api/devices/?limit=1&limit=2',
  '/api/devices/?device_import=%20',
  '/api/devices/?domain=1&domain=2',
  '/api/devices/?ordering=id&ordering=-id',
])('an invalid query gives 400: %s', (path) =>
  within(async (api) => {
    expect((await api.get(path)).status).toBe(400);
  }),
);

const manyFields = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`field${n}`, '']));

test('an error response lists 20 problems at most, and says if there are more', () =>
  within(async (api) => {
    const listed = async (path: string, body: unknown, contentType?: string): Promise<string[]> => {
      const answer = await api.call('POST', path, { body, ...(contentType && { contentType }) });
      expect(answer.status).toBe(400);
      return Object.values(answer.body as Record<string, string[]>).flat();
    };
    const more = 'there are more problems than this response lists';
    expect(await listed('/api/devices/', { common_name: 'p', ...manyFields(20) })).not.toContain(more);
    for (const path of ['/api/devices/', '/api/token/', '/api/token/refresh/']) {
      const messages = await listed(path, manyFields(140_000));
      expect([path, messages.length, messages.at(-1)]).toEqual([path, 20, more]);
    }
  }));

test.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
  'a form with too many fields is rejected before it is read to its end: %s',
  (contentType) =>
    within(async (api) => {
      const fields = Object.keys(manyFields(2000));
      const part = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n\r\n`;
      const body = contentType.startsWith('multipart')
        ? `${fields.map(part).join('')}--x--\r\n`
        : fields.map((name) => `${name}=`).join('&');
      const answer = await api.anonymous.call('POST', '/api/token/', { body, contentType });
      expect([answer.status, answer.body]).toEqual([
        400,
        { non_field_errors: ['a form can have at most 200 fields'] },
      ]);
    }),
);

test('a client without a token can send at most 16 KiB', async () => {
  await using site = await installation();
  const [mount] = createManagement(site.gateway, site.log, site.clock, baseUrl);
  const limit = mount.bodyLimit as (path: string) => number;
  const paths = ['/api/token', '/api/token/', '/api/token/refresh/', '/api/token/revoke'];
  expect(paths.map(limit)).toEqual(paths.map(() => 16 * 1024));
  expect(['/api/devices/', '/api/tokens'].map(limit)).toEqual([1024 * 1024, 1024 * 1024]);
});

test('a token is accepted only in the form in which it was issued', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const credentials = { username: 'admin', password: adminPassword };
  const { access, refresh } = (await api.anonymous.post('/api/token/', credentials)).body;
  const status = async (token: string) =>
    (await api.anonymous.get('/api/me/', { authorization: `Bearer ${token}` })).status;
  expect(await status(access)).toBe(200);
  const [header, claims, signature] = access.split('.');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // 43 characters hold 258 bits: the last two bits of a signature of 256 bits are unused.
  const sameBits = alphabet[alphabet.indexOf(signature.at(-1)) ^ 1];
  for (const other of [
    `${access}=`,
    `${header}=.${claims}.${signature}`,
    `${header}.${claims}==.${signature}`,
    `${access.slice(0, -1)}${sameBits}`,
  ]) {
    expect([other, await status(other)]).toEqual([other, 401]);
  }
  expect((await api.anonymous.post('/api/token/refresh/', { refresh: `${refresh}=` })).status).toBe(401);
  expect((await api.anonymous.post('/api/token/refresh/', { refresh })).status).toBe(200);
});
