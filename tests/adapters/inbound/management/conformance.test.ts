import { afterAll, beforeAll, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Fault } from '#core/fault.ts';
import type { Store } from '#core/ports/store.ts';
import { insert } from '#tests/contracts/store-samples.ts';
import { type Answer, type Api, apiOf } from '#tests/fixtures/api.ts';
import { caWithoutCrl } from '#tests/fixtures/ca-without-crl.ts';
import { basic } from '#tests/fixtures/enrolment.ts';
import { inOrder } from '#tests/fixtures/in-order.ts';
import { adminPassword, type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { type Contract, contractOf, type Operation } from '#tests/fixtures/openapi.ts';

let site: Installation;
let admin: Api;
let nobody: Api;
let contract: Contract;
/** A certificate. */
let pem: string;
/** A truststore for IDevIDs. */
let makers: number;
/** `operationId status` of every response that matched the OpenAPI document. */
const produced = new Set<string>();
/** The failure that the database reports in an outage. */
let outage: Error | undefined;

/** A store that works like `store` except during an outage. */
const faulty = (store: Store): Store =>
  new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || name === 'close') return member;
      return (...given: unknown[]) => (outage ? Promise.reject(outage) : member.apply(target, given));
    },
  });

beforeAll(async () => {
  const clock = testClock();
  const store = faulty(await openSqliteStore({ path: ':memory:', clock }));
  const file = { name: 'postern.backup', size: 5, finishedAt: clock.now() };
  site = await installation({ store, clock, backups: { run: async () => file } });
  const { body: document } = await (await apiOf(site)).get('/schema/?format=json');
  contract = contractOf(document);
  admin = await apiOf(site, (method, path, answer) => {
    const operation = contract.check(method, path, answer);
    if (operation) produced.add(`${operation.id} ${answer.status}`);
  });
  await admin.post('/api/roles/', { unique_name: 'Nothing', permissions: [] });
  const { body: roles } = await admin.get('/api/roles/?unique_name=Nothing');
  const account = { username: 'nobody', password: 'a long password' };
  await admin.post('/api/users/', { ...account, role: roles[0].id });
  nobody = await admin.as(account.username, account.password);
  await store.commit([insert('transaction', { state: 'waiting', certificate: null })]);
  await store.commit([insert('upstreamRequest', { certificate: null })]);
  const waiting = {
    approvers: 1,
    approvals: 0,
    device: null,
    certificate: null,
    expiresAt: clock.now() + 86_400_000,
  };
  await store.commit(['A', 'B'].map((answersFor) => insert('approval', { ...waiting, answersFor })));
  const credential = await idOf('/api/tls/?credential_type=0');
  pem = (await admin.get(`/api/tls/${credential}/`)).body.pem;
  const truststore = { unique_name: 'pump makers', intended_usage: 0, trust_store_file: pem };
  makers = (await admin.post('/api/truststores/', truststore)).body.id;
});
afterAll(() => site[Symbol.asyncDispose]());

const pathOf = ({ path }: Operation): string =>
  path.replace('{id}', '999999').replace('{file_name}', 'nothing.log');

/** Invalid queries for operations without a body. */
const wrongQuery = (path: string): string =>
  path.includes('/crl/') || path.endsWith('/file/')
    ? '?encoding=xml'
    : path.includes('schema')
      ? '?format=xml'
      : '?ordering=nothing';

/** How to make any operation fail with a status. Failures that need other records follow below. */
const failures: Readonly<Record<number, (operation: Operation) => Promise<Answer>>> = {
  400: async (operation) => {
    const { method, path, hasBody } = operation;
    const own = path.replace('{id}', '1');
    if (hasBody) return admin.call(method, own, { body: { 'no such field': 1 } });
    const answer = method === 'GET' ? await admin.call(method, own + wrongQuery(path)) : undefined;
    // Operations without a body or query: an invalid path.
    return answer?.status === 400 ? answer : byListener(400, operation);
  },
  401: (operation) => {
    const body =
      operation.id === 'signIn' ? { username: 'admin', password: 'wrong password' } : { refresh: 'x' };
    return admin.anonymous.call(operation.method, pathOf(operation), operation.permission ? {} : { body });
  },
  403: (operation) => nobody.call(operation.method, pathOf(operation)),
  404: (operation) => admin.call(operation.method, pathOf(operation), { body: bodies[operation.id] }),
  413: (operation) => byListener(413, operation),
  415: ({ method, path }) =>
    admin.call(method, path.replace('{id}', '1'), { body: 'x', contentType: 'text/plain' }),
  500: (operation) => during(new Error('a defect'), operation),
  503: (operation) => during(new Fault('unavailable', 'the database is unreachable'), operation),
};

