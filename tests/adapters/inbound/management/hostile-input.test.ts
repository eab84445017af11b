import { expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { installation } from '#tests/fixtures/installation.ts';

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
  ['half a surrogate pair', '{"common_name":"\\ud800"}', { common_name: ['this is not Unicode'] }],
  [
    'an id that is none',
    '{"common_name":"p","domain":0}',
    { domain: ['expected integer to be greater or equal to 1'] },
  ],
  ['U+0000', '{"common_name":"\\u0000"}', { common_name: ['control characters are not allowed'] }],
  ['a list', '[]', { non_field_errors: ['an object is expected'] }],
  [
    '33 levels',
    `${'['.repeat(33)}${']'.repeat(33)}`,
    { non_field_errors: ['at most 32 levels are allowed'] },
  ],
])('a body with %s is refused, and makes nothing', (_, body, errors) =>
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
])('a query that is not what it should be is 400: %s', (path) =>
  within(async (api) => {
    expect((await api.get(path)).status).toBe(400);
  }),
);
