import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { hex } from '#core/der/bytes.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { person, policy } from '#tests/fixtures/approvals.ts';
import {
  CmpClient,
  type CmpCredential,
  cmpServer,
  cr,
  crmf,
  ir,
  issued,
  openingMessage,
  type SendOptions,
} from '#tests/fixtures/cmp-client.ts';
import { cmpResponse } from '#tests/fixtures/cmp-upstream.ts';
import { httpRequest } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation, request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { registrationAuthority } from '#tests/fixtures/registration-authority.ts';
import { faultOf, forged, orderOf, remoteCmp } from '#tests/fixtures/remote-cmp.ts';

// A second Postern, of which this one is a registration authority by its certificate (id-kp-cmcRA).
let upstream: Installation;
let issuer: Issuer;
/** The same, with devices' own messages inside. */
let nesting: Issuer;
let device: Extract<CmpCredential, { certificate: Uint8Array }>;
let server: ReturnType<typeof Bun.serve>;
let directory: string;
let root: Uint8Array;
const key = testKey('p-256', 'pump');
const raKey = testKey('p-256', 'authority');

beforeAll(async () => {
  upstream = await installation();
  const { gateway, admin } = upstream;
  const { mount } = cmpServer(gateway, upstream.clock);
  const { id: profile } = await gateway.profiles.create(admin, {
    uniqueName: 'registration_authority',
    profile: registrationAuthority,
  });
  const { profiles } = await gateway.domains.read(admin, 1);
  await gateway.domains.update(admin, 1, { profiles: [...profiles, { profile, alias: null }] });
  const cmpDevice = async (reference: string) => {
    const { device } = await upstream.device(reference);
    const config = await gateway.noOnboardingConfigs.read(admin, device.noOnboardingConfig!);
    return { reference, secret: config.cmpSharedSecret! };
  };
  const client = new CmpClient(mount, await cmpDevice('authority'));
  const wish = ir(crmf(raKey, { subject: 'CN=authority' }));
  const path = '/p/~registration_authority';
  const certificate = issued(await client.send(wish, { path, implicitConfirm: true }));
  const [issuing, top] = await gateway.caCertificates('default');
  root = top!;
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer());
      const headers = { 'content-type': 'application/pkixcmp' };
      const answer = await mount.handle(httpRequest({ path: '/.well-known/cmp', headers, body }));
      return cmpResponse(answer.body as Uint8Array, answer.status);
    },
  });
  directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  const { clock } = upstream;
  const pkcs8 = new Uint8Array(raKey.privateKey.export({ format: 'der', type: 'pkcs8' }));
  const credential = { key: pkcs8, certificates: [certificate, issuing!] };
  const forwarding = (forward: 'request' | 'nested'): Issuer =>
    remoteCmp(
      { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() },
      { url: `http://127.0.0.1:${server.port}/.well-known/cmp`, ca: { root }, secret: '' },
      {
        trust: { kind: 'fingerprint', sha256: fingerprint(root) },
        identity: { kind: 'credential', credential, renew: true },
        forwarding: { forward, raVerified: true, enrolWith: 'cr', renewWith: 'kur' },
      },
    );
  issuer = forwarding('request');
  nesting = forwarding('nested');
  const pump = await cmpDevice('pump-1');
  const first = issued(await new CmpClient(mount, pump).send(ir(crmf(key)), { implicitConfirm: true }));
  device = { certificate: first, key };
});
afterAll(async () => {
  await server.stop(true);
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const recordOf = (certificate: Uint8Array) =>
  upstream.store.find('certificate', { serialNumber: parseCertificate(certificate).serialNumber });

const whole = async (order: Parameters<Issuer['issue']>[0]): Promise<Uint8Array> => {
  const answer = await issuer.issue(order);
  if (answer.kind !== 'issued') throw new Error('not issued');
  await issuer.confirm!(answer.confirm!, answer.certificate, true);
  return answer.certificate;
};

test('sends its CA certificates to a gateway that pins its root', async () => {
  expect((await issuer.chain()).at(-1)).toEqual(root);
});

test('issues with raVerified, renews and revokes', async () => {
  const subject = parseDistinguishedName('CN=pump-1');
  const inCrmf = verifyCertReqMsg(crmf(key), { raVerified: false });
  const first = await whole(orderOf(inCrmf, { subject }));
  const device = await upstream.store.find('device', { commonName: 'pump-1' });
  expect(await recordOf(first)).toMatchObject({ device: device!.id, status: 'good' });
  const renewed = await whole(orderOf(inCrmf, { subject }, { operation: 'renew', renews: first }));
  expect(await recordOf(renewed)).toMatchObject({ device: device!.id, status: 'good' });
  await issuer.revoke!(first, 'superseded');
  expect(await recordOf(first)).toMatchObject({ status: 'revoked', revocationReason: 'superseded' });
  await issuer.revoke!(first, 'superseded');
});

test('revokes a certificate that the gateway rejects', async () => {
  const answer = await issuer.issue(orderOf(verifyPkcs10(pkcs10(key, 'CN=pump-1'))));
  if (answer.kind !== 'issued') throw new Error('not issued');
  await issuer.confirm!(answer.confirm!, answer.certificate, false);
  expect((await recordOf(answer.certificate))?.status).toBe('revoked');
});

test('answers a repeated order with the same certificate, also after the confirmation', async () => {
  const order = orderOf(verifyPkcs10(pkcs10(key, 'CN=pump-1')));
  const first = await whole(order);
  expect(await whole(order)).toEqual(first);
});

describe('a message signed by a device of the upstream CA', () => {
  const inCrmf = verifyCertReqMsg(crmf(key), { raVerified: false });
  const orderIn = async (options: SendOptions = {}, by: CmpCredential = device) =>
    orderOf(inCrmf, {}, { message: await openingMessage(by, cr(inCrmf.der), options) });
  const transactionOf = async ({ message }: { message?: Uint8Array | undefined }) => {
    const { transactionID } = parsePkiMessage(message!).header;
    return upstream.store.find('transaction', { name: hex(transactionID!) });
  };

  test("is the device's request there, and the gateway confirms the certificate", async () => {
    const order = await orderIn();
    const answer = await nesting.issue(order);
    if (answer.kind !== 'issued') throw new Error('not issued');
    const its = await recordOf(device.certificate);
    expect(await transactionOf(order)).toMatchObject({
      state: 'waiting',
      requester: `certificate:${its!.id}`,
    });
    await nesting.confirm!(answer.confirm!, answer.certificate, true);
    expect(await transactionOf(order)).toMatchObject({ state: 'done' });
    expect(await recordOf(answer.certificate)).toMatchObject({ device: its!.device, status: 'good' });
    // The same once more, as after a crash.
    expect(await nesting.issue(order)).toEqual(answer);
    await nesting.confirm!(answer.confirm!, answer.certificate, true);
  });

  test('needs no confirmation when the device says so', async () => {
    const answer = await nesting.issue(await orderIn({ implicitConfirm: true }));
    expect(answer).toMatchObject({ kind: 'issued' });
    expect(answer).not.toHaveProperty('confirm');
  });

  test('is rejected by the gateway after issuance', async () => {
    const order = await orderIn();
    const answer = await nesting.issue(order);
    if (answer.kind !== 'issued') throw new Error('not issued');
    await nesting.confirm!(answer.confirm!, answer.certificate, false);
    expect((await recordOf(answer.certificate))?.status).toBe('revoked');
  });

  test('is polled for by the gateway while its approval is pending', async () => {
    const { id } = await policy(upstream, { decision: 'manual', protocols: ['cmp'] });
    const jo = await person(upstream, 'jo');
    const order = await orderIn();
    let answer = await nesting.issue(order);
    if (answer.kind !== 'pending') throw new Error('not pending');
    answer = await nesting.poll!(answer.handle, order);
    if (answer.kind !== 'pending') throw new Error('not pending');
    const { records } = await upstream.store.list('approval', { limit: 9 });
    expect(records).toMatchObject([{ deviceName: 'pump-1', requesterName: 'pump-1' }]);
    await upstream.gateway.approvals.approve(jo, records[0]!.id, { comment: '' });
    answer = await nesting.poll!(answer.handle, order);
    if (answer.kind !== 'issued') throw new Error('not issued');
    await nesting.confirm!(answer.confirm!, answer.certificate, true);
    expect(await transactionOf(order)).toMatchObject({ state: 'done' });
    await upstream.gateway.approvalPolicies.remove(upstream.admin, id);
  });

  test('is rejected without the signature of the device', async () => {
    const order = await orderIn();
    expect(await faultOf(nesting.issue({ ...order, message: forged(order.message!) }))).toEqual([
      'forbidden',
      expect.stringContaining('rejects the message of the device (badMessageCheck)'),
    ]);
    const stranger = { ...device, certificate: root };
    const other = await orderIn({}, { ...stranger, key: testKey('p-256', 'anybody') });
    expect((await faultOf(nesting.issue(other)))[0]).toBe('forbidden');
    expect(await transactionOf(order)).toBeUndefined();
  });

  test('is rejected when the device is deleted or its certificate revoked', async () => {
    const order = await orderIn({ implicitConfirm: true });
    const answer = await nesting.issue(order);
    if (answer.kind !== 'issued') throw new Error('not issued');
    await issuer.revoke!(answer.certificate, 'superseded');
    const revoked = await orderIn({}, { certificate: answer.certificate, key });
    expect(await faultOf(nesting.issue(revoked))).toEqual([
      'forbidden',
      expect.stringContaining('(signerNotTrusted)'),
    ]);
  });
});

test('renews the certificate of the gateway', async () => {
  upstream.clock.advance(300 * 24 * 3_600_000);
  await issuer.maintain!();
  expect(await issuer.health()).toEqual({ ok: true });
  const { records } = await upstream.store.list('certificate', { limit: 1000 });
  const own = records.filter(({ commonName }) => commonName === 'authority');
  expect(own).toHaveLength(2);
});
