import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash, X509Certificate } from 'node:crypto';
import { type Api, apiAs, apiOf } from '#tests/fixtures/api.ts';
import { ask, policy } from '#tests/fixtures/approvals.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

/** An installation with two requests of one device that need two approvals each; tests only read it. */
let shared: Site;
let api: Api;
let operator: Api;
const key = testKey('p-256', 'pump');
const csr = request(key, 'CN=pump-1', ['DNS:pump-1.plant.example']);
const names = ({ body }: { body: { unique_name: string }[] }) => body.map(({ unique_name }) => unique_name);

interface Site extends AsyncDisposable {
  readonly site: Installation;
  readonly api: Api;
  readonly operator: Api;
  readonly device: number;
}

async function withRequests(): Promise<Site> {
  const site = await installation();
  const pump = await site.device('pump-1');
  await policy(site, { uniqueName: 'four eyes', decision: 'manual', approvers: 2 });
  await ask(site, password('pump-1', pump.password), csr, { profile: 'tls_server' });
  await ask(site, password('pump-1', pump.password), request(key, 'CN=pump-1'));
  return {
    site,
    api: await apiOf(site),
    operator: await apiAs(site, 'Operator'),
    device: pump.device.id,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

beforeAll(async () => {
  shared = await withRequests();
  ({ api, operator } = shared);
});
afterAll(() => shared[Symbol.asyncDispose]());

describe('an approval', () => {
  test('shows the request, its outcome and their differences', async () => {
    const { body } = await operator.get('/api/approvals/1/');
    expect(body).toMatchObject({
      state: 'waiting',
      created_at: '2026-06-01T12:00:00.000',
      expires_at: '2026-06-08T12:00:00.000',
      operation: 'issuance',
      protocol: 'est',
      domain_name: 'default',
      device: shared.device,
      device_name: 'pump-1',
      cert_profile_name: 'tls_server',
      policy_name: 'four eyes',
      requester: `password device:${shared.device}`,
      subject: 'CN=pump-1',
      approvers: 2,
      approvals: 0,
      certificate: null,
      revocations: null,
      decisions: [],
    });
    const fingerprint = hash('sha256', key.publicKey.spki).toUpperCase();
    const { requested, outcome, differences } = body.content;
    expect(requested).toMatchObject({
      subject_alternative_names: ['DNS:pump-1.plant.example'],
      key_type: 'p-256',
      key_fingerprint: fingerprint,
    });
    expect(outcome).toMatchObject({ not_before: '2026-06-01T11:00:00.000', key_fingerprint: fingerprint });
    expect(differences).toContainEqual({
      field: 'extensions.2.5.29.37',
      requested: [],
      outcome: ['1.3.6.1.5.5.7.3.1'],
    });
    const terms = Object.fromEntries(
      outcome.extensions.map(
        ({ oid, values }: { oid: string; values: { term: string; text?: string }[] }) => [
          oid,
          values.map(({ term, text }) => [term, text]),
        ],
      ),
    );
    expect(terms).toMatchObject({
      '2.5.29.14': [['keyIdentifier', expect.stringMatching(/^[0-9A-F]{40}$/)]],
      '2.5.29.35': [['keyIdentifier', expect.stringMatching(/^[0-9A-F]{40}$/)]],
      '2.5.29.31': [['uri', expect.stringMatching(/^http:.*crl/)]],
      '2.5.29.37': [['serverAuth', '1.3.6.1.5.5.7.3.1']],
    });
    const base64 = body.request.split('\n').slice(1, -2).join('');
    expect(Buffer.from(base64, 'base64').equals(csr)).toBe(true);
  });

  test.each([
    ['', [2, 1]],
    ['state=waiting&ordering=id', [1, 2]],
    ['state=granted', []],
    ['cert_profile=99', []],
    ['domain=1', [2, 1]],
    ['device=99', []],
    ['protocol=cmp', []],
    ['operation=issuance', [2, 1]],
    ['policy=1', [2, 1]],
    ['search=tls_server', [1]],
    ['to=2026-05-31', []],
  ])('%s finds %j', async (query, ids) => {
    const { body } = await operator.get(`/api/approvals/?${query}`);
    expect(body.map(({ id }: { id: number }) => id)).toEqual(ids);
    expect(body.every((one: object) => !('content' in one) && !('request' in one))).toBe(true);
  });

  test('is decided with a comment, and shows who decided', async () => {
    await using own = await withRequests();
    const { site, api, operator } = own;
    const { request_hash, outcome_hash } = (await operator.get('/api/approvals/1/')).body;
    const other = { request_hash: outcome_hash };
    expect((await operator.post('/api/approvals/1/approve/', other)).status).toBe(409);
    const seen = { request_hash: request_hash.toLowerCase(), outcome_hash, comment: 'seen on site' };
    expect((await operator.post('/api/approvals/1/approve/', seen)).body.state).toBe('waiting');
    expect((await operator.post('/api/approvals/1/approve/', seen)).status).toBe(409);
    const { body } = await api.post('/api/approvals/1/approve/');
    expect(body).toMatchObject({
      state: 'granted',
      decisions: [
        { approver_name: 'operator', verdict: 'approved', comment: 'seen on site' },
        { approver_name: 'admin', verdict: 'approved', comment: '' },
      ],
    });
    expect((await site.audit('approval.grant')).at(-1)).toMatchObject({
      actor: { kind: 'user', name: 'admin' },
      object: 'approval:1',
      detail: { policy: 'four eyes', requestDigest: request_hash, outcomeDigest: outcome_hash },
    });
  });

  test('that was rejected shows who rejected it', async () => {
    await using own = await withRequests();
    const { operator } = own;
    const { body } = await operator.post('/api/approvals/2/reject/', { comment: 'who is that?' });
    expect(body).toMatchObject({ state: 'rejected', decisions: [{ verdict: 'rejected' }] });
  });

  test.each([
    [{ comment: 'x'.repeat(2001) }, { comment: ['at most 2000 characters are allowed'] }],
    [{ request_hash: 'ab' }, { request_hash: ['at least 64 characters are needed'] }],
    [{ state: 'granted' }, { state: ['unknown field'] }],
  ])('cannot be decided with %j', async (body, errors) => {
    const answer = await operator.post('/api/approvals/2/approve/', body);
    expect([answer.status, answer.body]).toEqual([400, errors]);
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nobody can %s one', async (method) => {
    const path = method === 'POST' ? '/api/approvals/' : '/api/approvals/1/';
    expect((await api.call(method, path, { body: {} })).status).toBe(405);
  });
});

describe('a certificate that an account requests', () => {
  test('is pending until other accounts approve, and is returned when the request is repeated', async () => {
    await using own = await withRequests();
    const { site, api, operator } = own;
    await policy(site, {
      uniqueName: 'two eyes',
      decision: 'manual',
      protocols: ['management'],
      priority: 1,
    });
    const create = () => operator.post('/api/certificates/', { common_name: 'app-1' });
    const { status, headers, body } = await create();
    expect([status, headers['retry-after'], body]).toEqual([
      202,
      '3',
      { status: 'pending', detail: expect.any(String), id: 3 },
    ]);
    expect((await operator.post('/api/approvals/3/approve/')).status).toBe(403);
    const auditor = await apiAs(site, 'Auditor');
    expect((await auditor.post('/api/approvals/3/approve/')).status).toBe(403);
    expect((await api.post('/api/approvals/3/approve/')).body.state).toBe('granted');
    const made = await create();
    expect(made.status).toBe(201);
    expect(new X509Certificate(made.body.pem).subject).toBe('CN=app-1');
  });
});

describe('an approval policy', () => {
  test.each([
    [{ decision: 'maybe' }, { decision: ['one of automatic, manual, deny is expected'] }],
    [{ approvers: 0 }, { approvers: expect.anything() }],
    [{ expires_in: 5 }, { expires_in: expect.anything() }],
    [{ protocols: ['scep'] }, { protocols: expect.anything() }],
    [{ domain: 99 }, { domain: ['there is no such domain'] }],
    [{ cert_profile: 99 }, { cert_profile: ['there is no such certificate profile'] }],
    [{ device: 99 }, { device: ['there is no such device'] }],
    [{ device_pattern: '(' }, { device_pattern: expect.anything() }],
    [{ device_pattern: '(a+)+\\1' }, { device_pattern: expect.anything() }],
  ])('with %j is rejected', async (fields, errors) => {
    const input = { unique_name: 'wrong', decision: 'manual', ...fields };
    const { status, body } = await api.post('/api/approval-policies/', input);
    expect([status, body]).toEqual([400, errors]);
  });

  test('requires its permission to be changed; approvers may read it', async () => {
    expect((await operator.post('/api/approval-policies/', {})).status).toBe(403);
    expect(names(await operator.get('/api/approval-policies/'))).toEqual(['four eyes']);
  });

  test('prevents the deletion of the records that it names', async () => {
    await using own = await installation();
    const api = await apiOf(own);
    const { body: domain } = await api.post('/api/domains/', { unique_name: 'plant-7' });
    const input = { unique_name: 'plant 7', decision: 'deny', domain: domain.id };
    await api.post('/api/approval-policies/', input);
    const { status, body } = await api.remove(`/api/domains/${domain.id}/`);
    expect([status, body]).toEqual([
      409,
      { detail: 'still used by 1 approval policy', code: 'still_used', values: { approvalPolicy: 1 } },
    ]);
  });
});
