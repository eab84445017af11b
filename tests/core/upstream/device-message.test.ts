import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { Fault } from '#core/fault.ts';
import type { Issuer, Order } from '#core/ports/issuer.ts';
import { person, policy } from '#tests/fixtures/approvals.ts';
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
import { type EstUpstream, estUpstream } from '#tests/fixtures/est-upstream.ts';
import {
  type Installation,
  installation,
  password,
  request as pkcs10,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

// The message that a device signed, from the listener to the upstream CA.
let ca: EstUpstream;
let site: Installation;
let server: ReturnType<typeof cmpServer>;
let secret: CmpCredential;
let signed: CmpCredential;
let estPassword: string;
const orders: Order[] = [];
const answers: ('unavailable' | 'pending')[] = [];
const path = '/p/~tls_client';

beforeAll(async () => {
  const clock = testClock();
  ca = await estUpstream(clock.now);
  const answer: NonNullable<Issuer['poll']> = async (_, order) => {
    orders.push(order);
    const next = answers.shift();
    if (next === 'unavailable') throw new Fault('unavailable', 'no answer');
    if (next === 'pending') return { kind: 'pending', handle: 'h', retryAfter: 1 };
    return { kind: 'issued', certificate: ca.certify(order.prepared.request!), chain: [] };
  };
  const issuer: Issuer = {
    protocol: 'cmp',
    repeatable: true,
    chain: async () => [ca.issuing, ca.root],
    issue: (order) => answer('', order),
    poll: answer,
    health: async () => ({ ok: true }),
  };
  site = await installation({ clock, issuers: () => new Map([['plant', issuer]]) });
  server = cmpServer(site.gateway, clock);
  const { gateway, admin } = site;
  const { device, password } = await site.device('pump-1');
  estPassword = password;
  const { cmpSharedSecret } = await gateway.noOnboardingConfigs.read(admin, device.noOnboardingConfig!);
  secret = { reference: 'pump-1', secret: cmpSharedSecret! };
  const key = testKey('p-256', 'pump');
  const first = await client(secret).send(ir(crmf(key)), { implicitConfirm: true });
  signed = { certificate: issued(first), key };
  const made = await gateway.issuingCas.create(admin, { uniqueName: 'plant', type: 5, issuer: 'plant' });
  await gateway.domains.update(admin, 1, { issuingCa: made.id });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await ca[Symbol.asyncDispose]();
});

const client = (credential: CmpCredential) => new CmpClient(server.mount, credential);
const messages = () => orders.splice(0).map(({ message }) => message);
const fresh = (name: string) => cr(crmf(testKey('p-256', name)));

test('is in the order byte for byte, also when the order is sent again', async () => {
  answers.push('unavailable', 'pending', 'pending');
  const one = client(signed);
  expect(failureOf(await one.send(fresh('kept'), { path }))).toBe('systemUnavail');
  const { sent } = one;
  for (let n = 0; n < 3; n++) {
    site.clock.advance(3_600_000);
    await site.gateway.maintain('a');
  }
  expect(messages()).toEqual([sent, sent, sent, sent]);
  const { records } = await site.store.list('upstreamRequest', { limit: 9 });
  expect(records).toMatchObject([{ state: 'issued', message: sent }]);
  const shown = await site.gateway.upstreamRequests.read(site.admin, records[0]!.id);
  expect(Object.keys(shown)).not.toContain('message');
});

test('is the one that opened the transaction, also when the device polls', async () => {
  answers.push('pending');
  const one = client(signed);
  await one.send(fresh('polled'), { path });
  const { sent } = one;
  site.clock.advance(5000);
  const certificate = issued(await one.send({ type: 'pollReq', certReqIds: [0] }, { path }));
  expect(messages()).toEqual([sent, sent]);
  const status = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
  expect((await one.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
});

test('is sent after the approval, and the device polls as long as the upstream CA defers', async () => {
  const made = await policy(site, { decision: 'manual', expiresIn: 60 });
  answers.push('pending', 'pending');
  const one = client(signed);
  const poll = () => one.send({ type: 'pollReq', certReqIds: [0] }, { path });
  await one.send(fresh('granted'), { path });
  const { id } = (await site.store.list('approval', { limit: 1 })).records[0]!;
  await site.gateway.approvals.approve(await person(site, 'jo'), id, { comment: 'as agreed' });
  expect((await poll()).body.type).toBe('pollRep');
  for (const type of ['pollRep', 'cp'] as const) {
    site.clock.advance(600_000);
    await site.gateway.maintain('a');
    expect((await poll()).body.type).toBe(type);
  }
  messages();
  await site.gateway.approvalPolicies.remove(site.admin, made.id);
});

test('is that of the first of two equal requests', async () => {
  answers.push('pending');
  const [one, two] = [client(signed), client(signed)];
  const body = fresh('twice');
  await one.send(body, { path });
  site.clock.advance(5000);
  issued(await two.send(body, { path, implicitConfirm: true }));
  expect(messages()).toEqual([one.sent, one.sent]);
});

test('is not in the order when it proves nothing to the upstream CA: with a secret, or over another protocol', async () => {
  issued(await client(secret).send(ir(crmf(testKey('p-256', 'by secret'))), { path, implicitConfirm: true }));
  const der = pkcs10(testKey('p-256', 'by est'), 'CN=pump-1');
  await site.enrol(password('pump-1', estPassword), { profile: 'tls_client' }, der);
  expect(messages()).toEqual([undefined, undefined]);
});