/** Failures that the listener reports before the request reaches the API. */
async function byListener(status: number, { method, path }: Operation): Promise<Answer> {
  const answer = await admin.refused(status);
  const operation = contract.check(method, path, answer);
  if (operation) produced.add(`${operation.id} ${status}`);
  return answer;
}

async function during(error: Error, operation: Operation): Promise<Answer> {
  outage = error;
  const body =
    operation.id === 'signIn' ? { username: 'admin', password: adminPassword } : bodies[operation.id];
  try {
    return await admin.call(operation.method, pathOf(operation), { body });
  } finally {
    outage = undefined;
  }
}

/** Valid bodies for operations that check the body before they look up the record. */
const bodies: Record<string, unknown> = {
  signDigest: { signer_id: 999_999, hash_value: '00'.repeat(32) },
  changeMyPassword: { current_password: adminPassword, new_password: 'another long password' },
  fetchPkcs12: { password: 'a long password' },
  previewProfile: { csr: 'AAAA' },
  previewRules: { csr: 'AAAA', profile: {} },
};

/** The code calls it `issuingCa`. */
const camelCase = /\b[a-z]+[A-Z]/;

async function eachFailure(): Promise<void> {
  const { body: pair } = await admin.anonymous.post('/api/token/', {
    username: 'admin',
    password: adminPassword,
  });
  bodies.refreshToken = { refresh: pair.refresh };
  bodies.revokeToken = { refresh: pair.refresh };
  bodies.replaceTruststore = { intended_usage: 0, trust_store_file: pem };
  const wrong: unknown[] = [];
  for (const operation of contract.operations) {
    if (/^(create|replace|change)/.test(operation.id)) bodies[operation.id] ??= operation.example;
    for (const status of operation.statuses) {
      if (status < 300 || status === 409 || status === 429 || operation.id === 'readHealth') continue;
      // The owner decides, not the permission.
      if (operation.id === 'changeMyPassword' && status === 403) continue;
      const answer = await failures[status]!(operation);
      const isWords = !camelCase.test(answer.text);
      if (answer.status !== status || !isWords)
        wrong.push([operation.id, status, answer.status, answer.text]);
    }
  }
  expect(wrong).toEqual([]);
}

/** Requests to a collection and their conflicts. */
interface Walk {
  readonly path: string;
  readonly create: () => unknown;
  readonly change: Readonly<Record<string, unknown>>;
  /** A record that cannot be deleted, if there is one, and a change that it rejects. */
  readonly kept?: () => Promise<number>;
  readonly refused?: Readonly<Record<string, unknown>>;
}

const idOf = async (path: string): Promise<number> => {
  const { body } = await admin.get(path);
  return body[0].id;
};

