import { afterAll, beforeAll, expect, test } from 'bun:test';
import { errorCodes } from '#adapters/inbound/management/error-codes.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;
let api: Api;
beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

test('an error has a stable code and the values of its text, in addition to its detail', async () => {
  expect((await api.get('/api/devices/999999/')).body).toEqual({
    detail: 'there is no such device',
    code: 'not_found',
  });
  const { body: domain } = await api.post('/api/domains/', { unique_name: 'used' });
  await api.post('/api/devices/', { common_name: 'pump-1', domain: domain.id });
  const { status, body } = await api.remove(`/api/domains/${domain.id}/`);
  expect([status, body.code, body.values]).toEqual([409, 'still_used', { device: 1 }]);
});

test('field errors keep their form, and their codes are in the Error-Codes header', async () => {
  await api.post('/api/domains/', { unique_name: 'twice' });
  const { status, headers, body } = await api.post('/api/domains/', { unique_name: 'twice' });
  expect([status, Object.keys(body), headers['error-codes']]).toEqual([
    400,
    ['unique_name'],
    'unique_name=already_taken',
  ]);
  const several = await api.post('/api/users/', { username: '', nonsense: 1 });
  expect(several.headers['error-codes']?.split(', ').sort()).toEqual([
    'nonsense=unknown_field',
    'password=required',
    'role=required',
    'username=invalid',
  ]);
});

test('an integer value of a field error is a parameter of its code', async () => {
  const short = { current_password: 'not it at all', new_password: 'sesame' };
  const { headers } = await api.post('/api/me/password/', short);
  expect(headers['error-codes']).toBe('new_password=password_length;shortest=8;longest=1024');
});

test('an unknown field with an unusual name is in the body but not in the header', async () => {
  const { headers, body } = await api.post('/api/domains/', { unique_name: 'odd', 'a\r\nb=c': 1 });
  expect(Object.keys(body)).toEqual(['a\r\nb=c']);
  expect(headers['error-codes']).toBeUndefined();
  expect(errorCodes(['ok', 'No', 'ä', '__proto__'], { ok: 'required' })).toBe('ok=required');
});

test('a request that the listener rejects has a code', async () => {
  expect((await api.refused(413)).body.code).toBe('content_too_large');
  expect((await api.refused(400)).body.code).toBe('malformed');
});
