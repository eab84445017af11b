import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { HttpRequest, HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
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

const base = '/.well-known/est';
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

let csr: Uint8Array;
let issued: Uint8Array;
let chain: readonly Uint8Array[];
let gateway: FakeGateway;
let est: Mount;

beforeAll(() => {
  csr = opensslRequest('DER');
  issued = opensslCertificate('device-1');
  chain = [opensslCertificate('issuing'), opensslCertificate('root')];
});
beforeEach(() => {
  gateway = new FakeGateway(issued, chain);
  est = createEst(gateway);
});

/** Returns a simpleenroll request that succeeds, unless `changes` say otherwise. */
const enroll = (changes: Partial<HttpRequest> = {}): HttpRequest =>
  httpRequest({
    path: `${base}/simpleenroll`,
    headers: { authorization: knownBasic, 'content-type': 'application/pkcs10' },
    body: bytesOf(csr.toBase64()),
    ...changes,
  });
const get = (path: string): HttpRequest => httpRequest({ method: 'GET', path: `${base}${path}` });
const reenroll = (changes: Partial<HttpRequest> = {}): HttpRequest => ({
  ...enroll({ path: `${base}/simplereenroll` }),
  ...httpRequest({}, [issued]),
  path: `${base}/simplereenroll`,
  body: bytesOf(csr.toBase64()),
  ...changes,
});

/** Checks what all error responses have in common. */
function expectRefusal(response: HttpResponse, status: number, operation?: 'renew'): void {
  expect(response.status).toBe(status);
  expect(response.headers['content-type']).toBe('text/plain');
  expect(response.body).toMatch(/^[ -~]{3,200}\n$/);
  expect(response.headers['www-authenticate']).toBe(
    status === 401 && operation !== 'renew' ? 'Basic realm="postern", charset="UTF-8"' : undefined,
  );
}

function certificatesOf(response: HttpResponse): Uint8Array[] {
  expect(response.status).toBe(200);
  expect(response.headers).toEqual({
    'content-type': 'application/pkcs7-mime; smime-type=certs-only',
    'content-transfer-encoding': 'base64',
  });
  expect(response.body).toMatch(/^(?:[A-Za-z0-9+/]{64}\n)*[A-Za-z0-9+/]{1,64}={0,2}\n$/);
  return readCertificates(Uint8Array.fromBase64(response.body as string));
}

test('EST is served over TLS only, with bodies up to 64 KiB', () => {
  expect(est).toMatchObject({ prefix: base, plainHttp: false, bodyLimit: 65_536 });
});

describe('the path forms', () => {
  const forms = [
    ['', undefined, undefined],
    ['/~tls_client', undefined, 'tls_client'],
    ['/plant', 'plant', undefined],
    ['/plant/tls_client', 'plant', 'tls_client'],
    ['/plant/~tls_client', 'plant', 'tls_client'],
  ] as const;
  const rows = forms.flatMap(([form, domain, profile]) =>
    ['', '/'].map((end) => [form, end, domain, profile] as const),
  );

  test.each(rows)('%s/simpleenroll%s', async (form, end, domain, profile) => {
    const response = await est.handle(enroll({ path: `${base}${form}/simpleenroll${end}` }));
    expect(certificatesOf(response)).toEqual([issued]);
    expect(gateway.calls).toEqual([
      {
        evidence: {
          kind: 'password',
          ...{ username: known.username, password: known.password },
          address: '192.0.2.1',
        },
        target: { protocol: 'est', domain, profile },
        ask: {
          operation: 'enrol',
          request: { kind: 'pkcs10', der: csr },
          channelBinding: expect.any(Function),
        },
      },
    ]);
  });

  test.each(rows)('%s/simplereenroll%s', async (form, end, domain, profile) => {
    const response = await est.handle(reenroll({ path: `${base}${form}/simplereenroll${end}` }));
    expect(certificatesOf(response)).toEqual([issued]);
    expect(gateway.calls).toEqual([
      {
        evidence: { kind: 'certificate', certificates: [issued], address: '192.0.2.1' },
        target: { protocol: 'est', domain, profile },
        ask: {
          operation: 'renew',
          request: { kind: 'pkcs10', der: csr },
          channelBinding: expect.any(Function),
        },
      },
    ]);
  });

  test.each(rows)('%s/serverkeygen%s', async (form, end, domain, profile) => {
    await est.handle(enroll({ path: `${base}${form}/serverkeygen${end}` }));
    expect(gateway.calls).toMatchObject([
      {
        target: { protocol: 'est', domain, profile },
        ask: { operation: 'enrol', request: { kind: 'pkcs10', der: csr, keyMadeHere: true } },
      },
    ]);
  });

  test.each(rows)('%s/cacerts%s', async (form, end) => {
    const response = await est.handle(httpRequest({ method: 'GET', path: `${base}${form}/cacerts${end}` }));
    expect(certificatesOf(response)).toEqual([...chain]);
  });

  test.each([
    '',
    '/',
    '/fullcmc',
    '/unknown',
    '/SimpleEnroll',
    '//simpleenroll',
    '/plant/tls/more/simpleenroll',
    '/~/simpleenroll',
    '/pl%2fant/simpleenroll',
    '/pl%ant/simpleenroll',
    '/pl%00ant/simpleenroll',
  ])('%j is not an endpoint, for any method', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expectRefusal(await est.handle(enroll({ method, path: `${base}${path}` })), 404);
    }
    expect(gateway.calls).toEqual([]);
  });
});