const walks: readonly Walk[] = [
  {
    path: '/api/backups/',
    create: () => ({ remote_directory: '/var/backups' }),
    change: { remote_directory: '/srv' },
  },
  {
    path: '/api/approval-policies/',
    create: () => ({ unique_name: 'four eyes', decision: 'manual', approvers: 2, operations: ['renewal'] }),
    change: { priority: 7, device_pattern: 'pump-.*' },
  },
  {
    path: '/api/cert-profiles/',
    create: () => ({ unique_name: 'pumps' }),
    change: { unique_name: 'pumps and valves' },
    kept: () => idOf('/api/cert-profiles/?unique_name=domain_credential'),
    refused: { unique_name: 'another name' },
  },
  {
    path: '/api/certificates/',
    create: () => ({ common_name: 'pump-7' }),
    change: { common_name: 'Pump 7' },
  },
  {
    path: '/api/devices/',
    create: () => ({ common_name: 'pump-7' }),
    change: { serial_number: 'SN-7' },
    kept: async () => {
      const { id: device } = (await admin.post('/api/devices/', { common_name: 'denied' })).body;
      await admin.post('/api/approval-policies/', { unique_name: 'no pump', decision: 'deny', device });
      return device;
    },
  },
  {
    path: '/api/devid-registrations/',
    create: () => ({
      unique_name: 'pumps',
      truststore: makers,
      domain: 1,
      serial_number_pattern: 'SN-[0-9]+',
    }),
    change: { serial_number_pattern: '.*' },
  },
  {
    path: '/api/domains/',
    create: () => ({ unique_name: 'plant-7' }),
    change: { unique_name: 'plant-8' },
    kept: () => idOf('/api/domains/?ordering=id'),
    refused: { unique_name: 'another' },
  },
  {
    path: '/api/issuing-cas/',
    create: () => ({ unique_name: 'plant', issuing_ca_type: 1, key_type: 'p-256' }),
    change: { unique_name: 'plant ca' },
    kept: () => idOf('/api/issuing-cas/?unique_name=root'),
  },
  {
    path: '/api/no-onboarding-configs/',
    create: () => ({}),
    change: { protocols: ['est'] },
    kept: async () => (await admin.post('/api/devices/', { common_name: 'kept' })).body.no_onboarding_config,
  },
  {
    path: '/api/onboarding-configs/',
    create: () => ({}),
    change: { protocols: ['cmp'] },
    kept: async () => {
      const { body } = await admin.post('/api/onboarding-configs/', {});
      await admin.post('/api/devices/', { common_name: 'onboarded', onboarding_config: body.id });
      return body.id;
    },
  },
  {
    path: '/api/roles/',
    create: () => ({ unique_name: 'Line', permissions: ['devices.read'] }),
    change: { permissions: [] },
    kept: () => idOf('/api/roles/?unique_name=Admin'),
    refused: { permissions: [] },
  },
  {
    path: '/api/service-accounts/',
    create: () => ({ unique_name: 'line', role: 4 }),
    change: { is_active: false },
  },
  {
    path: '/api/tls/',
    create: () => ({ credential_type: 3, unique_name: 'a credential' }),
    change: { unique_name: 'the credential' },
    kept: () => idOf('/api/tls/?credential_type=0&is_active=true'),
  },
  {
    path: '/api/truststores/',
    create: () => ({ unique_name: 'makers', intended_usage: 0, trust_store_file: pem }),
    change: { intended_usage: 2 },
    refused: { intended_usage: 2 },
    kept: async () => {
      const store = { unique_name: 'kept', intended_usage: 0, trust_store_file: pem };
      const { body } = await admin.post('/api/truststores/', store);
      await admin.post('/api/onboarding-configs/', { idevid_truststore: body.id });
      return body.id;
    },
  },
  {
    path: '/api/webhooks/',
    create: () => ({ unique_name: 'tickets', url: 'https://tickets.example/postern' }),
    change: { events: ['certificate.revoked'] },
  },
  {
    path: '/api/users/',
    create: () => ({ username: 'jo', password: 'a long password', role: 4 }),
    change: { is_active: false },
    kept: () => idOf('/api/users/?username=admin'),
    refused: { is_active: false },
  },
];

async function collection({ path, create, change, kept, refused }: (typeof walks)[number]): Promise<void> {
  const { status, body: made } = await admin.post(path, create());
  expect([status, made]).toEqual([201, expect.objectContaining({ id: expect.any(Number) })]);
  const one = `${path}${made.id}/`;
  expect((await admin.get(path)).body).toContainEqual(expect.objectContaining({ id: made.id }));
  expect((await admin.get(one)).body).toMatchObject({ id: made.id });
  const { body: changed } = await admin.patch(one, change);
  expect(changed).toMatchObject(change);
  // The record can be sent back as it was read.
  expect([path, (await admin.put(one, changed)).status]).toEqual([path, 200]);
  expect((await admin.remove(one)).status).toBe(204);
  expect((await admin.get(one)).status).toBe(404);
  if (!kept) return;
  const keptOne = `${path}${await kept()}/`;
  expect((await admin.remove(keptOne)).status).toBe(409);
  if (!refused) return;
  expect((await admin.patch(keptOne, refused)).status).toBe(409);
  const { body: before } = await admin.get(keptOne);
  expect((await admin.put(keptOne, { ...before, ...refused })).status).toBe(409);
}

