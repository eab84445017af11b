import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import {
  CmpClient,
  type CmpCredential,
  cmpServer,
  crmf,
  failureOf,
  ir,
  issued,
} from '#tests/fixtures/cmp-client.ts';
import { cmpListener } from '#tests/fixtures/cmp-listener.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

/** Approval by an administrator: until then every request is pending, and afterwards the gateway decides. */
interface Approval {
  verdict: 'open' | 'granted' | 'refused';
  asked: number;
}

function approving(gateway: Gateway, approval: Approval): Gateway {
  return {
    ...gateway,
    async enrol(requester, ask) {
      approval.asked++;
      if (approval.verdict === 'granted') return gateway.enrol(requester, ask);
      if (approval.verdict === 'refused')
        throw new Fault('forbidden', 'an approver has rejected the request');
      return { kind: 'pending', id: 7, retryAfter: 1 };
    },
  };
}

let site: Installation;
let server: ReturnType<typeof cmpServer>;
let pump: CmpCredential & { reference: string; secret: string };
let approval: Approval;
const key = testKey('p-256', 'pump');
const client = () => new CmpClient(server.mount, pump);
const pollReq = { type: 'pollReq', certReqIds: [0] } as const;

beforeAll(async () => {
  site = await installation();
  const { device } = await site.device('pump-1');
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
  pump = { reference: 'pump-1', secret: config.cmpSharedSecret! };
});
beforeEach(() => {
  approval = { verdict: 'open', asked: 0 };
  server = cmpServer(approving(site.gateway, approval), site.clock);
});
afterAll(() => site[Symbol.asyncDispose]());

const stateOf = async ({ transactionID }: CmpClient) => {
  const name = Buffer.from(transactionID).toString('hex').toUpperCase();
  return (await site.store.find('transaction', { name }))?.state;
};

describe('a request that needs approval', () => {
  test('gets status waiting, polls with checkAfter, then gets the certificate and confirms it', async () => {
    const device = client();
    const { body } = await device.send(ir(crmf(key)));
    expect(body.type === 'ip' && body.responses[0]?.status.status).toBe('waiting');
    expect(await stateOf(device)).toBe('pending');
    for (let n = 0; n < 2; n++) {
      const answer = await device.send(pollReq);
      expect(answer.body).toMatchObject({ type: 'pollRep', polls: [{ certReqId: 0, checkAfter: 1 }] });
    }
    approval.verdict = 'granted';
    const certificate = issued(await device.send(pollReq));
    expect(await stateOf(device)).toBe('waiting');
    const status = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
    expect((await device.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
    expect(await stateOf(device)).toBe('done');
  });

  test('keeps implicit confirmation and its profile, whatever path the poll has', async () => {
    const device = client();
    await device.send(ir(crmf(key)), { implicitConfirm: true, path: '/p/~tls_client/ir' });
    approval.verdict = 'granted';
    await issued(await device.send(pollReq));
    expect(await stateOf(device)).toBe('done');
    const { records } = await site.store.list('certificate', { limit: 1 });
    const profile = await site.store.get('profile', records[0]!.profile!);
    expect(profile?.uniqueName).toBe('tls_client');
  });

  test('ends with a rejection', async () => {
    const device = client();
    await device.send(ir(crmf(key)));
    approval.verdict = 'refused';
    expect(failureOf(await device.send(pollReq))).toBe('notAuthorized');
    expect(await stateOf(device)).toBe('rejected');
    expect(failureOf(await device.send(pollReq))).toBe('badRequest');
  });

  test('can be polled for only by its sender, with the right certReqId and the last nonce', async () => {
    const device = client();
    await device.send(ir(crmf(key)));
    expect(failureOf(await device.send({ type: 'pollReq', certReqIds: [1] }))).toBe('badRequest');
    const { device: record } = await site.device(`other-${device.transactionID[0]}`);
    const config = await site.gateway.noOnboardingConfigs.read(site.admin, record.noOnboardingConfig!);
    const other = { reference: record.commonName, secret: config.cmpSharedSecret! };
    const stranger = new CmpClient(server.mount, other);
    stranger.transactionID = device.transactionID;
    const name = Buffer.from(device.transactionID).toString('hex').toUpperCase();
    stranger.nonce = (await site.store.find('transaction', { name }))!.nonce;
    approval.verdict = 'granted';
    expect(failureOf(await stranger.send(pollReq))).toBe('notAuthorized');
    approval.verdict = 'open';
    stranger.nonce = (await site.store.find('transaction', { name }))!.nonce;
    expect(failureOf(await stranger.send(pollReq))).toBe('notAuthorized');
    expect(await stateOf(device)).toBe('pending');
    expect(failureOf(await device.send(pollReq))).toBe('badRecipientNonce');
  });

  test('can be cancelled', async () => {
    const device = client();
    await device.send(ir(crmf(key)));
    expect((await device.send({ type: 'certConf', statuses: [] })).body.type).toBe('pkiConf');
    expect(await stateOf(device)).toBe('rejected');
  });

  test('expires without a decision in time', async () => {
    const device = client();
    await device.send(ir(crmf(key)));
    site.clock.advance(3_600_001);
    await site.gateway.maintain('test');
    expect(await stateOf(device)).toBe('expired');
    expect(failureOf(await device.send(pollReq))).toBe('badRequest');
  });

  test('is checked once per poll, and not for a repeated poll', async () => {
    const device = client();
    await device.send(ir(crmf(key)));
    await device.send(pollReq);
    expect(approval.asked).toBe(2);
    expect(await device.post(device.sent)).toEqual(await device.post(device.sent));
    expect(approval.asked).toBe(2);
  });

  test('gets the same response when it or the last poll is repeated', async () => {
    const device = client();
    const waiting = await device.send(ir(crmf(key)));
    const opening = device.sent;
    approval.verdict = 'granted';
    const granted = await device.send(pollReq);
    expect(granted.extraCerts).not.toBeEmpty();
    expect(await device.post(device.sent)).toEqual(granted.der);
    expect(await device.post(opening)).toEqual(waiting.der);
  });
});

test('is polled by OpenSSL until the certificate is issued', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-cmp-'));
  const openssl = approving(site.gateway, approval);
  const { mount } = cmpServer(openssl, systemClock);
  const listener = await cmpListener(site.gateway, mount);
  try {
    writeFileSync(join(directory, 'key'), key.pem());
    const args = ['cmp', '-config', '', '-cmd', 'ir', '-server', listener.address];
    args.push('-path', '.well-known/cmp', '-ref', 'pump-1', '-secret', `pass:${pump.secret}`);
    args.push('-newkey', 'key', '-subject', '/CN=pump-1', '-certout', 'out', '-total_timeout', '30');
    const client = Bun.spawn(['openssl', ...args], { cwd: directory, stdout: 'pipe', stderr: 'pipe' });
    while (approval.asked < 2) await Bun.sleep(20);
    approval.verdict = 'granted';
    expect(await client.exited).toBe(0);
    const said = await new Response(client.stdout).text();
    expect(said + (await new Response(client.stderr).text())).toContain('received POLLREP');
    expect(await Bun.file(join(directory, 'out')).text()).toStartWith('-----BEGIN CERTIFICATE-----');
  } finally {
    await listener[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  }
}, 60_000);
