import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:tls';
import { pem } from '#tests/fixtures/openssl.ts';
import { adminPassword, type Server, startServer } from '#tests/fixtures/server.ts';

let server: Server;

beforeAll(async () => {
  server = await startServer();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

/** What of any answer is looked at here. */
interface Body {
  readonly access: string;
  readonly id: number;
  readonly pem: string;
}

async function call(method: string, path: string, body?: object, token?: string) {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
    tls: { rejectUnauthorized: false },
    keepalive: false,
  });
  return { status: response.status, body: (await response.json()) as Body };
}

const presented = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: server.httpsPort, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(pem('CERTIFICATE', new Uint8Array(socket.getPeerCertificate().raw)));
      socket.end();
    });
    socket.on('error', reject);
  });

test('an activated TLS server credential is used for the next handshake, and after a restart', async () => {
  const before = await presented();
  const { body: tokens } = await call('POST', '/api/token/', { username: 'admin', password: adminPassword });
  const fields = {
    credential_type: 0,
    common_name: 'localhost',
    subject_alternative_names: ['DNS:localhost', 'IP:127.0.0.1'],
  };
  const { body: credential } = await call('POST', '/api/tls/', fields, tokens.access);
  expect(await presented()).toBe(before);
  const { status } = await call('POST', `/api/tls/${credential.id}/activate/`, undefined, tokens.access);
  expect(status).toBe(200);
  expect(await presented()).toBe(credential.pem);
  await server.stop();
  await server.start();
  expect(await presented()).toBe(credential.pem);
}, 60_000);
