import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { HttpRequest, HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import { createRest } from '#adapters/inbound/rest/mount.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import { FakeGateway, known } from '#tests/fakes/gateway.ts';
import {
  basic,
  httpRequest,
  knownBasic,
  opensslCertificate,
  opensslRequest,
} from '#tests/fixtures/enrolment.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => bytesOf(JSON.stringify(value));

let csr: Uint8Array;
let issued: Uint8Array;
let chain: readonly Uint8Array[];
let gateway: FakeGateway;
let rest: Mount;

beforeAll(() => {
  csr = opensslRequest('DER');
  issued = opensslCertificate('device-1');
  chain = [opensslCertificate('issuing'), opensslCertificate('root')];
});
beforeEach(() => {
  gateway = new FakeGateway(issued, chain);
  rest = createRest(gateway);
});

/** Returns an enroll request that succeeds, unless `changes` say otherwise. */
const enroll = (changes: Partial<HttpRequest> = {}): HttpRequest =>
  httpRequest({
    path: '/rest/plant/enroll',
    headers: { authorization: knownBasic, 'content-type': 'application/json' },
    body: json({ csr: encodePem('CERTIFICATE REQUEST', csr) }),
    ...changes,
  });
const reenroll = (changes: Partial<HttpRequest> = {}): HttpRequest => ({
  ...enroll({ headers: { 'content-type': 'application/json' } }),
  path: '/rest/plant/reenroll',
  peer: { address: '192.0.2.1', secure: true, certificates: [issued] },
  ...changes,
});

/** Checks what all error responses have in common. */
function expectError(response: HttpResponse, status: number, error: string, operation?: 'renew'): void {
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toBe('application/json');
  const detail = expect.stringMatching(/^.{3,200}$/);
  expect(JSON.parse(response.body as string)).toEqual({ error, detail });
  expect(response.headers['www-authenticate']).toBe(
    status === 401 && operation !== 'renew' ? 'Basic realm="postern", charset="UTF-8"' : undefined,
  );
}

function expectIssued(response: HttpResponse): void {
  expect(response.status).toBe(200);
  expect(response.headers).toEqual({ 'content-type': 'application/json' });
  expect(JSON.parse(response.body as string)).toEqual({
    certificate: encodePem('CERTIFICATE', issued),
    certificate_chain: chain.map((certificate) => encodePem('CERTIFICATE', certificate)),
  });
}

test('REST enrolment is served over TLS only, with bodies up to 64 KiB', () => {
  expect(rest).toMatchObject({ prefix: '/rest', plainHttp: false, bodyLimit: 65_536 });
});

describe('the four routes', () => {
  test.each([
    ['/rest/plant/enroll', undefined],
    ['/rest/plant/enroll/', undefined],
    ['/rest/plant/tls_client/enroll', 'tls_client'],
  ])('%s accepts a password', async (path, profile) => {
    expectIssued(await rest.handle(enroll({ path })));
    const { username, password } = known;
    expect(gateway.calls).toEqual([
      {
        evidence: { kind: 'password', username, password, address: '192.0.2.1' },
        target: { protocol: 'rest', domain: 'plant', profile },
        ask: { operation: 'enrol', request: { kind: 'pkcs10', der: csr } },
      },
    ]);
  });

  test.each([
    ['/rest/plant/reenroll', undefined, 'renew'],
    ['/rest/plant/tls_client/reenroll', 'tls_client', 'renew'],
    ['/rest/plant/tls_client/enroll', 'tls_client', 'enrol'],
  ] as const)('%s accepts a client certificate', async (path, profile, operation) => {
    expectIssued(await rest.handle(reenroll({ path })));
    expect(gateway.calls).toEqual([
      {
        evidence: { kind: 'certificate', certificates: [issued], address: '192.0.2.1' },
        target: { protocol: 'rest', domain: 'plant', profile },
        ask: { operation, request: { kind: 'pkcs10', der: csr } },
      },
    ]);
  });

  test.each([
    '',
    '/',
    '/enroll',
    '/plant',
    '/plant/renew',
    '/a/b/c/enroll',
    '/pl%2Fant/enroll',
    '/pl%ant/enroll',
    '//enroll',
  ])('/rest%s is not a route, for any method', async (path) => {
    for (const method of ['GET', 'POST']) {
      expectError(await rest.handle(enroll({ method, path: `/rest${path}` })), 404, 'not_found');
    }
    expect(gateway.calls).toEqual([]);
  });
});

test('the same chain has the same text for every certificate', async () => {
  expectIssued(await rest.handle(enroll()));
  expectIssued(await rest.handle(enroll()));
  chain = [...chain].reverse();
  gateway.outcome = { kind: 'issued', certificate: issued, chain, modified: false };
  expectIssued(await rest.handle(enroll()));
});

test('OpenSSL reads the certificate and the chain', async () => {
  const { certificate, certificate_chain } = JSON.parse((await rest.handle(enroll())).body as string);
  for (const pem of [certificate, ...certificate_chain]) {
    expect(openssl(['x509', '-in', 'pem', '-noout', '-subject'], { pem }).ok).toBe(true);
  }
});

describe('csr', () => {
  test.each<[string, (der: Uint8Array) => string]>([
    ['PEM', (der) => encodePem('CERTIFICATE REQUEST', der)],
    ['PEM with CRLF', (der) => encodePem('NEW CERTIFICATE REQUEST', der).replaceAll('\n', '\r\n')],
    ['base64 DER', (der) => der.toBase64()],
    ['base64 DER in lines', (der) => der.toBase64().replace(/.{76}/g, '$&\n')],
  ])('is read as %s', async (_, encode) => {
    expectIssued(await rest.handle(enroll({ body: json({ csr: encode(csr) }) })));
  });

  test('is read with parameters and any case in Content-Type', async () => {
    const headers = { authorization: knownBasic, 'content-type': 'Application/JSON; charset=UTF-8' };
    expectIssued(await rest.handle(enroll({ headers })));
  });
});

describe('an error response', () => {
  const headers = (changes: Record<string, string | undefined>): Partial<HttpRequest> => ({
    headers: { authorization: knownBasic, 'content-type': 'application/json', ...changes },
  });

  test.each<[number, string, string, () => HttpRequest]>([
    [400, 'invalid_request', 'an empty body', () => enroll({ body: new Uint8Array(0) })],
    [400, 'invalid_request', 'malformed JSON', () => enroll({ body: bytesOf('{"csr":') })],
    [
      400,
      'invalid_request',
      'octets that are not UTF-8',
      () => enroll({ body: Uint8Array.of(0x22, 0xff, 0x22) }),
    ],
    [
      400,
      'invalid_request',
      'JSON nested beyond reason',
      () => enroll({ body: bytesOf('['.repeat(65_536)) }),
    ],
    [400, 'invalid_request', 'an array', () => enroll({ body: json([{ csr: '' }]) })],
    [400, 'invalid_request', 'null', () => enroll({ body: json(null) })],
    [400, 'invalid_request', 'a string', () => enroll({ body: json('csr') })],
    [400, 'invalid_request', 'a missing csr', () => enroll({ body: json({}) })],
    [400, 'invalid_request', 'a csr that is no string', () => enroll({ body: json({ csr: 1 }) })],
    [
      400,
      'invalid_request',
      'an unknown field',
      () => enroll({ body: json({ csr: csr.toBase64(), days: 1 }) }),
    ],
    [
      400,
      'invalid_request',
      'a csr that is given twice',
      () => enroll({ body: bytesOf(`{"csr":"","csr":"${csr.toBase64()}"}`) }),
    ],
    [400, 'invalid_request', '__proto__', () => enroll({ body: bytesOf('{"__proto__":{"csr":"AAAA"}}') })],
    [400, 'invalid_csr', 'an empty csr', () => enroll({ body: json({ csr: '' }) })],
    [400, 'invalid_csr', 'a csr that is no base64', () => enroll({ body: json({ csr: '***' }) })],
    [400, 'invalid_csr', 'base64 of something else', () => enroll({ body: json({ csr: 'AAAA' }) })],
    [
      400,
      'invalid_csr',
      'PEM of something else',
      () => enroll({ body: json({ csr: encodePem('CERTIFICATE', issued) }) }),
    ],
    [400, 'invalid_csr', 'half a CSR', () => enroll({ body: json({ csr: csr.subarray(0, 99).toBase64() }) })],
    [
      400,
      'invalid_csr',
      'a wrong signature',
      () => enroll({ body: json({ csr: csr.with(-1, csr.at(-1)! ^ 1).toBase64() }) }),
    ],
    [401, 'invalid_credentials', 'no credentials', () => enroll(headers({ authorization: undefined }))],
    [
      401,
      'invalid_credentials',
      'a wrong password',
      () => enroll(headers({ authorization: basic(known.username, '') })),
    ],
    [
      401,
      'invalid_credentials',
      'broken Basic credentials',
      () => enroll(headers({ authorization: 'Basic' })),
    ],
    [404, 'not_found', 'an unknown domain', () => enroll({ path: '/rest/nowhere/enroll' })],
    [405, 'method_not_allowed', 'the wrong method', () => enroll({ method: 'GET' })],
    [413, 'too_large', 'a body that is too large', () => enroll({ body: new Uint8Array(65_537) })],
    [
      415,
      'unsupported_media_type',
      'another type',
      () => enroll(headers({ 'content-type': 'application/pkcs10' })),
    ],
    [415, 'unsupported_media_type', 'no type', () => enroll(headers({ 'content-type': undefined }))],
  ])('has status %d and code %s for %s', async (status, error, _, request) => {
    const response = await rest.handle(request());
    expectError(response, status, error);
    expect(response.headers.allow).toBe(status === 405 ? 'POST' : undefined);
  });

  test.each<[FaultCode, number, string]>([
    ['malformed', 400, 'invalid_csr'],
    ['badCsr', 400, 'invalid_csr'],
    ['badProof', 400, 'invalid_csr'],
    ['badAlgorithm', 400, 'invalid_csr'],
    ['unauthenticated', 401, 'invalid_credentials'],
    ['forbidden', 403, 'forbidden'],
    ['notFound', 404, 'not_found'],
    ['conflict', 403, 'forbidden'],
    ['replayed', 400, 'invalid_request'],
    ['unsupported', 400, 'invalid_request'],
    ['tooManyRequests', 429, 'too_many_requests'],
    ['unavailable', 503, 'unavailable'],
  ])('for the Fault %s has status %d, code %s, detail and hint', async (code, status, error) => {
    gateway.failure = new Fault(code, 'what is wrong', {
      hint: 'what to do',
      retryAfter: 7,
      cause: 'a secret',
    });
    for (const request of [enroll(), reenroll()]) {
      const response = await rest.handle(request);
      expectError(response, status, error, request.path.endsWith('/reenroll') ? 'renew' : undefined);
      expect(response.body).toContain('"what is wrong; what to do"');
      expect(response.headers['retry-after']).toBe(status === 429 || status === 503 ? '7' : undefined);
    }
  });

  test('of a renewal without a certificate does not ask for a password', async () => {
    const response = await rest.handle(enroll({ path: '/rest/plant/reenroll' }));
    expectError(response, 401, 'invalid_credentials', 'renew');
  });

  test('for a temporary error has Retry-After even if the Fault has none', async () => {
    gateway.failure = new Fault('tooManyRequests', 'too many');
    expect((await rest.handle(enroll())).headers['retry-after']).toBe('60');
  });

  test.each([
    ['an Error', new Error('a secret')],
    ['a Fault', new Fault('internal', 'internal error')],
  ])('for the internal error %s is left to the listener', async (_, error) => {
    gateway.failure = error;
    await expect(rest.handle(enroll())).rejects.toBe(error);
  });

  test.each([
    [400, 'invalid_request'],
    [408, 'request_timeout'],
    [413, 'too_large'],
    [415, 'unsupported_media_type'],
    [417, 'invalid_request'],
    [431, 'too_large'],
    [501, 'not_implemented'],
    [500, 'server_error'],
  ])('of the listener has the same form: %d %s', (status, error) => {
    expectError(rest.refuse(status, 'what is wrong'), status, error);
  });

  test('about authentication precedes any error in the body', async () => {
    expectError(
      await rest.handle(enroll({ ...headers({ authorization: undefined }), body: bytesOf('{') })),
      401,
      'invalid_credentials',
    );
    expectError(
      await rest.handle(enroll({ path: '/rest/nowhere/enroll', body: bytesOf('{') })),
      404,
      'not_found',
    );
  });
});

test('a request that needs approval gets 202 with Retry-After', async () => {
  gateway.outcome = { kind: 'pending', id: 42, retryAfter: 30 };
  const response = await rest.handle(enroll());
  expect(response.status).toBe(202);
  expect(response.headers).toEqual({ 'content-type': 'application/json', 'retry-after': '30' });
  expect(JSON.parse(response.body as string)).toEqual({
    status: 'pending',
    detail: expect.any(String),
    id: 42,
  });
});

test('arbitrary bodies are answered without an internal error', async () => {
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.jsonValue().map(json),
    fc.string({ maxLength: 100 }).map((text) => json({ csr: text })),
    fc
      .tuple(fc.nat(csr.length - 1), fc.nat(255))
      .map(([at, octet]) => json({ csr: csr.with(at, octet).toBase64() })),
  );
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      expect([200, 400]).toContain((await rest.handle(enroll({ body }))).status);
    }),
    runs(200),
  );
});
