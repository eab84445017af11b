import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

let site: Installation;
let api: Api;

beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
});
afterAll(() => site[Symbol.asyncDispose]());

async function enrolled(name: string): Promise<number> {
  const { device, password: secret } = await site.device(name);
  await site.enrol(password(name, secret), {}, request(testKey('p-256'), `CN=${name}`));
  return device.id;
}

const upload = (csv: string | Uint8Array, contentType = 'text/csv') =>
  api.call('POST', '/api/devices/import/', { body: csv, contentType });

test('a device shows its state, and lists can filter by it', async () => {
  const id = await enrolled('shown-active');
  await site.device('shown-registered');
  expect((await api.get(`/api/devices/${id}/`)).body).toMatchObject({
    state: 'active',
    blocked_at: null,
    next_expiry: '2028-06-01T12:00:00.000',
    device_import: null,
  });
  const blocked = (await site.device('shown-blocked')).device.id;
  const { body } = await api.post(`/api/devices/${blocked}/block/`, { comment: 'lost' });
  expect(body).toMatchObject({ state: 'blocked', blocked_at: '2026-06-01T12:00:00.000' });
  for (const state of ['active', 'registered', 'blocked']) {
    const { body: found } = await api.get(`/api/devices/?state=${state}&search=shown-`);
    expect(found.map((device: { common_name: string }) => device.common_name)).toEqual([`shown-${state}`]);
  }
  expect((await api.get('/api/devices/?state=constructor')).status).toBe(400);
  // Read-only members may be sent back.
  const { status } = await api.put(`/api/devices/${blocked}/`, { ...body, state: 'active' });
  expect(status).toBe(200);
  expect((await api.get(`/api/devices/${blocked}/`)).body.state).toBe('blocked');
  await api.remove(`/api/devices/${blocked}/`);
});

test('blocking a device with revocation requires both permissions', async () => {
  const operator = await apiAs(site, 'Operator');
  const id = await enrolled('stolen');
  const auditor = await apiAs(site, 'Auditor');
  expect((await auditor.post(`/api/devices/${id}/block/`, {})).status).toBe(403);
  const { body: role } = await api.post('/api/roles/', {
    unique_name: 'Blocker',
    permissions: ['devices.read', 'devices.write'],
  });
  await api.post('/api/users/', { username: 'blocker', password: 'a long password', role: role.id });
  const blocker = await api.as('blocker', 'a long password');
  const revoke = { revoke: 'keyCompromise' };
  expect((await blocker.post(`/api/devices/${id}/block/`, revoke)).status).toBe(403);
  expect((await api.get(`/api/devices/${id}/`)).body.state).toBe('active');
  expect((await api.post(`/api/devices/${id}/block/`, { revoke: 'removeFromCRL' })).body).toHaveProperty(
    'revoke',
  );
  expect((await operator.post(`/api/devices/${id}/block/`, revoke)).status).toBe(200);
  const { body } = await operator.get(`/api/devices/${id}/certificates/`);
  expect(body).toMatchObject([{ device: id, status: 'revoked', revocation_reason: 'keyCompromise' }]);
  const { body: events } = await auditor.get(`/api/devices/${id}/events/?limit=2`);
  expect(events.map(({ action }: { action: string }) => action)).toEqual([
    'device.revokeCertificates',
    'certificate.revoke',
  ]);
});

test('certificates and events of a device are listed in pages, without those of others', async () => {
  const id = await enrolled('paged');
  await enrolled('another');
  const { body, headers } = await api.get(`/api/devices/${id}/events/?limit=1`);
  expect(body).toHaveLength(1);
  const next = /<([^>]*)>; rel="next"/.exec(headers.link!)![1]!;
  expect((await api.get(next)).body[0].id).toBeLessThan(body[0].id);
  expect((await api.get(`/api/devices/${id}/certificates/?status=good`)).body).toHaveLength(1);
  expect((await api.get(`/api/devices/${id}/certificates/?status=revoked`)).body).toEqual([]);
  expect((await api.get('/api/devices/999999/certificates/')).status).toBe(404);
});

test('certificates that expire within some days can be listed', async () => {
  const id = await enrolled('ends');
  const ending = async (days: string) =>
    (await api.get(`/api/certificates/?device=${id}&expires_within=${days}`)).body.length;
  expect(await ending('730')).toBe(0);
  expect(await ending('732')).toBe(1);
  await api.post(`/api/devices/${id}/revoke-certificates/`, {});
  expect(await ending('732')).toBe(0);
  for (const wrong of ['-1', '1.5', '1e3', '99999', 'x']) {
    expect((await api.get(`/api/certificates/?expires_within=${wrong}`)).body).toHaveProperty(
      'expires_within',
    );
  }
});