const asClient = (body: unknown): Promise<Answer> =>
  admin.anonymous.call('POST', '/api/token/', { body, headers: { authorization: basic('sa_999999', 'x') } });

/** Other cases. The name of each step starts with the expected status. */
const steps: readonly (readonly [number, string, () => Promise<Answer>])[] = [
  [
    200,
    'a sign-in',
    () => admin.anonymous.post('/api/token/', { username: 'admin', password: adminPassword }),
  ],
  [401, 'a client that nobody knows', () => asClient({ grant_type: 'client_credentials' })],
  [400, 'one of two names', () => asClient({ grant_type: 'client_credentials', client_id: 'x' })],
  [200, 'a refresh', () => admin.anonymous.post('/api/token/refresh/', bodies.refreshToken)],
  [204, 'a sign-out', () => admin.anonymous.post('/api/token/revoke/', bodies.revokeToken)],
  [200, 'whose token it is', () => admin.get('/api/me/')],
  [200, 'health', () => admin.anonymous.get('/api/health/')],
  [503, 'health in an outage', () => inOutage(() => admin.anonymous.get('/api/health/'))],
  [200, 'metrics', () => admin.get('/metrics')],
  [200, 'what was issued', () => admin.get('/api/overview/issuance/')],
  [200, 'what ends', () => admin.get('/api/overview/expiry/')],
  [
    200,
    'what was issued on days of Berlin',
    () => admin.get('/api/overview/issuance/?time_zone=Europe/Berlin'),
  ],
  [400, 'what was issued on days of Mars', () => admin.get('/api/overview/issuance/?time_zone=Mars')],
  [400, 'what ends on days of Mars', () => admin.get('/api/overview/expiry/?time_zone=Mars')],
  [200, 'certificates as a table', () => admin.get('/api/certificates/?format=csv')],
  [200, 'certificates line by line', () => admin.get('/api/certificates/?format=jsonl')],
  [200, 'what failed', () => admin.get('/api/overview/failures/')],
  [200, 'how many devices', () => admin.get('/api/overview/devices/')],
  [200, 'the hierarchy of CAs', () => admin.get('/api/ca-hierarchy/')],
  [200, 'the key stores', () => admin.get('/api/key-stores/')],
  [200, 'the upstream CAs', () => admin.get('/api/issuers/')],
  [200, 'a CA’s certificate', async () => admin.get(`/api/issuing-cas/${await idOf(root)}/contents/`)],
  [200, 'it as a file', async () => admin.get(`/api/issuing-cas/${await idOf(root)}/file/`)],
  [200, 'a certificate taken apart', async () => admin.get(`/api/certificates/${await issued()}/contents/`)],
  [200, 'it as a file', async () => admin.get(`/api/certificates/${await issued()}/file/?encoding=pkcs7`)],
  [200, 'the page', () => admin.anonymous.get('/api/schema/swagger-ui/')],
  [200, 'the document', () => admin.anonymous.get('/schema/')],
  [200, 'the same elsewhere', () => admin.anonymous.get('/api/schema/')],
  [200, 'settings', () => admin.get('/api/settings/')],
  [200, 'a changed setting', () => admin.patch('/api/settings/', { expiry_warning_days: 14 })],
  [200, 'security levels', () => admin.get('/api/settings/security-levels/')],
  [
    409,
    'a level that the CAs do not meet',
    () => admin.patch('/api/settings/', { security_level: 'critical' }),
  ],
  [200, 'the language of profiles', () => admin.get('/api/cert-profiles/schema/')],
  [200, 'a preview', () => admin.post('/api/cert-profiles/1/preview/', bodies.previewProfile)],
  [200, 'a preview of rules', () => admin.post('/api/cert-profiles/preview/', bodies.previewRules)],
  [200, 'log files', () => admin.get('/api/logging/list_files/')],
  [200, 'a log file', () => admin.get('/api/logging/download/postern.log/')],
  [
    200,
    'a log file as text',
    () => admin.get('/api/logging/download/postern.log/', { accept: 'text/plain' }),
  ],
  [204, 'a log file deleted', () => admin.remove('/api/logging/delete/postern.log/')],
  [200, 'audit events', () => admin.get('/api/audit-events/?limit=5')],
  [200, 'an audit event', () => admin.get('/api/audit-events/1/')],
  [200, 'whether the audit trail is intact', () => admin.get('/api/audit-events/verification/')],
  [200, 'upstream requests', () => admin.get('/api/upstream-requests/?state=pending')],
  [
    200,
    'an upstream request',
    async () => admin.get(`/api/upstream-requests/${await idOf('/api/upstream-requests/')}/`),
  ],
  [200, 'transactions', () => admin.get('/api/transactions/?state=waiting')],
  [200, 'a transaction', async () => admin.get(`/api/transactions/${await idOf('/api/transactions/')}/`)],
  [200, 'approvals', () => admin.get('/api/approvals/?state=waiting')],
  [200, 'an approval', async () => admin.get(`/api/approvals/${await idOf('/api/approvals/')}/`)],
  [202, 'a certificate that somebody else has to approve', () => whereApproved(certificate)],
  [200, 'an approval given', () => decide('approve', 1)],
  [409, 'it given once more', () => decide('approve', 1)],
  [200, 'an approval refused', () => decide('reject', 2)],
  [409, 'it refused once more', () => decide('reject', 2)],
  [200, 'a backup', async () => admin.call('POST', `/api/backups/${await backup()}/run/`)],
  [409, 'a backup while one is made', async () => whileBackupIsMade(await backup())],
  [
    200,
    'another secret',
    async () => admin.call('POST', `/api/service-accounts/${await serviceAccount()}/rotate/`),
  ],
  [200, 'another signing secret', async () => webhook('rotate', true)],
  [202, 'a test message', async () => webhook('test', true)],
  [409, 'a test message where nothing is sent', async () => webhook('test', false)],
  [200, 'messages', () => admin.get('/api/webhook-deliveries/?state=pending')],
  [200, 'one of them', async () => admin.get(`/api/webhook-deliveries/${await message()}/`)],
  [202, 'it again', async () => admin.call('POST', `/api/webhook-deliveries/${await message()}/redeliver/`)],
  [409, 'one webhook too many', () => tooManyWebhooks()],
  [404, 'a CRL before there is one', () => withoutCrl((id) => admin.get(`/api/issuing-cas/${id}/crl/`))],
  [200, 'a new CRL', async () => admin.call('POST', `/api/issuing-cas/${await idOf(root)}/generate-crl/`)],
  [200, 'a CRL', async () => admin.get(`/api/issuing-cas/${await idOf(root)}/crl/`)],
  [200, 'a CRL in DER', async () => admin.get(`/api/issuing-cas/${await idOf(root)}/crl/?encoding=der`)],
  [200, 'a CA at rest', async () => admin.call('POST', `/api/issuing-cas/${await idOf(root)}/deactivate/`)],
  [200, 'a CA at work', async () => admin.call('POST', `/api/issuing-cas/${await idOf(root)}/activate/`)],
  [409, 'a CA that has expired', async () => ofExpired(await shortCa())],
  [409, 'it made active by PATCH', async () => admin.patch(await shortCaPath(), { is_active: true })],
  [
    409,
    'it made active by PUT',
    async () => admin.put(await shortCaPath(), { unique_name: 'short', is_active: true }),
  ],
  [201, 'a signer', () => admin.post('/api/tls/', { credential_type: 5, unique_name: 'signer' })],
  [200, 'signers', () => admin.get('/api/signers/')],
  [200, 'one of them', async () => admin.get(`/api/signers/${await idOf('/api/signers/')}/`)],
  [200, 'its certificate', async () => admin.get(`/api/signers/${await idOf('/api/signers/')}/certificate/`)],
  [
    200,
    'a signature',
    async () =>
      admin.post('/api/signers/sign/', {
        signer_id: await idOf('/api/signers/'),
        hash_value: 'ab'.repeat(32),
      }),
  ],
  [200, 'signed messages', () => admin.get('/api/signed-messages/')],
  [200, 'one of them', async () => admin.get(`/api/signed-messages/${await idOf('/api/signed-messages/')}/`)],
  [200, 'another credential', async () => admin.call('POST', `/api/tls/${await credential(0)}/activate/`)],
  [
    409,
    'no credential to serve',
    async () => admin.call('POST', `/api/tls/${await credential(3)}/activate/`),
  ],
  [
    200,
    'a truststore’s file',
    async () => admin.get(`/api/truststores/${await idOf('/api/truststores/')}/file/`),
  ],
  [200, 'a device to be onboarded again', async () => again(await idOf('/api/devices/?search=onboarded'))],
  [409, 'a device that is not onboarded', async () => again(await idOf('/api/devices/?search=kept'))],
  [200, 'a blocked device', async () => device('block', { comment: 'lost', revoke: 'keyCompromise' })],
  [409, 'it blocked once more', () => device('block')],
  [200, 'it unblocked', () => device('unblock')],
  [409, 'it unblocked twice', () => device('unblock')],
  [200, 'its certificates revoked', () => device('revoke-certificates', { reason: 'superseded' })],
  [200, 'its certificates', async () => admin.get(`/api/devices/${await kept()}/certificates/`)],
  [
    202,
    'devices in a file',
    () => admin.post('/api/devices/import/', { file: 'common_name\nfiled\n\n=1\n' }),
  ],
  [200, 'an import stopped', () => importing('POST', 'cancel/')],
  [409, 'one that has ended', async () => ended(await importing('GET', ''))],
  [200, 'imports', () => admin.get('/api/device-imports/?state=cancelled')],
  [200, 'one of them', () => importing('GET', '')],
  [200, 'what it has refused', () => importing('GET', 'refusals/')],
  [200, 'it as a file', () => importing('GET', 'refusals/?format=csv')],
  [200, 'what it has made', () => importing('GET', 'credentials/')],
  [200, 'that as a file', () => importing('GET', 'credentials/?format=csv')],
  [409, 'one that has not ended, deleted', () => importing('DELETE', '')],
  [204, 'one that has ended, deleted', async () => afterwards(() => importing('DELETE', ''))],
  [200, 'how it enrols', async () => admin.get(`/api/devices/${await kept()}/commands/`)],
  [200, 'what happened to it', async () => admin.get(`/api/devices/${await kept()}/events/`)],
  [200, 'a certificate and its key', async () => pkcs12(await issued())],
  [409, 'its key once more', async () => pkcs12(await idOf('/api/certificates/?search=once'))],
  [200, 'several revocations', () => admin.post('/api/certificates/revoke/', { ids: [9999] })],
  [200, 'a revocation', async () => revoke(await issued())],
  [409, 'a second one', async () => revoke(await idOf('/api/certificates/?status=revoked'))],
];

