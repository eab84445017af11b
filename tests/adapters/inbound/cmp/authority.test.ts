import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
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
  kur,
} from '#tests/fixtures/cmp-client.ts';
import { type Installation, installation, offer, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { registrationAuthority } from '#tests/fixtures/registration-authority.ts';
import { cmpSite } from './fixture.ts';

let site: Installation;
let server: ReturnType<typeof cmpServer>;
let pump: CmpCredential;
let authority: CmpCredential & { certificate: Uint8Array };
const key = testKey('p-256', 'pump');
const raKey = testKey('p-256', 'authority');

async function device(name: string): Promise<CmpCredential> {
  const { device: record } = await site.device(name);
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, record.noOnboardingConfig!);
  return { reference: name, secret: config.cmpSharedSecret! };
}

/** Returns a message inside one of an authority, with the same senderNonce (RFC 9483 §5.2.2.1). */
const around = (outer: CmpClient, message: Uint8Array) =>
  outer.build(
    { type: 'nested', messages: [message] },
    { header: { senderNonce: parsePkiMessage(message).header.senderNonce } },
  );

const client = (credential: CmpCredential) => new CmpClient(server.mount, credential);

beforeAll(async () => {
  site = await installation();
  server = cmpServer(site.gateway, site.clock);
  const { id: profile } = await site.gateway.profiles.create(site.admin, {
    uniqueName: 'registration_authority',
    profile: registrationAuthority,
  });
  const { records } = await site.gateway.domains.list(site.admin, { limit: 1 });
  const [domain] = records;
  await site.gateway.domains.update(site.admin, domain!.id, {
    profiles: [...domain!.profiles, { profile, alias: null }],
  });
  pump = await device('pump-1');
  const answer = await client(await device('authority')).send(ir(crmf(raKey, { subject: 'CN=authority' })), {
    path: '/p/~registration_authority',
    implicitConfirm: true,
  });
  authority = { certificate: issued(answer), key: raKey };
});
afterAll(() => site[Symbol.asyncDispose]());

const deviceOf = async (certificate: Uint8Array) => {
  const { serialNumber } = parseCertificate(certificate);
  const record = await site.store.find('certificate', { serialNumber });
  const owner = record?.device == null ? undefined : await site.store.get('device', record.device);
  return owner?.commonName;
};