test('an import of devices is accepted as a file, in a form or in JSON, and reports devices and errors', async () => {
  const csv = 'common_name;serial_number;domain\r\n=cmd|x;1;\r\n"-1+1";2;nowhere\r\n=cmd|x;3;\r\n';
  const form = new FormData();
  form.set('file', new File([csv.replaceAll('cmd', 'form')], 'pumps.csv'));
  form.set('file_name', 'pumps.csv');
  const answers = [
    await upload(csv, 'text/csv; charset=utf-8'),
    await api.post('/api/devices/import/', form),
    await api.post('/api/devices/import/', { file: csv.replaceAll('cmd', 'json') }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  const { body: record, headers } = answers[1]!;
  expect(headers.location).toBe(`/api/device-imports/${record.id}/`);
  expect(record).toMatchObject({ file_name: 'pumps.csv', account: 'admin', state: 'waiting', total: 3 });
  await site.gateway.proceedImports();
  const one = `/api/device-imports/${record.id}`;
  expect((await api.get(`${one}/`)).body).toMatchObject({ state: 'done', done: 3, created: 1, refused: 2 });
  expect((await api.get(`${one}/refusals/`)).body).toEqual([
    { line: 3, field: 'domain', message: 'this name does not exist' },
    { line: 4, field: 'common_name', message: 'a device with this name already exists' },
  ]);
  const refusals = await api.get(`${one}/refusals/?format=csv`);
  expect(refusals.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="device-import-${record.id}-refusals.csv"`,
  });
  expect(refusals.text.split('\r\n')[1]).toBe('3,domain,this name does not exist');
  const { body: credentials } = await api.get(`${one}/credentials/`);
  expect(credentials).toMatchObject([{ common_name: '=form|x', est_password: expect.any(String) }]);
  const { text } = await api.get(`${one}/credentials/?format=csv`);
  expect(text.split('\r\n')[1]).toStartWith(`${credentials[0].id},"'=form|x",1,default,`);
  expect((await api.get(`/api/devices/?device_import=${record.id}`)).body).toHaveLength(1);
  expect(await site.audit('deviceImport.credentials')).toHaveLength(2);
  const reader = await apiAs(site, 'Default');
  expect((await reader.get(`${one}/credentials/`)).status).toBe(403);
});

test.each<[string, string | Uint8Array, string]>([
  ['an empty one', new Uint8Array(0), 'the file is empty'],
  ['one with a strange column', 'common_name,colour\na,b\n', 'line 1: there is no column called "colour"'],
  ['one without devices', 'common_name\n', 'the file contains no devices'],
  ['UTF-16', Buffer.from('\ufeffcommon_name\na\n', 'utf16le'), 'the file is not UTF-8'],
  [
    'one that ends inside a quote',
    `common_name\n${'a\n'.repeat(600)}"b`,
    'line 602: a quoted value is not closed',
  ],
  ['a URI', 'https://pumps.example/pumps.csv', 'line 1: there is no column called'],
])('%s is rejected, and nothing is imported', async (_, csv, message) => {
  const { status, body } = await upload(csv);
  expect([status, Object.keys(body)]).toEqual([400, ['file']]);
  expect(body.file[0]).toStartWith(message);
  expect((await api.get('/api/device-imports/?state=receiving')).body).toEqual([]);
  expect((await api.get('/api/device-imports/?state=waiting')).body).toEqual([]);
});

test('secrets are set, cleared and read only with the permission; other accounts can send back what they read', async () => {
  const { body: role } = await api.post('/api/roles/', {
    unique_name: 'Fitter',
    permissions: ['devices.read', 'devices.write'],
  });
  await api.post('/api/users/', { username: 'fitter', password: 'a long password', role: role.id });
  const fitter = await api.as('fitter', 'a long password');
  for (const path of ['/api/no-onboarding-configs/', '/api/onboarding-configs/']) {
    const { body: whole } = await api.post(path, {});
    const url = `${path}${whole.id}/`;
    const { body: shown } = await fitter.get(url);
    expect(shown).toEqual({ ...whole, est_password: null, cmp_shared_secret: null });
    expect((await fitter.put(url, { ...shown, protocols: ['est'] })).status).toBe(200);
    expect((await api.get(url)).body).toEqual({ ...whole, protocols: ['est'] });
    expect((await fitter.patch(url, { est_password: 'a'.repeat(16) })).status).toBe(403);
    for (const [wrong, message] of [
      ['too short', 'at least 16 characters are needed'],
      ['with spaces, and long', 'ASCII without spaces is expected'],
      [5, 'a string or null is expected'],
    ] as const) {
      expect((await api.patch(url, { est_password: wrong })).body.est_password).toEqual([message]);
    }
    expect((await api.patch(url, { est_password: null })).body.est_password).toBeNull();
  }
});
