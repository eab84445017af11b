import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Permission, shippedRoles } from '#core/access/permissions.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

/** An operation of the OpenAPI document. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly permission: Permission | undefined;
  readonly isPublic: boolean;
}

let site: Installation;
let admin: Api;
let operations: readonly Operation[];
const accounts = new Map<string, { readonly api: Api; readonly granted: ReadonlySet<string> }>();

beforeAll(async () => {
  site = await installation();
  admin = await apiOf(site);
  const { body } = await admin.anonymous.get('/api/schema/?format=json');
  operations = Object.entries(
    body.paths as Record<string, Record<string, { 'x-permission'?: Permission; security: object[] }>>,
  ).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '999999'),
      permission: operation['x-permission'],
      isPublic: !operation.security.some((one) => 'bearer' in one),
    })),
  );
  await admin.post('/api/roles/', { unique_name: 'Nothing', permissions: [] });
  const { body: roles } = await admin.get('/api/roles/');
  for (const { id, unique_name, permissions: granted } of roles) {
    const credentials = { username: `a-${unique_name}`, password: 'a long password' };
    await admin.post('/api/users/', { ...credentials, role: id });
    const api = await admin.as(credentials.username, credentials.password);
    accounts.set(unique_name, { api, granted: new Set(granted) });
    const { body } = await admin.post('/api/service-accounts/', { unique_name, role: id });
    accounts.set(`service account ${unique_name}`, {
      api: await admin.asService(body.client_id, body.client_secret),
      granted: new Set(granted),
    });
  }
});
afterAll(() => site[Symbol.asyncDispose]());

const everybody = [...Object.keys(shippedRoles), 'Nothing'];

describe.each([...everybody, ...everybody.map((role) => `service account ${role}`)])('%s', (name) => {
  test('can do exactly what the permissions of its role allow', async () => {
    const { api, granted } = accounts.get(name)!;
    const wrong: unknown[] = [];
    for (const { method, path, permission } of operations) {
      if (permission === undefined) continue;
      // A body that no operation accepts: only operations without a body take effect.
      const { status, body } = await api.call(method, path, { body: { 'no such field': 1 } });
      const refused = {
        detail: `this requires the permission ${permission}`,
        code: 'permission_missing',
        values: { permission },
      };
      const asItShould = granted.has(permission)
        ? status !== 401 && status !== 403
        : status === 403 && Bun.deepEquals(body, refused);
      if (!asItShould) wrong.push([method, path, permission, status, body]);
    }
    expect(wrong).toEqual([]);
  });
});

test('without a token, only public operations are allowed', async () => {
  const open: string[] = [];
  for (const { method, path, isPublic } of operations) {
    const { status, headers, body } = await admin.anonymous.call(method, path);
    if (isPublic) {
      open.push(`${method} ${path}`);
      continue;
    }
    expect([method, path, status, headers['www-authenticate']]).toEqual([method, path, 401, 'Bearer']);
    expect(body).toEqual({ detail: 'authentication credentials were not provided', code: 'unauthenticated' });
  }
  expect(open.sort()).toEqual([
    'GET /api/health/',
    'GET /api/schema/',
    'GET /api/schema/swagger-ui/',
    'GET /schema/',
    'POST /api/token/',
    'POST /api/token/refresh/',
    'POST /api/token/revoke/',
  ]);
});

test('a rejected request is audited', async () => {
  const { api } = accounts.get('Nothing')!;
  await api.get('/api/devices/');
  const { actor, outcome, detail } = (await site.audit('account.authorize')).at(-1)!;
  expect([actor.kind, actor.name, outcome, detail]).toEqual([
    'user',
    'a-Nothing',
    'refused',
    { permission: 'devices.read' },
  ]);
});

test('a service account in a browser is rejected, with its token and at the token endpoint', async () => {
  const { api } = accounts.get('service account Admin')!;
  for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: 'https://localhost:8443' }]) {
    const { status, body } = await api.get('/api/devices/', headers);
    expect([status, body]).toEqual([
      403,
      { detail: 'service accounts cannot be used in a browser', code: 'forbidden' },
    ]);
    const grant = { grant_type: 'client_credentials', client_id: 'sa_1', client_secret: 'x' };
    const refused = await admin.anonymous.call('POST', '/api/token/', { body: grant, headers });
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
    expect((await admin.get('/api/devices/', headers)).status).toBe(200);
  }
});
