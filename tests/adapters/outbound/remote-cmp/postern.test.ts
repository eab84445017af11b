import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { CmpClient, cmpServer, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { cmpResponse } from '#tests/fixtures/cmp-upstream.ts';
import { httpRequest } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation, request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { orderOf, remoteCmp } from '#tests/fixtures/remote-cmp.ts';

// A second Postern, of which this one is a registration authority by its certificate (id-kp-cmcRA).
let upstream: Installation;
let issuer: Issuer;
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
    profile: {
      validity: { duration: 'P1Y' },
      subject: { CN: { fixed: '{device.common_name}' } },
      extensions: {
        keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
        extendedKeyUsage: { fixed: ['1.3.6.1.5.5.7.3.28'], unfit: 'drop' },
      },
    },
  });
  const { profiles } = await gateway.domains.read(admin, 1);
  await gateway.domains.update(admin, 1, { profiles: [...profiles, { profile, alias: null }] });
  await upstream.device('pump-1');
  const { device } = await upstream.device('authority');
  const { cmpSharedSecret } = await gateway.noOnboardingConfigs.read(admin, device.noOnboardingConfig!);
  const client = new CmpClient(mount, { reference: 'authority', secret: cmpSharedSecret! });
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
  issuer = remoteCmp(
    { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() },
    { url: `http://127.0.0.1:${server.port}/.well-known/cmp`, ca: { root }, secret: '' },
    {
      trust: { kind: 'fingerprint', sha256: fingerprint(root) },
      identity: { kind: 'credential', credential, renew: true },
      manner: { forward: 'request', raVerified: true, enrolWith: 'cr', renewWith: 'kur' },
    },
  );
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

test('tells its CA certificates to who has pinned its root', async () => {
  expect((await issuer.chain()).at(-1)).toEqual(root);
});

test('certifies its devices on the word of the gateway, renews and revokes', async () => {
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

test('takes back what the gateway does not accept', async () => {
  const answer = await issuer.issue(orderOf(verifyPkcs10(pkcs10(key, 'CN=pump-1'))));
  if (answer.kind !== 'issued') throw new Error('not issued');
  await issuer.confirm!(answer.confirm!, answer.certificate, false);
  expect((await recordOf(answer.certificate))?.status).toBe('revoked');
});

test('answers the same order once, also after the confirmation', async () => {
  const order = orderOf(verifyPkcs10(pkcs10(key, 'CN=pump-1')));
  const first = await whole(order);
  expect(await whole(order)).toEqual(first);
});

test('renews the certificate by which it knows the gateway', async () => {
  upstream.clock.advance(300 * 24 * 3_600_000);
  await issuer.maintain!();
  expect(await issuer.health()).toEqual({ ok: true });
  const { records } = await upstream.store.list('certificate', { limit: 1000 });
  const own = records.filter(({ commonName }) => commonName === 'authority');
  expect(own).toHaveLength(2);
});
