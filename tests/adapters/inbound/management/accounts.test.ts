import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { basic } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const password = 'a long password';

async function roleId(api: Api, name: string): Promise<number> {
  const { body } = await api.get(`/api/roles/?unique_name=${encodeURIComponent(name)}`);
  return body[0].id;
}

test('a user is created, read, changed and deleted; the password is never shown', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const role = await roleId(api, 'Default');
  const { status, body: made } = await api.post('/api/users/', { username: ' jo ', password, role });
  expect(status).toBe(201);
  expect(made).toEqual({
    id: expect.any(Number),
    username: 'jo',
    role,
    is_active: true,
    must_change_password: true,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}$/),
  });
  const path = `/api/users/${made.id}/`;
  expect((await api.get(path)).body).toEqual(made);
  expect((await api.get('/api/users/?search=J')).body).toEqual([made]);
  // GET, edit, PUT keeps the password.
  expect((await api.put(path, { ...made, username: 'joan' })).body).toEqual({ ...made, username: 'joan' });
  const joan = await api.as('joan', password);
  expect((await joan.get('/api/devices/')).status).toBe(200);
  expect((await api.patch(path, { password: 'another password' })).status).toBe(200);
  expect((await joan.get('/api/devices/')).body).toEqual({
    detail: 'the token is not valid or has expired',
    code: 'token_not_valid',
  });
  const again = await api.as('joan', 'another password');
  expect((await api.patch(path, { is_active: false })).status).toBe(200);
  expect((await again.get('/api/devices/')).status).toBe(401);
  expect((await api.remove(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
});

test('the last active administrator cannot be removed', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: users } = await api.get('/api/users/');
  const path = `/api/users/${users[0].id}/`;
  const refused = {
    detail: 'this is the last active administrator',
    code: 'last_administrator',
    hint: 'make another active user with the role Admin first',
  };
  const role = await roleId(api, 'Default');
  for (const answer of [
    await api.remove(path),
    await api.patch(path, { role }),
    await api.patch(path, { is_active: false }),
    await api.put(path, { username: 'admin', role, is_active: true }),
  ]) {
    expect([answer.status, answer.body]).toEqual([409, refused]);
  }
  // An inactive administrator does not count.
  const admin = await roleId(api, 'Admin');
  const second = { username: 'second', password, role: admin };
  const { body: other } = await api.post('/api/users/', { ...second, is_active: false });
  expect((await api.remove(path)).status).toBe(409);
  await api.patch(`/api/users/${other.id}/`, { is_active: true });
  expect((await api.remove(path)).status).toBe(204);
});

test('of two administrators that remove each other concurrently, one remains', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  const [api, elsewhere] = [await apiOf(one), await apiOf(two)];
  const admin = await roleId(api, 'Admin');
  const { body: users } = await api.get('/api/users/');
  const { body: second } = await api.post('/api/users/', { username: 'second', password, role: admin });
  const signedIn = await elsewhere.as('second', password);
  const answers = await Promise.all([
    signedIn.remove(`/api/users/${users[0].id}/`),
    api.patch(`/api/users/${second.id}/`, { is_active: false }),
  ]);
  // The second one is rejected as an attempt on the last administrator or as an account that was just removed.
  expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
  expect(answers.filter(({ status }) => [401, 403, 409].includes(status))).toHaveLength(1);
  const query = { where: [{ field: 'isActive', is: 'equal', value: true }], limit: 10 } as const;
  expect((await one.store.list('user', query)).records).toHaveLength(1);
});

test('an account cannot grant, or take over, more permissions than it has', async () => {
  await using site = await installation();
  const admin = await apiOf(site);
  const permissions = ['accounts.read', 'accounts.write', 'devices.read'];
  const { body: keeper } = await admin.post('/api/roles/', { unique_name: 'Account keeper', permissions });
  await admin.post('/api/users/', { username: 'keeper', password, role: keeper.id });
  const api = await admin.as('keeper', password);
  const adminRole = await roleId(admin, 'Admin');
  const { body: users } = await admin.get('/api/users/?username=admin');
  const { body: program } = await admin.post('/api/service-accounts/', { unique_name: 'x', role: adminRole });
  const attempts = [
    api.post('/api/users/', { username: 'mallory', password, role: adminRole }),
    api.patch(`/api/users/${users[0].id}/`, { password: 'mine from now on' }),
    api.remove(`/api/users/${users[0].id}/`),
    api.post('/api/service-accounts/', { unique_name: 'mallory', role: adminRole }),
    api.call('POST', `/api/service-accounts/${program.id}/rotate/`),
    api.patch(`/api/service-accounts/${program.id}/`, { is_active: false }),
    api.remove(`/api/service-accounts/${program.id}/`),
    api.post('/api/roles/', { unique_name: 'More', permissions: ['logs.read'] }),
    api.patch(`/api/roles/${keeper.id}/`, { permissions: [...permissions, 'logs.read'] }),
  ];
  for (const { status, body } of await Promise.all(attempts)) {
    expect([status, body.detail]).toEqual([403, expect.stringContaining('you cannot grant the permission')]);
  }
  const mine = { username: 'helper', password, role: keeper.id };
  expect((await api.post('/api/users/', mine)).status).toBe(201);
});

