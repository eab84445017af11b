import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import type { Mount } from '#adapters/inbound/http/exchange.ts';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import type { Gateway } from '#core/gateway.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import {
  CmpClient,
  type CmpCredential,
  cmpServer,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
} from '#tests/fixtures/cmp-client.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

describe.skipIf(!hasPostgres)('two gateways on one PostgreSQL', () => {
  let postgres: PostgresFixture;
  let first: Installation;
  let second: Installation;
  let one: Mount;
  let other: Mount;
  let pump: CmpCredential;
  let granted = true;
  const key = testKey('p-256', 'pump');
  const clock = testClock();

  /** Makes requests pending at both gateways until `granted`. */
  const approving = (gateway: Gateway): Gateway => ({
    ...gateway,
    enrol: async (requester, ask) =>
      granted ? gateway.enrol(requester, ask) : { kind: 'pending', id: 1, retryAfter: 1 },
  });

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.createDatabase();
    first = await installation({ store: await openPostgresStore({ url, clock }), clock });
    second = await installation({
      store: await openPostgresStore({ url, clock }),
      clock,
      wrapKeys: () => first.keys,
    });
    one = cmpServer(approving(first.gateway), clock).mount;
    other = cmpServer(approving(second.gateway), clock).mount;
    const { device } = await first.device('pump-1');
    const config = await first.gateway.noOnboardingConfigs.read(first.admin, device.noOnboardingConfig!);
    pump = { reference: 'pump-1', secret: config.cmpSharedSecret! };
  }, 60_000);
  afterAll(async () => {
    await second[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await postgres.stop();
  });

  const certConf = (certificate: Uint8Array) =>
    ({
      type: 'certConf',
      statuses: [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }],
    }) as const;

  test('ir at one gateway is confirmed at the other', async () => {
    const device = new CmpClient(one, pump);
    const certificate = issued(await device.send(ir(crmf(key))));
    device.mount = other;
    expect((await device.send(certConf(certificate))).body.type).toBe('pkiConf');
    device.mount = one;
    expect(failureOf(await device.send(certConf(certificate)))).toBe('certConfirmed');
  });

  test('a request that is pending at one gateway is polled for at both and confirmed at the other', async () => {
    granted = false;
    const device = new CmpClient(one, pump);
    await device.send(ir(crmf(key)));
    device.mount = other;
    expect((await device.send({ type: 'pollReq', certReqIds: [0] })).body.type).toBe('pollRep');
    granted = true;
    device.mount = one;
    const certificate = issued(await device.send({ type: 'pollReq', certReqIds: [0] }));
    device.mount = other;
    expect((await device.send(certConf(certificate))).body.type).toBe('pkiConf');
  });

  test('a message that is repeated at the other gateway gets the same response', async () => {
    const device = new CmpClient(one, pump);
    const answer = await device.send(ir(crmf(key)), { implicitConfirm: true });
    device.mount = other;
    expect(await device.post(device.sent)).toEqual(answer.der);
  });

  test('one of two concurrent messages with one transactionID at both gateways succeeds', async () => {
    const devices = [new CmpClient(one, pump), new CmpClient(other, pump)] as const;
    devices[1].transactionID = devices[0].transactionID;
    const answers = await Promise.all(devices.map((device) => device.send(ir(crmf(key)))));
    expect(answers.map(failureOf).sort()).toEqual(['ip', 'transactionIdInUse']);
  });

  test('both sign with the same credential, also when both need it first', async () => {
    const certificate = issued(await new CmpClient(one, pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const request = cr(crmf(key));
    const answers = await Promise.all(
      [one, other].map((mount) =>
        new CmpClient(mount, { certificate, key }).send(request, { path: '/p/~tls_client' }),
      ),
    );
    expect(answers[0]!.extraCerts[0]).toEqual(answers[1]!.extraCerts[0]!);
  });

  test('a certificate without confirmation is revoked by the other gateway', async () => {
    const device = new CmpClient(one, pump);
    const certificate = issued(await device.send(ir(crmf(key))));
    clock.advance(600_001);
    await second.gateway.maintain('second');
    const { serialNumber } = parseCertificate(certificate);
    expect((await first.store.find('certificate', { serialNumber }))?.status).toBe('revoked');
  });
});