const again = (id: number) => admin.call('POST', `/api/devices/${id}/reset-onboarding/`);
const importing = async (method: string, rest: string) =>
  admin.call(method, `/api/device-imports/${await idOf('/api/device-imports/')}/${rest}`);
const ended = ({ body }: Answer) => admin.call('POST', `/api/device-imports/${body.id}/cancel/`);
const afterwards = async (call: () => Promise<Answer>) => {
  await site.gateway.proceedImports();
  return call();
};
const kept = () => idOf('/api/devices/?search=kept');
const device = async (what: string, body?: unknown) =>
  admin.call('POST', `/api/devices/${await kept()}/${what}/`, { body });
const root = '/api/issuing-cas/?unique_name=root';
const certificate = () => admin.post('/api/certificates/', { common_name: 'approved' });
async function whereApproved(call: () => Promise<Answer>): Promise<Answer> {
  const policy = { unique_name: 'all', decision: 'manual', protocols: ['management'] };
  const { body } = await admin.post('/api/approval-policies/', policy);
  const answer = await call();
  await admin.remove(`/api/approval-policies/${body.id}/`);
  return answer;
}
const decide = (verb: string, id: number) => admin.post(`/api/approvals/${id}/${verb}/`, { comment: 'yes' });
const backup = async () => (await admin.post('/api/backups/', { remote_directory: '/var/backups' })).body.id;
const serviceAccount = async () =>
  (await admin.post('/api/service-accounts/', { unique_name: 'a program', role: 4 })).body.id;