describe('a registration authority', () => {
  test('requests a certificate for a device of its domain, and vouches for the possession of the key', async () => {
    const proof = { kind: 'raVerified' } as const;
    const certificate = issued(await client(authority).send(cr(crmf(key, { proof }))));
    expect(await deviceOf(certificate)).toBe('pump-1');
  });

  test('confirms the certificate that it requested', async () => {
    const dialogue = client(authority);
    const certificate = issued(await dialogue.send(cr(crmf(key))));
    const status = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
    expect((await dialogue.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
  });

  test('cannot vouch for a request with an invalid signature', async () => {
    const signature = raKey.sign('ecdsa-sha256', Buffer.from('another request'));
    const proof = { kind: 'signature', algorithm: 'ecdsa-sha256', signature } as const;
    expect(failureOf(await client(authority).send(cr(crmf(key, { proof }))))).toBe('badPOP');
  });

  test('gets nothing for a name that is not a device of its domain', async () => {
    const stranger = cr(crmf(key, { subject: 'CN=stranger' }));
    expect(failureOf(await client(authority).send(stranger))).toBe('notAuthorized');
    const { id: domain } = await site.gateway.domains.create(site.admin, { uniqueName: 'elsewhere' });
    await site.device('far-away', domain);
    const far = cr(crmf(key, { subject: 'CN=far-away' }));
    expect(failureOf(await client(authority).send(far))).toBe('notAuthorized');
  });

  test('renews its own certificate, and that of a device named by oldCertId', async () => {
    const own = kur(crmf(raKey, { subject: 'CN=authority' }));
    expect(await deviceOf(issued(await client(authority).send(own)))).toBe('authority');
    const old = issued(await client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const renewed = issued(await client(authority).send(kur(crmf(key, { renews: old }))));
    expect(await deviceOf(renewed)).toBe('pump-1');
    const other = kur(crmf(key, { renews: old, subject: 'CN=authority' }));
    expect(failureOf(await client(authority).send(other))).toBe('badCertTemplate');
    const issuer = (await site.gateway.caCertificates(undefined)).at(-1)!;
    const answer = await client(authority).send(kur(crmf(key, { renews: issuer })));
    expect([answer.body.type, failureOf(answer)]).toEqual(['kup', 'badCertId']);
  });

  test('revokes certificates of the devices of its domain', async () => {
    const certificate = issued(await client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const { issuer, serial } = parseCertificate(certificate);
    const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
    const answer = await client(authority).send({
      type: 'rr',
      requests: [{ certDetails, crlEntryDetails: [] }],
    });
    expect(failureOf(answer)).toBe('rp');
  });

  test('renews no certificate that is revoked, on hold or expired', async () => {
    const renewed = async (old: Uint8Array) =>
      failureOf(await client(authority).send(kur(crmf(key, { renews: old }))));
    const old = () =>
      client(pump)
        .send(ir(crmf(key)), { implicitConfirm: true })
        .then(issued);
    for (const reason of ['certificateHold', 'keyCompromise'] as const) {
      const certificate = await old();
      expect(await renewed(certificate)).toBe('kup');
      const { serialNumber } = parseCertificate(certificate);
      const { id } = (await site.store.find('certificate', { serialNumber }))!;
      await site.gateway.certificates.revoke(site.admin, id, { reason });
      expect(await renewed(certificate)).toBe('badCertId');
    }
  });

  test('renews no certificate that has expired', async () => {
    await using own = await cmpSite();
    const brief = { ...registrationAuthority, validity: { duration: 'P30D' }, extensions: {} };
    await own.gateway.profiles.create(own.admin, { uniqueName: 'authority', profile: registrationAuthority });
    await own.gateway.profiles.create(own.admin, { uniqueName: 'brief', profile: brief });
    await offer(own, 'authority', 'brief');
    const device = await own.cmpDevice('pump-1');
    const wish = { path: '/p/~brief', implicitConfirm: true };
    const old = issued(await own.client(device).send(ir(crmf(key)), wish));
    const asked = ir(crmf(raKey, { subject: 'CN=authority' }));
    const first = own.client(await own.cmpDevice('authority'));
    const signer = {
      certificate: issued(await first.send(asked, { path: '/p/~authority', implicitConfirm: true })),
      key: raKey,
    };
    const renewal = () => own.client(signer).send(kur(crmf(key, { renews: old })), wish);
    expect(failureOf(await renewal())).toBe('kup');
    own.clock.advance(31 * 86_400_000);
    expect(failureOf(await renewal())).toBe('notAuthorized');
  });

  test('revokes and renews nothing in another domain, under any CA', async () => {
    const { issuingCa, id: own } = (await site.gateway.domains.list(site.admin, { limit: 10 })).records.at(
      -1,
    )!;
    expect(own).toBe(1);
    const { id } = await site.gateway.domains.create(site.admin, { uniqueName: 'next door', issuingCa });
    const { password: secret } = await site.device('valve-1', id);
    const csr = request(testKey('p-256', 'valve'), 'CN=valve-1');
    const certificate = await site.enrol(password('valve-1', secret), { domain: 'next door' }, csr);
    const { issuer, serial, serialNumber } = parseCertificate(certificate);
    const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
    const requests = [{ certDetails, crlEntryDetails: [] }];
    expect(failureOf(await client(authority).send({ type: 'rr', requests }))).toBe('badCertId');
    expect((await site.store.find('certificate', { serialNumber }))?.status).toBe('good');
    const renewal = kur(crmf(key, { subject: 'CN=valve-1', renews: certificate }));
    expect(failureOf(await client(authority).send(renewal))).toBe('badCertId');
  });
});

describe('nested messages', () => {
  test('of one transaction are answered as if sent separately', async () => {
    const inner = client(pump);
    const outer = client(authority);
    outer.transactionID = inner.transactionID;
    const request = await inner.build(ir(crmf(key)));
    const answer = await outer.post(await around(outer, request));
    const message = parsePkiMessage(answer);
    await inner.check(message);
    expect(await deviceOf(issued(message))).toBe('pump-1');
    inner.nonce = message.header.senderNonce;
    const certHash = hash('sha256', issued(message), 'buffer');
    const confirmation = await inner.build({ type: 'certConf', statuses: [{ certHash, certReqId: 0 }] });
    const wrapped = await around(outer, confirmation);
    expect(parsePkiMessage(await outer.post(wrapped, '/certConf')).body.type).toBe('pkiConf');
  });

  test('with another senderNonce in the transaction are rejected', async () => {
    const inner = client(pump);
    const outer = client(authority);
    outer.transactionID = inner.transactionID;
    const request = await inner.build(ir(crmf(key)));
    const answer = await outer.send({ type: 'nested', messages: [request] });
    expect([answer.body.type, failureOf(answer)]).toEqual(['error', 'badSenderNonce']);
    expect(failureOf(parsePkiMessage(await outer.post(await around(outer, request))))).toBe('ip');
  });

  test.each(['', '/nested', '/p/default/nested'])('several are a batch, at path %p', async (path) => {
    const clients = [client(pump), client({ ...pump, secret: 'wrong' } as CmpCredential), client(pump)];
    const requests = await Promise.all(clients.map((one) => one.build(ir(crmf(key)))));
    const answer = await client(authority).send({ type: 'nested', messages: requests }, { path });
    if (answer.body.type !== 'nested') throw new Error(answer.body.type);
    const answers = answer.body.messages.map(parsePkiMessage);
    expect(answers.map(failureOf)).toEqual(['ip', 'badMessageCheck', 'ip']);
    expect(answers.map(({ header }) => header.transactionID)).toEqual(
      clients.map(({ transactionID }) => Uint8Array.from(transactionID)),
    );
  });

  test('from other senders are rejected', async () => {
    const request = await client(pump).build(ir(crmf(key)));
    const answer = await client(pump).send({ type: 'nested', messages: [request] });
    expect(failureOf(answer)).toBe('notAuthorized');
  });

  test('inside have the operation of the path', async () => {
    const inner = client(pump);
    const outer = client(authority);
    outer.transactionID = inner.transactionID;
    const wrapped = await around(outer, await inner.build(ir(crmf(key))));
    expect(failureOf(parsePkiMessage(await outer.post(wrapped, '/kur')))).toBe('badRequest');
  });

  test('are the only messages that an operation called nested accepts', async () => {
    expect(failureOf(await client(pump).send(ir(crmf(key)), { path: '/nested' }))).toBe('badRequest');
  });

  test('in a batch inside a batch are answered inside a response', async () => {
    const outer = client(authority);
    const request = await client(pump).build(ir(crmf(key)));
    const inner = await client(authority).build({ type: 'nested', messages: [request] });
    const answer = await outer.send({ type: 'nested', messages: [inner] });
    if (answer.body.type !== 'nested') throw new Error(answer.body.type);
    const [within] = answer.body.messages.map(parsePkiMessage);
    if (within?.body.type !== 'nested') throw new Error(within?.body.type);
    expect(within.body.messages.map((one) => parsePkiMessage(one).body.type)).toEqual(['ip']);
  });
});

describe('a transaction that a registration authority forwarded', () => {
  const opening = async (body = ir(crmf(key))) => {
    const inner = client(pump);
    const outer = client(authority);
    outer.transactionID = inner.transactionID;
    const message = await inner.build(body);
    const header = { senderNonce: parsePkiMessage(message).header.senderNonce };
    const wrapped = await outer.build({ type: 'nested', messages: [message] }, { header });
    const answer = parsePkiMessage(await outer.post(wrapped));
    outer.nonce = answer.header.senderNonce;
    inner.nonce = outer.nonce;
    return { inner, outer, wrapped, answer };
  };
  const confirmation = (certificate: Uint8Array, accepted = true) => ({
    type: 'certConf' as const,
    statuses: accepted ? [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }] : [],
  });
  const other = async (name: string, transactionID: Uint8Array) => {
    const itsKey = testKey('p-256', name);
    const answer = await client(await device(name)).send(ir(crmf(itsKey, { subject: `CN=${name}` })), {
      path: '/p/~registration_authority',
      implicitConfirm: true,
    });
    const one = client({ certificate: issued(answer), key: itsKey });
    one.transactionID = transactionID;
    return one;
  };
  const waitingFor = async (state: string) =>
    (
      await site.store.list('transaction', {
        where: [{ field: 'state', is: 'equal', value: state }],
        limit: 9,
      })
    ).records;

  test('is confirmed by it, and repeated messages get the same responses', async () => {
    const { outer, wrapped, answer } = await opening();
    expect(await deviceOf(issued(answer))).toBe('pump-1');
    expect((await outer.send(confirmation(issued(answer)))).body.type).toBe('pkiConf');
    const confirmed = await outer.post(outer.sent);
    expect(parsePkiMessage(confirmed).body.type).toBe('pkiConf');
    expect(await outer.post(wrapped)).toEqual(answer.der);
    const { records } = await site.store.list('auditEvent', {
      where: [{ field: 'action', is: 'equal', value: 'certificate.confirm' }],
      order: { field: 'id', descending: true },
      limit: 1,
    });
    expect(records[0]!.actor).toMatchObject({ kind: 'device', name: 'authority' });
  });

  test('is rejected by it: the certificate is revoked', async () => {
    const { outer, answer } = await opening();
    expect((await outer.send(confirmation(issued(answer), false))).body.type).toBe('pkiConf');
    const { serialNumber } = parseCertificate(issued(answer));
    expect((await site.store.find('certificate', { serialNumber }))?.status).toBe('revoked');
  });

  test('still belongs to it when it renewed its certificate in the meantime', async () => {
    const { outer, answer } = await opening();
    const newKey = testKey('p-256', 'authority, renewed');
    const wish = kur(crmf(newKey, { subject: 'CN=authority' }));
    const renewed = client({
      certificate: issued(await client(authority).send(wish, { implicitConfirm: true })),
      key: newKey,
    });
    renewed.transactionID = outer.transactionID;
    renewed.nonce = outer.nonce;
    expect((await renewed.send(confirmation(issued(answer)))).body.type).toBe('pkiConf');
  });

  test('can be continued by the device that opened it', async () => {
    const { inner, answer } = await opening();
    expect((await inner.send(confirmation(issued(answer)))).body.type).toBe('pkiConf');
  });

  test('belongs to no other authority, even one that forwarded a later message', async () => {
    const { inner, answer } = await opening();
    const stranger = await other('authority-2', inner.transactionID);
    stranger.nonce = inner.nonce;
    expect(failureOf(await stranger.send(confirmation(issued(answer))))).toBe('notAuthorized');
    stranger.nonce = inner.nonce;
    const own = await inner.build(confirmation(issued(answer)), {
      credential: { reference: 'pump-1', secret: 'x' },
    });
    const wrapped = await around(stranger, own);
    expect(failureOf(parsePkiMessage(await stranger.post(wrapped)))).toBe('badMessageCheck');
    stranger.nonce = inner.nonce;
    expect(failureOf(await stranger.send(confirmation(issued(answer))))).toBe('notAuthorized');
  });

  test('that was not forwarded belongs to the device that opened it', async () => {
    const inner = client(pump);
    const answer = await inner.send(ir(crmf(key)));
    const outer = client(authority);
    outer.transactionID = inner.transactionID;
    outer.nonce = inner.nonce;
    expect(failureOf(await outer.send(confirmation(issued(answer))))).toBe('notAuthorized');
  });

  test('is polled for by it while an approval is pending, and the request remains that of the device', async () => {
    const { id } = await policy(site, { decision: 'manual', protocols: ['cmp'] });
    const jo = await person(site, 'jo');
    const { outer, answer } = await opening(ir(crmf(testKey('p-256', 'polled'))));
    if (answer.body.type !== 'ip') throw new Error(answer.body.type);
    expect(answer.body.responses[0]!.status.status).toBe('waiting');
    expect((await outer.send({ type: 'pollReq', certReqIds: [0] })).body.type).toBe('pollRep');
    const [approval, ...more] = (await site.store.list('approval', { limit: 9 })).records;
    expect([approval!.deviceName, more]).toEqual(['pump-1', []]);
    expect(approval!.requester).toStartWith('password device:');
    await site.gateway.approvals.approve(jo, approval!.id, { comment: '' });
    const granted = await outer.send({ type: 'pollReq', certReqIds: [0] });
    expect(await deviceOf(issued(granted))).toBe('pump-1');
    // To the authority, whose signature alone allows it; not to the secret of the device.
    expect(granted.extraCerts.length).toBeGreaterThan(0);
    expect(await outer.post(outer.sent)).toEqual(granted.der);
    expect((await outer.send(confirmation(issued(granted)))).body.type).toBe('pkiConf');
    expect(await waitingFor('pending')).toEqual([]);
    // Not for a blocked device.
    const next = await opening(ir(crmf(testKey('p-256', 'blocked meanwhile'))));
    const { id: blocked } = (await site.store.find('device', { commonName: 'pump-1' }))!;
    await site.gateway.devices.block(site.admin, blocked, { comment: '' });
    expect(failureOf(await next.outer.send({ type: 'pollReq', certReqIds: [0] }))).toBe('notAuthorized');
    await site.gateway.devices.unblock(site.admin, blocked);
    await site.gateway.approvalPolicies.remove(site.admin, id);
  });
});