test('OpenSSL reads the response of cacerts', async () => {
  const response = await est.handle(httpRequest({ method: 'GET', path: `${base}/cacerts` }));
  const p7 = `-----BEGIN PKCS7-----\n${response.body as string}-----END PKCS7-----\n`;
  const { ok, text } = openssl(['pkcs7', '-in', 'p7', '-print_certs', '-noout'], { p7 });
  expect(ok).toBe(true);
  expect(text).toMatch(/CN ?= ?issuing[\s\S]*CN ?= ?root/);
});

describe('a request', () => {
  test.each<[string, () => Uint8Array]>([
    ['base64 in lines', () => bytesOf(csr.toBase64().replace(/.{64}/g, '$&\r\n'))],
    ['DER', () => csr],
    ['PEM', () => bytesOf(encodePem('CERTIFICATE REQUEST', csr))],
  ])('is read as %s, whatever Content-Transfer-Encoding says', async (_, body) => {
    for (const encoding of ['base64', 'binary', undefined]) {
      const headers = { ...enroll().headers, 'content-transfer-encoding': encoding };
      expect(certificatesOf(await est.handle(enroll({ headers, body: body() })))).toEqual([issued]);
    }
  });

  test.each(['application/pkcs10', 'Application/PKCS10; charset=x', undefined])(
    'may be of type %j',
    async (type) => {
      const headers = { authorization: knownBasic, 'content-type': type };
      expect(certificatesOf(await est.handle(enroll({ headers })))).toEqual([issued]);
    },
  );

  test('with a client certificate can enrol too', async () => {
    const request = httpRequest({ ...enroll(), headers: {} }, [issued]);
    const peer = { address: '192.0.2.1', secure: true, certificates: [issued] };
    expect(certificatesOf(await est.handle({ ...request, peer }))).toEqual([issued]);
    expect(gateway.calls[0]?.evidence.kind).toBe('certificate');
  });
});