test('the role Admin cannot be changed, and a role in use cannot be deleted', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const admin = await roleId(api, 'Admin');
  for (const { status, body } of [
    await api.patch(`/api/roles/${admin}/`, { permissions: [] }),
    await api.remove(`/api/roles/${admin}/`),
  ]) {
    expect([status, body]).toEqual([409, { detail: 'this role is protected', code: 'role_protected' }]);
  }
  const { body: role } = await api.post('/api/roles/', {
    unique_name: 'Line',
    permissions: ['devices.read'],
  });
  const { body: user } = await api.post('/api/users/', { username: 'jo', password, role: role.id });
  expect((await api.remove(`/api/roles/${role.id}/`)).body).toEqual({
    detail: 'still used by 1 user',
    code: 'still_used',
    values: { user: 1 },
  });
  const jo = await api.as('jo', password);
  expect((await jo.get('/api/domains/')).status).toBe(403);
  await api.patch(`/api/roles/${role.id}/`, { permissions: ['domains.read'] });
  expect((await jo.get('/api/domains/')).status).toBe(200);
  expect((await jo.get('/api/devices/')).status).toBe(403);
  await api.remove(`/api/users/${user.id}/`);
  expect((await api.remove(`/api/roles/${role.id}/`)).status).toBe(204);
});

test('a service account signs in for an hour with the secret that was shown once', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const role = await roleId(api, 'Default');
  const { status, body: made } = await api.post('/api/service-accounts/', { unique_name: 'line', role });
  expect([status, made.client_id]).toEqual([201, `sa_${made.id}`]);
  expect(made.client_secret).toMatch(/^[\w-]{43}$/);
  const path = `/api/service-accounts/${made.id}/`;
  expect((await api.get(path)).body).toEqual({ ...made, client_secret: null });
  expect((await api.get('/api/service-accounts/')).text).not.toContain(made.client_secret);

  const credentials = { client_id: made.client_id, client_secret: made.client_secret };
  const grant = { grant_type: 'client_credentials', ...credentials };
  const { body: token } = await api.anonymous.post('/api/token/', grant);
  expect(token).toEqual({ access: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
  site.clock.advance(900);
  const program = await api.asService(made.client_id, made.client_secret);
  site.clock.advance(3_599_999);
  expect((await program.get('/api/devices/')).status).toBe(200);
  site.clock.advance(1001);
  expect((await program.get('/api/devices/')).body.code).toBe('token_not_valid');
});

test('the token endpoint accepts a form, as OAuth 2.0 requires', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: made } = await api.post('/api/service-accounts/', {
    unique_name: 'x',
    role: await roleId(api, 'Default'),
  });
  const { status } = await api.anonymous.call('POST', '/api/token/', {
    body: `grant_type=client_credentials&client_id=${made.client_id}&client_secret=${made.client_secret}`,
    contentType: 'application/x-www-form-urlencoded',
  });
  expect(status).toBe(200);
});

