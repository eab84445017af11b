import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
import { FakeGateway } from '#tests/fakes/gateway.ts';
import { knownBasic, opensslCertificate, opensslRequest } from '#tests/fixtures/enrolment.ts';
import { connectSecure, issue, open, talk } from '../http/fixture.ts';

// Reads responses as cisco/libest 3.2 (est_client_http.c) does: at most 16 fields, names compared by strcmp and
// strncmp, the body taken by Content-Length. Field devices embed it, and it fails on `content-type`.

const mostFields = 16;
const statuses = new Map([
  ['HTTP/1.1 200', 200],
  ['HTTP/1.1 202', 202],
  ['HTTP/1.1 204', 204],
  ['HTTP/1.1 400', 400],
  ['HTTP/1.1 401', 401],
  ['HTTP/1.1 404', 404],
]);

interface Reading {
  readonly status: number | undefined;
  readonly scheme: string | undefined;
  readonly retryAfter: string | undefined;
  /** Undefined if the client finds no payload that it accepts. */
  readonly payload: string | undefined;
}

function readLiterally(response: string, contentType: string): Reading {
  const [head = '', body = ''] = response.split('\r\n\r\n', 2);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const fields = lines.slice(0, mostFields).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trimStart()] as const;
  });
  const field = (name: string) => fields.find(([own]) => own === name)?.[1];
  const length = Number(field('Content-Length') ?? 0);
  const type = field('Content-Type');
  return {
    status: statuses.get(statusLine.slice(0, 12)),
    scheme: /^Basic|^Digest|^Bearer/.exec(field('WWW-Authenticate') ?? '')?.[0],
    retryAfter: field('Retry-After'),
    payload: type?.startsWith(contentType) && length > 0 ? body.slice(0, length) : undefined,
  };
}

const device = issue('device-1');
let gateway: FakeGateway;
let listener: Listener;
let csr: string;

beforeAll(async () => {
  csr = opensslRequest('DER').toBase64();
  gateway = new FakeGateway(opensslCertificate('device-1'), [
    opensslCertificate('issuing'),
    opensslCertificate('root'),
  ]);
  listener = await open([createEst(gateway)]);
});
afterAll(() => listener.close(0));

async function ask(
  line: string,
  fields: readonly string[],
  body = '',
  identity?: typeof device,
): Promise<Reading> {
  const own = identity && { cert: identity.pem, key: identity.key.pem() };
  const request = [
    `${line} HTTP/1.1`,
    'User-Agent: libest 1.0',
    'Connection: close',
    `Host: 127.0.0.1:${listener.httpsPort}`,
    'Accept: */*',
    ...fields,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
  return readLiterally(await talk(connectSecure(listener.httpsPort, own), request), 'application/pkcs7-mime');
}

const pkcs10 = ['Content-Type: application/pkcs10', 'Content-Transfer-Encoding: base64'];
const certificatesIn = ({ payload }: Reading): number =>
  readCertificates(Uint8Array.fromBase64(payload!)).length;

describe('a client that compares field names literally', () => {
  test('reads the CA certificates', async () => {
    const reading = await ask('GET /.well-known/est/cacerts', []);
    expect(reading.status).toBe(200);
    expect(certificatesIn(reading)).toBe(2);
  });

  test('reads an empty response to csrattrs', async () => {
    const reading = await ask('GET /.well-known/est/csrattrs', []);
    expect(reading).toMatchObject({ status: 404, payload: undefined });
  });

  test('reads the challenge, and its certificate after its answer', async () => {
    const first = await ask('POST /.well-known/est/simpleenroll', pkcs10, csr);
    expect(first).toMatchObject({ status: 401, scheme: 'Basic' });
    const second = await ask(
      'POST /.well-known/est/simpleenroll',
      [...pkcs10, `Authorization: ${knownBasic}`],
      csr,
    );
    expect(second.status).toBe(200);
    expect(certificatesIn(second)).toBe(1);
  });

  test('reads its renewed certificate', async () => {
    const reading = await ask('POST /.well-known/est/simplereenroll', pkcs10, csr, device);
    expect(reading.status).toBe(200);
    expect(certificatesIn(reading)).toBe(1);
  });

  test('reads Retry-After', async () => {
    const { outcome } = gateway;
    gateway.outcome = { kind: 'pending', id: 1, retryAfter: 30 };
    const reading = await ask('POST /.well-known/est/simplereenroll', pkcs10, csr, device);
    gateway.outcome = outcome;
    expect(reading).toMatchObject({ status: 202, retryAfter: '30' });
  });
});