describe('an error response', () => {
  const headers = (changes: Record<string, string>): Partial<HttpRequest> => ({
    headers: { authorization: knownBasic, 'content-type': 'application/pkcs10', ...changes },
  });

  test.each<[number, string, () => HttpRequest]>([
    [400, 'an empty body', () => enroll({ body: new Uint8Array(0) })],
    [400, 'a body that is no base64', () => enroll({ body: bytesOf('***') })],
    [400, 'base64 of something else', () => enroll({ body: bytesOf('AAAA') })],
    [400, 'half a CSR', () => enroll({ body: csr.subarray(0, 100) })],
    [400, 'a CSR with a wrong signature', () => enroll({ body: csr.with(-1, csr.at(-1)! ^ 1) })],
    [401, 'a wrong password', () => enroll(headers({ authorization: basic(known.username, 'no') }))],
    [401, 'an unknown user', () => enroll(headers({ authorization: basic('no', known.password) }))],
    [401, 'broken Basic credentials', () => enroll(headers({ authorization: 'Basic ***' }))],
    [401, 'another scheme', () => enroll(headers({ authorization: 'Bearer abc' }))],
    [
      404,
      'an unknown domain, without credentials',
      () => enroll({ path: `${base}/nowhere/simpleenroll`, headers: {} }),
    ],
    [404, 'the CA certificates under an unknown profile', () => get('/plant/nothing/cacerts')],
    [
      404,
      'the CA certificates of the default domain under an unknown profile',
      () => get('/~nothing/cacerts'),
    ],
    [403, 'the CA certificates under a profile that is not offered', () => get('/~elsewhere/cacerts')],
    [404, 'the CSR attributes of an unknown domain', () => get('/nowhere/csrattrs')],
    [404, 'the CSR attributes of an unknown profile', () => get('/~nothing/csrattrs')],
    [404, 'an unknown domain', () => enroll({ path: `${base}/nowhere/simpleenroll` })],
    [
      404,
      'the CA certificates of an unknown domain',
      () => httpRequest({ method: 'GET', path: `${base}/nowhere/cacerts` }),
    ],
    [413, 'a body that is too large', () => enroll({ body: new Uint8Array(65_537) })],
    [415, 'a body of another type', () => enroll(headers({ 'content-type': 'application/json' }))],
  ])('has status %d for %s', async (status, _, request) => {
    expectRefusal(await est.handle(request()), status);
  });

  test.each(['', '/plant', '/~tls_client', '/plant/tls_client'])(
    'differs from missing CSR attributes: %s/csrattrs is 404 without a body',
    async (form) => {
      expect(await est.handle(get(`${form}/csrattrs`))).toEqual({
        status: 404,
        headers: { 'content-type': 'text/plain' },
        body: '',
      });
    },
  );

  test.each(['simpleenroll', 'serverkeygen'])(
    'is a challenge without a body for a request without credentials: %s',
    async (operation) => {
      const response = await est.handle(enroll({ path: `${base}/${operation}`, headers: {} }));
      expect(response).toEqual({
        status: 401,
        headers: {
          'content-type': 'text/plain',
          'www-authenticate': 'Basic realm="postern", charset="UTF-8"',
        },
        body: '',
      });
    },
  );

  test('of a renewal without a certificate does not ask for a password', async () => {
    for (const headers of [{}, { authorization: knownBasic }]) {
      const response = await est.handle(enroll({ path: `${base}/simplereenroll`, headers }));
      expectRefusal(response, 401, 'renew');
    }
  });

  test.each<[FaultCode, number]>([
    ['malformed', 400],
    ['badCsr', 400],
    ['badProof', 400],
    ['badAlgorithm', 400],
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['notFound', 404],
    ['conflict', 403],
    ['replayed', 400],
    ['unsupported', 400],
    ['tooManyRequests', 429],
    ['unavailable', 503],
  ])('for the Fault %s has status %d, detail and hint', async (code, status) => {
    gateway.failure = new Fault(code, 'what is wrong', {
      hint: 'what to do',
      retryAfter: 7,
      cause: 'a secret',
    });
    for (const request of [enroll(), reenroll(), httpRequest({ method: 'GET', path: `${base}/cacerts` })]) {
      const response = await est.handle(request);
      expectRefusal(response, status, request.path.endsWith('/simplereenroll') ? 'renew' : undefined);
      expect(response.body).toBe('what is wrong; what to do\n');
      expect(response.headers['retry-after']).toBe(status === 429 || status === 503 ? '7' : undefined);
    }
  });

  test('with text that is not ASCII has a charset', async () => {
    gateway.failure = new Fault('badCsr', 'no place for "ü"');
    const { headers, body } = await est.handle(enroll());
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(body).toBe('no place for "ü"\n');
  });

  test('for a temporary error has Retry-After even if the Fault has none', async () => {
    gateway.failure = new Fault('unavailable', 'the token does not respond');
    expect((await est.handle(enroll())).headers['retry-after']).toBe('60');
  });

  test.each([
    ['an Error', new Error('a secret')],
    ['a Fault', new Fault('internal', 'internal error')],
  ])('for the internal error %s is left to the listener', async (_, error) => {
    gateway.failure = error;
    await expect(est.handle(enroll())).rejects.toBe(error);
  });

  test.each([400, 408, 413, 431, 500])('of the listener has the same form: %d', (status) => {
    expectRefusal(est.refuse(status, 'what is wrong'), status);
  });

  test.each([
    ['cacerts', 'POST', 'GET, HEAD'],
    ['simpleenroll', 'GET', 'POST'],
    ['simplereenroll', 'PUT', 'POST'],
    ['plant/tls_client/simpleenroll/', 'OPTIONS', 'POST'],
  ])('for a wrong method at %s, %s, is 405 with Allow', async (path, method, allow) => {
    const response = await est.handle(enroll({ method, path: `${base}/${path}` }));
    expectRefusal(response, 405);
    expect(response.headers.allow).toBe(allow);
    expect(gateway.calls).toEqual([]);
  });

  test('about authentication precedes any error in the body', async () => {
    expect((await est.handle(enroll({ headers: {}, body: bytesOf('***') }))).status).toBe(401);
    expectRefusal(
      await est.handle(enroll({ path: `${base}/nowhere/simpleenroll`, body: bytesOf('***') })),
      404,
    );
  });
});

test('a request that needs approval gets 202 with Retry-After', async () => {
  gateway.outcome = { kind: 'pending', id: 42, retryAfter: 30 };
  for (const request of [enroll(), reenroll()]) {
    const response = await est.handle(request);
    expect(response).toEqual({ status: 202, headers: { 'retry-after': '30' }, body: '' });
  }
});

test('arbitrary bodies are answered without an internal error', async () => {
  const damaged = fc.tuple(fc.nat(csr.length - 1), fc.nat(255)).map(([at, octet]) => csr.with(at, octet));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), async (body) => {
      expect([200, 400]).toContain((await est.handle(enroll({ body }))).status);
    }),
    runs(200),
  );
});
