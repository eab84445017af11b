import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
import { type Attribute, attributedRequest, challengePassword } from '#tests/fixtures/attributed-request.ts';
import { basic } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { bodyOf, connectSecure, open, statusOf, talk } from '../http/fixture.ts';

const key = testKey('p-256', 'pump');
let site: Installation;
let listener: Listener;
let proxied: Listener;
let authorization: string;
let certificate: Uint8Array;

beforeAll(async () => {
  site = await installation();
  const { password } = await site.device('pump-1');
  authorization = basic('pump-1', password);
  listener = await open([createEst(site.gateway)]);
  proxied = await open([createEst(site.gateway)], { trustedProxies: ['127.0.0.1'] });
  const first = await ask('simpleenroll', 'TLSv1.3', () => []);
  expect(statusOf(first)).toBe(200);
  certificate = readCertificates(Uint8Array.fromBase64(bodyOf(first)))[0]!;
});
afterAll(async () => {
  await listener.close(0);
  await proxied.close(0);
  await site[Symbol.asyncDispose]();
});

type Version = 'TLSv1.2' | 'TLSv1.3';

/** The channel binding that the client sees after a full handshake. */
const bindingOf = (socket: TLSSocket): Uint8Array =>
  socket.getProtocol() === 'TLSv1.3'
    ? socket.exportKeyingMaterial(32, 'EXPORTER-Channel-Binding', Buffer.alloc(0))
    : socket.getFinished()!;

async function connected(version: Version, port: number, holder = false): Promise<TLSSocket> {
  const own = holder ? { cert: pem('CERTIFICATE', certificate), key: key.pem() } : {};
  const socket = connectSecure(port, { minVersion: version, maxVersion: version, ...own });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  return socket;
}

/** Sends a request whose attributes may depend on the connection; returns the response. */
async function ask(
  operation: 'simpleenroll' | 'simplereenroll' | 'serverkeygen',
  version: Version,
  attributes: (socket: TLSSocket) => readonly Attribute[],
  port = listener.httpsPort,
): Promise<string> {
  const renews = operation === 'simplereenroll';
  const socket = await connected(version, port, renews);
  const body = attributedRequest(key, 'CN=pump-1', attributes(socket)).toBase64();
  const head = [
    `POST /.well-known/est/${operation} HTTP/1.1`,
    'Host: pki',
    'Connection: close',
    'Content-Type: application/pkcs10',
    ...(renews ? [] : [`Authorization: ${authorization}`]),
    `Content-Length: ${body.length}`,
  ];
  return talk(socket, [...head, '', body].join('\r\n'));
}

const bound = (socket: TLSSocket): readonly Attribute[] => [challengePassword(bindingOf(socket).toBase64())];

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s', (version) => {
  describe.each(['simpleenroll', 'simplereenroll', 'serverkeygen'] as const)('%s', (operation) => {
    test('is accepted with the channel binding in challengePassword, and without challengePassword', async () => {
      expect(statusOf(await ask(operation, version, bound))).toBe(200);
      expect(statusOf(await ask(operation, version, () => []))).toBe(200);
    });

    test('is accepted when the base64 ends with a line break', async () => {
      const withBreak = (socket: TLSSocket) => [challengePassword(`${bindingOf(socket).toBase64()}\n`)];
      expect(statusOf(await ask(operation, version, withBreak))).toBe(200);
    });

    test.each<[string, (socket: TLSSocket) => string]>([
      [
        'another value',
        (socket) =>
          bindingOf(socket)
            .with(0, bindingOf(socket)[0]! ^ 1)
            .toBase64(),
      ],
      ['half of it', (socket) => bindingOf(socket).subarray(0, 6).toBase64()],
      ['a password', () => 'secret'],
      ['nothing', () => ''],
      ['hexadecimal', (socket) => bindingOf(socket).toHex()],
    ])('is rejected with %s in challengePassword', async (_what, value) => {
      const response = await ask(operation, version, (socket) => [challengePassword(value(socket))]);
      expect(statusOf(response)).toBe(400);
      expect(bodyOf(response)).toContain('not the channel binding of this TLS connection');
    });

    test('is rejected with the channel binding of another connection', async () => {
      const other = await connected(version, listener.httpsPort);
      const response = await ask(operation, version, () => bound(other));
      other.destroy();
      expect(statusOf(response)).toBe(400);
    });
  });
});

test('a channel binding behind a proxy that terminates TLS is rejected, and the message says what to do', async () => {
  const response = await ask('simpleenroll', 'TLSv1.3', bound, proxied.httpsPort);
  expect(statusOf(response)).toBe(400);
  expect(bodyOf(response)).toContain('TLS ends at a proxy; leave challengePassword out');
  expect(statusOf(await ask('simpleenroll', 'TLSv1.3', () => [], proxied.httpsPort))).toBe(200);
});
