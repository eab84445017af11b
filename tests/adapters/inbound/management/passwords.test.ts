import { expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { adminPassword, installation } from '#tests/fixtures/installation.ts';

const own = 'a password of my own';
const required = {
  detail: 'an administrator set this password: choose a new one with POST /api/me/password/',
  code: 'password_change_required',
};

const signIn = (api: Api, username: string, password: string) =>
  api.anonymous.post('/api/token/', { username, password });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const change = (api: Api, token: string, current_password: string, new_password: string) =>
  api.anonymous.call('POST', '/api/me/password/', {
    body: { current_password, new_password },
    headers: bearer(token),
  });

test('a user who changes their password ends all their sessions and gets a new one', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: other } = await signIn(api, 'admin', adminPassword);
  const { body: mine } = await signIn(api, 'admin', adminPassword);
  const changed = await change(api, mine.access, adminPassword, own);
  expect([changed.status, changed.body]).toEqual([
    200,
    { access: expect.any(String), refresh: expect.any(String) },
  ]);
  const status = async (token: string) => (await api.anonymous.get('/api/devices/', bearer(token))).status;
  expect(await Promise.all([other, mine, changed.body].map(({ access }) => status(access)))).toEqual([
    401, 401, 200,
  ]);
  expect((await api.anonymous.post('/api/token/refresh/', { refresh: other.refresh })).status).toBe(401);
  expect((await api.anonymous.post('/api/token/refresh/', { refresh: changed.body.refresh })).status).toBe(
    200,
  );
  expect((await signIn(api, 'admin', adminPassword)).status).toBe(401);
  expect((await signIn(api, 'admin', own)).status).toBe(200);
  const events = await site.audit('user.password');
  expect(events.map(({ actor, outcome }) => [actor.name, outcome])).toEqual([['admin', 'success']]);
});

test.each([
  ['that is wrong', 'not it at all', own, { current_password: ['the current password is wrong'] }],
  [
    'that stays',
    adminPassword,
    adminPassword,
    { new_password: ['the new password must differ from the current one'] },
  ],
  ['that is short', adminPassword, 'sesame', { new_password: ['a password must have 8 to 1024 characters'] }],
  [
    'that is common',
    adminPassword,
    'Password',
    { new_password: ['this is one of the most common passwords: choose another one'] },
  ],
])('a password %s is rejected, and the session continues', async (_, current, next, errors) => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body } = await signIn(api, 'admin', adminPassword);
  const answer = await change(api, body.access, current, next);
  expect([answer.status, answer.body]).toEqual([400, errors]);
  expect((await api.anonymous.get('/api/devices/', bearer(body.access))).status).toBe(200);
});

test('guessing a password in a session is throttled like a sign-in', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body } = await signIn(api, 'admin', adminPassword);
  const statuses: number[] = [];
  for (let n = 0; n < 7; n++)
    statuses.push((await change(api, body.access, `guess number ${n}`, own)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
  expect((await change(api, body.access, adminPassword, own)).status).toBe(429);
  expect((await signIn(api, 'admin', adminPassword)).status).toBe(429);
  const refused = await site.audit('user.password');
  expect(refused.map(({ actor, outcome }) => `${actor.name} ${outcome}`)).toEqual(
    Array(5).fill('admin refused'),
  );
});

test('a password set by an administrator allows only a change of the password', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: roles } = await api.get('/api/roles/?unique_name=Admin');
  const given = 'what the administrator chose';
  const { body: user } = await api.post('/api/users/', {
    username: 'jo',
    password: given,
    role: roles[0].id,
  });
  const { body: tokens } = await signIn(api, 'jo', given);
  const paths = ['/api/devices/', `/api/users/${user.id}/`, '/metrics', '/api/audit-events/'];
  for (const path of paths) {
    const answer = await api.anonymous.get(path, bearer(tokens.access));
    expect([path, answer.status, answer.body]).toEqual([path, 403, required]);
  }
  const patch = await api.anonymous.call('PATCH', `/api/users/${user.id}/`, {
    body: { password: own },
    headers: bearer(tokens.access),
  });
  expect([patch.status, patch.body]).toEqual([403, required]);
  const me = await api.anonymous.get('/api/me/', bearer(tokens.access));
  expect([me.status, me.body.must_change_password]).toEqual([200, true]);

  const changed = await change(api, tokens.access, given, own);
  expect(changed.status).toBe(200);
  const after = await api.anonymous.get('/api/me/', bearer(changed.body.access));
  expect(after.body.must_change_password).toBe(false);
  expect((await api.anonymous.get('/api/users/', bearer(changed.body.access))).status).toBe(200);

  // After a reset it is the same; a password that administrators set for themselves is permanent.
  await api.patch(`/api/users/${user.id}/`, { password: given });
  const { body: again } = await signIn(api, 'jo', given);
  expect((await api.anonymous.get('/api/devices/', bearer(again.access))).body).toEqual(required);
  const { body: self } = await api.get('/api/me/');
  await api.patch(`/api/users/${self.id}/`, { password: own });
  const admin = await signIn(api, 'admin', own);
  expect((await api.anonymous.get('/api/devices/', bearer(admin.body.access))).status).toBe(200);
});

