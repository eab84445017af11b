import { afterAll, beforeAll, expect, test } from 'bun:test';
import { request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { adminPassword, type DeviceSecrets, type Server, startServer } from '#tests/fixtures/server.ts';

const tls = { rejectUnauthorized: false };
const idForm = /^[0-9a-f]{32}$/;

let server: Server;
let devices: readonly DeviceSecrets[];
let bearer: string;

beforeAll(async () => {
  server = await startServer();
  devices = await Promise.all(Array.from({ length: 8 }, (_, n) => server.register(`pump-${n}`)));
  const signIn = await call('/api/token/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  });
  bearer = `Bearer ${((await signIn.json()) as { access: string }).access}`;
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.baseUrl}${path}`, { ...init, tls } as RequestInit);

const idOf = (response: Response): string => response.headers.get('x-request-id') ?? '';

/** The audit events of a request: action, outcome and name of the actor. */
async function eventsOf(id: string): Promise<readonly string[]> {
  const response = await call(`/api/audit-events/?request_id=${id}`, { headers: { authorization: bearer } });
  const events = (await response.json()) as {
    request_id: string;
    action: string;
    outcome: string;
    actor: { name: string };
  }[];
  expect(events.every(({ request_id }) => request_id === id)).toBe(true);
  return events.map(({ action, outcome, actor }) => `${action} ${outcome} ${actor.name}`);
}

function enrol({ username, password }: DeviceSecrets, secret = password): Promise<Response> {
  const csr = request(testKey('p-256', username), `CN=${username}`);
  return call('/.well-known/est/simpleenroll', {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
      'content-type': 'application/pkcs10',
      'x-request-id': 'f'.repeat(32),
    },
    body: Buffer.from(csr).toString('base64'),
  });
}

test('the audit event of each of several concurrent enrolments has the id of its own response', async () => {
  const responses = await Promise.all(devices.map((device) => enrol(device)));
  expect(responses.map(({ status }) => status)).toEqual(devices.map(() => 200));
  const ids = responses.map(idOf);
  expect(new Set(ids).size).toBe(devices.length);
  const events = await Promise.all(ids.map(eventsOf));
  expect(events).toEqual(devices.map(({ username }) => [`certificate.issue success ${username}`]));
});

test('the audit event of a rejected request has its id', async () => {
  const rejected = await enrol(devices[0]!, 'wrong');
  expect(rejected.status).toBe(401);
  expect(await eventsOf(idOf(rejected))).toHaveLength(1);
});

test('a change over the Management API is found by its id, also in an export', async () => {
  const made = await call('/api/devices/', {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ common_name: 'valve' }),
  });
  expect(await eventsOf(idOf(made))).toEqual(['device.create success admin']);
  const table = await call(`/api/audit-events/?format=csv&request_id=${idOf(made)}`, {
    headers: { authorization: bearer },
  });
  expect(await table.text()).toContain(idOf(made));
});

test('every protocol responds with an id on both listeners', async () => {
  const http = `http://localhost:${server.httpPort}`;
  const responses = await Promise.all([
    ...['/livez', '/metrics', '/schema/', '/', '/rest/', '/.well-known/est/cacerts', '/nothing/'].map(
      (path) => call(path),
    ),
    call('/.well-known/cmp', { method: 'POST', body: 'no CMP' }),
    fetch(`${http}/livez`),
    fetch(`${http}/nothing`),
    fetch(`${http}/.well-known/cmp`, { method: 'POST', body: 'no CMP' }),
  ]);
  for (const response of responses)
    expect([response.url, idOf(response)]).toEqual([response.url, expect.stringMatching(idForm)]);
});

test('the audit trail is intact, and its events of the first start have no id', async () => {
  expect(server.cli('audit', 'verify')).toContain(': intact');
  const all = await call('/api/audit-events/?limit=100', { headers: { authorization: bearer } });
  const events = (await all.json()) as { actor: { kind: string }; request_id: string | null }[];
  const own = events.filter(({ actor }) => actor.kind === 'system');
  expect(own.length).toBeGreaterThan(0);
  expect(own.every(({ request_id }) => request_id === null)).toBe(true);
});
