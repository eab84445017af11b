import { expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { CmpClient, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type Server, startServer } from '#tests/fixtures/server.ts';

const key = testKey('p-256', 'kill');

/** A client that goes over HTTP to a server that may be killed in between. */
function device(server: Server, name: string): CmpClient {
  const { cmp_shared_secret: secret } = server.device(name) as unknown as { cmp_shared_secret: string };
  const post = async (path: string, body: Uint8Array): Promise<Uint8Array> => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/pkixcmp' },
      body: body.slice(),
    });
    return new Uint8Array(await response.arrayBuffer());
  };
  const mount = {
    handle: async ({ path, body }: { path: string; body: Uint8Array }) => ({
      status: 200,
      headers: {},
      body: await post(path, body),
    }),
  };
  return new CmpClient(mount, { reference: name, secret });
}

const statusOf = async (server: Server, certificate: Uint8Array) => {
  const store = await openSqliteStore({
    path: join(server.directory, 'data', 'postern.db'),
    clock: systemClock,
  });
  try {
    const { serialNumber } = parseCertificate(certificate);
    const record = await store.find('certificate', { serialNumber });
    return record?.status;
  } finally {
    await store.close();
  }
};

test('after kill -9 between ip and certConf, the certificate can be confirmed, and is revoked in time without a confirmation', async () => {
  await using server = await startServer({
    config: '[inbound.cmp]\nconfirm_seconds = 8\n[inbound.est]\n[inbound.publication]\n',
  });
  const confirming = device(server, 'pump-1');
  const silent = device(server, 'pump-2');
  const confirmed = issued(await confirming.send(ir(crmf(key))));
  const forgotten = issued(await silent.send(ir(crmf(key, { subject: 'CN=pump-2' }))));
  await server.kill();
  await server.start();
  const status = { certHash: hash('sha256', confirmed, 'buffer'), certReqId: 0 };
  expect((await confirming.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
  const deadline = Date.now() + 75_000;
  while ((await statusOf(server, forgotten)) !== 'revoked' && Date.now() < deadline) await Bun.sleep(500);
  expect(await statusOf(server, forgotten)).toBe('revoked');
  expect(await statusOf(server, confirmed)).toBe('good');
}, 120_000);