test('a service account has no password', async () => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: roles } = await api.get('/api/roles/?unique_name=Admin');
  const { body } = await api.post('/api/service-accounts/', { unique_name: 'line', role: roles[0].id });
  const service = await api.asService(body.client_id, body.client_secret);
  const answer = await service.post('/api/me/password/', { current_password: 'x', new_password: own });
  expect([answer.status, answer.body]).toEqual([
    403,
    { detail: 'only a user has a password', code: 'forbidden' },
  ]);
});

test.each([
  ['password', 'this is one of the most common passwords: choose another one'],
  ['PassWord1', 'this is one of the most common passwords: choose another one'],
  ['qwertyuiop', 'this is one of the most common passwords: choose another one'],
  ['Joanna.Smith', 'the password must differ from the user name'],
  ['pass\u200bword', 'a password must not contain control characters or invisible characters'],
  ['\u200b'.repeat(12), 'a password must not contain control characters or invisible characters'],
  ['tab\tin between', 'a password must not contain control characters or invisible characters'],
  ['          ', 'a password must not consist of spaces only'],
])('when a password is set, %j is rejected', async (password, message) => {
  await using site = await installation();
  const api = await apiOf(site);
  const { body: roles } = await api.get('/api/roles/?unique_name=Default');
  const user = { username: 'joanna.smith', role: roles[0].id };
  expect((await api.post('/api/users/', { ...user, password })).body).toEqual({ password: [message] });
  const { body: made } = await api.post('/api/users/', { ...user, password: 'a long password' });
  expect((await api.patch(`/api/users/${made.id}/`, { password })).body).toEqual({ password: [message] });
  const { accounts } = site.gateway;
  const { actor } = site.admin;
  const fault = { code: 'malformed', detail: message, field: 'password' };
  await expect(accounts.setPassword('joanna.smith', password, actor)).rejects.toMatchObject(fault);
  const created = accounts.createUser(
    password === 'Joanna.Smith' ? password : 'jim',
    password,
    'Default',
    actor,
  );
  await expect(created).rejects.toMatchObject(fault);
});

test.each([
  ['/api/users/', { username: 'ad\u200bmin', password: 'a long password', role: 1 }, 'username'],
  ['/api/service-accounts/', { unique_name: 'li\u2060ne', role: 1 }, 'unique_name'],
  ['/api/devices/', { common_name: 'pu\u202emp' }, 'common_name'],
  ['/api/domains/', { unique_name: 'pla\u00adnt' }, 'unique_name'],
])('a user name with invisible characters is rejected: %s', async (path, body, field) => {
  await using site = await installation();
  const api = await apiOf(site);
  const answer = await api.post(path, body);
  expect([answer.status, answer.body]).toEqual([400, { [field]: ['invisible characters are not allowed'] }]);
});

test('such a user name is also rejected on the command line', async () => {
  await using site = await installation();
  const { gateway, admin } = site;
  const fault = { code: 'malformed', detail: 'invisible characters are not allowed' };
  const name = 'pump\u200b';
  await expect(
    gateway.accounts.createUser(name, 'a long password', 'Default', admin.actor),
  ).rejects.toMatchObject(fault);
  await expect(gateway.devices.create(admin, { commonName: name })).rejects.toMatchObject(fault);
  const { id } = await gateway.accounts.roleNamed('Default');
  await expect(gateway.serviceAccounts.create(admin, { uniqueName: name, role: id })).rejects.toMatchObject(
    fault,
  );
});