describe('client credentials in the Authorization field (RFC 6749 §2.3.1)', () => {
  let site: Installation;
  let anonymous: Api;
  let id: string;
  let secret: string;
  beforeAll(async () => {
    site = await installation();
    const api = await apiOf(site);
    const role = await roleId(api, 'Default');
    const { body } = await api.post('/api/service-accounts/', { unique_name: 'oauth', role });
    ({ client_id: id, client_secret: secret } = body);
    ({ anonymous } = api);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const ask = (authorization: string, more: object = {}) =>
    anonymous.call('POST', '/api/token/', {
      body: { grant_type: 'client_credentials', ...more },
      headers: { authorization },
    });
  const encoded = (text: string) =>
    [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
  const own = () => basic(id, secret);

  const granted: readonly [what: string, authorization: () => string, more?: () => object][] = [
    ['as they are', own],
    ['percent-encoded', () => basic(encoded(id), encoded(secret))],
    ['with a scope, which is ignored', own, () => ({ scope: 'devices.read openid' })],
    ['with an empty scope', own, () => ({ scope: '' })],
    ['beside members without a value', own, () => ({ client_id: '', client_secret: '' })],
    ['beside the same id in the body', own, () => ({ client_id: id })],
    ['beside the same in the body', own, () => ({ client_id: id, client_secret: secret })],
    [
      'in the body alone, beside a field of another scheme',
      () => 'Bearer x',
      () => ({ client_id: id, client_secret: secret, scope: 'x' }),
    ],
  ];
  test.each(granted)('%s are accepted', async (_, authorization, more) => {
    const { status, body } = await ask(authorization(), more?.());
    expect([status, body]).toEqual([
      200,
      { access: expect.any(String), token_type: 'Bearer', expires_in: 3600 },
    ]);
  });

  test('are accepted with a form as body', async () => {
    const { status } = await anonymous.call('POST', '/api/token/', {
      body: 'grant_type=client_credentials&scope=a+b',
      contentType: 'application/x-www-form-urlencoded',
      headers: { authorization: own() },
    });
    expect(status).toBe(200);
  });

  const unread = 'the Authorization header does not contain a client id and a secret';
  const twice = 'the Authorization header and the body have different credentials';
  const wrong = 'wrong client id or client secret';
  const refused: readonly [
    what: string,
    authorization: () => string,
    more: object,
    status: number,
    error: string,
    description: string,
  ][] = [
    ['no credentials', () => 'Basic', {}, 401, 'invalid_client', unread],
    ['no base64', () => 'Basic sa_1:x', {}, 401, 'invalid_client', unread],
    ['no colon', () => `Basic ${btoa('sa_1')}`, {}, 401, 'invalid_client', unread],
    ['a percent sign and nothing behind it', () => basic(id, '%'), {}, 401, 'invalid_client', unread],
    ['a percent sign and one digit', () => basic(id, 'a%2'), {}, 401, 'invalid_client', unread],
    ['a percent sign and no digits', () => basic('sa%zz1', 'x'), {}, 401, 'invalid_client', unread],
    ['what is not UTF-8 when decoded', () => basic(id, '%ff'), {}, 401, 'invalid_client', unread],
    ['a control character when decoded', () => basic('sa_1%00', 'x'), {}, 401, 'invalid_client', unread],
    ['an id that is too long', () => basic('s'.repeat(101), 'x'), {}, 401, 'invalid_client', unread],
    ['another secret', () => basic(id, `${secret}x`), {}, 401, 'invalid_client', wrong],
    ['a space for a plus sign', () => basic(`+${id.slice(1)}`, secret), {}, 401, 'invalid_client', wrong],
    ['an unknown id', () => basic('sa_999999', 'x'), {}, 401, 'invalid_client', wrong],
    ['another id in the body', own, { client_id: 'sa_2' }, 400, 'invalid_request', twice],
    ['another secret in the body', own, { client_secret: 'x' }, 400, 'invalid_request', twice],
  ];
  test.each(refused)('with %s are rejected', async (_, authorization, more, status, error, description) => {
    const answer = await ask(authorization(), more);
    expect([answer.status, answer.body]).toEqual([status, { error, error_description: description }]);
    expect(answer.headers['www-authenticate']).toBe(
      status === 401 ? 'Basic realm="postern", charset="UTF-8"' : undefined,
    );
  });

  test('do not make unknown members known', async () => {
    const { status, body } = await ask(own(), { resource: 'x' });
    expect([status, body]).toEqual([400, { resource: ['unknown field'] }]);
  });

  test('are throttled after too many failures', async () => {
    const guess = () => ask(basic('sa_4711', 'x'));
    for (let n = 0; n < 5; n++) expect((await guess()).status).toBe(401);
    const { status, headers } = await guess();
    expect([status, headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  });
});

test('rotation and deactivation end earlier secrets and tokens permanently', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: made } = await api.post('/api/service-accounts/', {
    unique_name: 'x',
    role: await roleId(api, 'Default'),
  });
  const before = await api.asService(made.client_id, made.client_secret);
  const { status, body: rotated } = await api.call('POST', `/api/service-accounts/${made.id}/rotate/`);
  expect(status).toBe(200);
  expect(rotated.client_secret).not.toBe(made.client_secret);
  expect((await before.get('/api/devices/')).status).toBe(401);
  await expect(api.asService(made.client_id, made.client_secret)).rejects.toThrow('401');
  const after = await api.asService(made.client_id, rotated.client_secret);
  expect((await after.get('/api/devices/')).status).toBe(200);
  await api.patch(`/api/service-accounts/${made.id}/`, { is_active: false });
  expect((await after.get('/api/devices/')).status).toBe(401);
  await expect(api.asService(made.client_id, rotated.client_secret)).rejects.toThrow('401');
  await api.patch(`/api/service-accounts/${made.id}/`, { is_active: true });
  expect((await after.get('/api/devices/')).status).toBe(401);
  const again = await api.asService(made.client_id, rotated.client_secret);
  expect((await again.get('/api/devices/')).status).toBe(200);
});

test('the reason for rejected client credentials is not sent, and too many failures are throttled', async () => {
  await using site = await installation();
  const { anonymous, ...api } = await apiOf(site);
  const { body: made } = await api.post('/api/service-accounts/', {
    unique_name: 'x',
    role: await roleId({ ...api, anonymous }, 'Default'),
  });
  const attempt = (client_id: string) =>
    anonymous.post('/api/token/', { grant_type: 'client_credentials', client_id, client_secret: 'wrong' });
  for (const id of [made.client_id, 'sa_999999', 'sa_0', 'jo', 'sa_99999999999999999999']) {
    const { status, body, headers } = await attempt(id);
    expect([status, body, headers['www-authenticate']]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'wrong client id or client secret' },
      'Bearer',
    ]);
  }
  for (let n = 0; n < 4; n++) await attempt(made.client_id);
  const { status, headers } = await attempt(made.client_id);
  expect([status, headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(await site.audit('serviceAccount.signIn')).toHaveLength(9);
});

test.each([
  [{ grant_type: 'password', username: 'a', password: 'b' }, 400, { error: 'unsupported_grant_type' }],
  [{ grant_type: 5 }, 400, { error: 'unsupported_grant_type' }],
  [
    { grant_type: 'client_credentials' },
    400,
    { client_id: ['this field is required'], client_secret: ['this field is required'] },
  ],
  [{ username: 'admin' }, 400, { password: ['this field is required'] }],
  [
    { username: 'admin', password: 'wrong password' },
    401,
    { detail: 'wrong user name or password', code: 'wrong_credentials' },
  ],
  [
    { username: 'nobody', password: 'wrong password' },
    401,
    { detail: 'wrong user name or password', code: 'wrong_credentials' },
  ],
])('the token endpoint answers %j with %i', async (request, status, body) => {
  await using site = await installation();
  const answer = await (await apiOf(site)).anonymous.post('/api/token/', request);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

test.each([
  [
    'users',
    { username: 'jo', password, role: 4 },
    'username',
    ['', '  ', 5, null, 'a\nb', 'x'.repeat(151), undefined],
  ],
  [
    'users',
    { username: 'jo', password, role: 4 },
    'password',
    ['short', 5, null, 'x'.repeat(1025), undefined],
  ],
  ['users', { username: 'jo', password, role: 4 }, 'role', [0, 999, '4', 1.5, null, [4], undefined]],
  ['users', { username: 'jo', password, role: 4 }, 'is_active', ['yes', 1, null]],
  ['roles', { unique_name: 'x', permissions: [] }, 'unique_name', ['', 5, 'x'.repeat(256), undefined]],
  [
    'roles',
    { unique_name: 'x', permissions: [] },
    'permissions',
    ['devices.read', ['no.such'], [5], ['devices.read', 'devices.read'], null, undefined],
  ],
  ['service-accounts', { unique_name: 'x', role: 4 }, 'unique_name', ['', 5, 'a\u0085b', undefined]],
  ['service-accounts', { unique_name: 'x', role: 4 }, 'role', [999, 'Default', undefined]],
])('/api/%s/ rejects %j with an error at %s', async (path, good, field, values) => {
  await using site = await installation();
  const api = await apiOf(site);
  const before = await api.get(`/api/${path}/`);
  for (const value of values) {
    const { status, body } = await api.post(`/api/${path}/`, { ...good, [field]: value });
    expect([value, status, Object.keys(body)]).toEqual([value, 400, [field]]);
  }
  expect((await api.get(`/api/${path}/`)).body).toEqual(before.body);
});

test('a list in a form is sent as repeated items, as JSON, or as a single item', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const form = (body: string) =>
    api.call('POST', '/api/roles/', { body, contentType: 'application/x-www-form-urlencoded' });
  const some = ['devices.read', 'cas.read'];
  const item = await form(`unique_name=items&permissions=${some[0]}&permissions=${some[1]}`);
  expect([item.status, item.body.permissions]).toEqual([201, some]);
  const json = await form(`unique_name=json&permissions=${encodeURIComponent(JSON.stringify(some))}`);
  expect([json.status, json.body.permissions]).toEqual([201, some]);
  const one = await form(`unique_name=one&permissions=${some[0]}`);
  expect([one.status, one.body.permissions]).toEqual([201, [some[0]]]);
  const parts = new FormData();
  parts.append('unique_name', 'parts');
  parts.append('permissions', new Blob([JSON.stringify(some)], { type: 'application/json' }));
  const part = await api.call('POST', '/api/roles/', { body: parts });
  expect([part.status, part.body.permissions]).toEqual([201, some]);
  const twice = await form('unique_name=a&unique_name=b&permissions=cas.read');
  expect([twice.status, twice.body]).toEqual([400, { unique_name: ['this field appears more than once'] }]);
});