const newWebhook = (unique_name: string, is_active = false) =>
  admin.post('/api/webhooks/', { unique_name, url: 'http://127.0.0.1:9/', is_active });
async function webhook(what: string, isActive: boolean): Promise<Answer> {
  const { body } = await newWebhook(`${what} ${isActive}`, isActive);
  return admin.call('POST', `/api/webhooks/${body.id}/${what}/`);
}
const message = () => idOf('/api/webhook-deliveries/');
async function tooManyWebhooks(): Promise<Answer> {
  for (let n = 0; n < 32; n++) {
    const answer = await newWebhook(`webhook ${n}`);
    if (answer.status !== 201) return answer;
  }
  return newWebhook('one more');
}
const credential = async (type: number) => (await admin.post('/api/tls/', { credential_type: type })).body.id;
const issued = async () => (await admin.post('/api/certificates/', { common_name: 'once' })).body.id;
const pkcs12 = (id: number) => admin.post(`/api/certificates/${id}/pkcs12/`, { password: 'a long password' });
const revoke = (id: number) => admin.post(`/api/certificates/${id}/revoke/`, { reason: 'keyCompromise' });
const shortCa = async () =>
  (
    await admin.post('/api/issuing-cas/', {
      unique_name: 'short',
      issuing_ca_type: 1,
      key_type: 'p-256',
      validity: 'PT1H',
      is_active: false,
    })
  ).body.id;

const shortCaPath = async (): Promise<string> =>
  `/api/issuing-cas/${await idOf('/api/issuing-cas/?unique_name=short')}/`;

async function ofExpired(ca: number): Promise<Answer> {
  site.clock.advance(2 * 3_600_000);
  admin = await admin.as('admin', adminPassword);
  return admin.call('POST', `/api/issuing-cas/${ca}/activate/`);
}

async function inOutage(call: () => Promise<Answer>): Promise<Answer> {
  outage = new Fault('unavailable', 'the database is unreachable');
  try {
    return await call();
  } finally {
    outage = undefined;
  }
}

async function withoutCrl(call: (ca: number) => Promise<Answer>): Promise<Answer> {
  const id = await caWithoutCrl(site, 'without CRL');
  try {
    return await call(id);
  } finally {
    await site.store.commit([{ op: 'delete', kind: 'issuingCa', id }]);
  }
}

async function whileBackupIsMade(id: number): Promise<Answer> {
  await site.store.lease('backup', 'another instance', 60);
  try {
    return await admin.call('POST', `/api/backups/${id}/run/`);
  } finally {
    await site.store.lease('backup', 'another instance', 0);
  }
}

async function whatStandsAlone(): Promise<void> {
  writeFileSync(join(site.logDirectory, 'postern.log'), '{}\n');
  for (const [status, what, step] of steps) {
    const answer = await step();
    expect([what, answer.status, answer.status === status ? '' : answer.text]).toEqual([what, status, '']);
  }
}

async function changedPassword(): Promise<void> {
  const { body: roles } = await admin.get('/api/roles/?unique_name=Default');
  const change = { current_password: 'guess', new_password: 'another long password' };
  const { body: account } = await admin.post('/api/service-accounts/', {
    unique_name: 'no password',
    role: roles[0].id,
  });
  const service = await admin.asService(account.client_id, account.client_secret);
  expect((await service.post('/api/me/password/', change)).status).toBe(403);
  await admin.post('/api/users/', { username: 'guesser', password: 'a long password', role: roles[0].id });
  const guesser = await admin.as('guesser', 'a long password');
  for (let n = 0; n < 6; n++) await guesser.post('/api/me/password/', change);
  expect(produced).toContain('changeMyPassword 429');
}

async function lockout(): Promise<void> {
  for (let n = 0; n < 6; n++)
    await admin.anonymous.post('/api/token/', { username: 'locked', password: 'wrong password' });
  expect(produced).toContain('signIn 429');
}

async function everyAnswer(): Promise<void> {
  const promised = contract.operations.flatMap(({ id, statuses }) =>
    statuses.map((status) => `${id} ${status}`),
  );
  expect(promised.filter((answer) => !produced.has(answer))).toEqual([]);
}

// The responses of all tests are compared with those in the document.
inOrder(
  'the service gives every response in the OpenAPI document, and no other',
  { timeout: 120_000 },
  (step) => {
    step('failures that every operation can have, at each operation', eachFailure);
    for (const walk of walks) step(walk.path, () => collection(walk));
    step('other cases', whatStandsAlone);
    step('a password change, by a user and by an account without a password', changedPassword);
    step('a lockout', lockout);
    step('the document has no other response', everyAnswer);
  },
);
