import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { Principal } from '#core/access/principal.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import type { RevocationReason } from '#core/x509/crl.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { reasonCodeExtension } from '#core/x509/extensions/revocation.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { person, policy } from '#tests/fixtures/approvals.ts';
import {
  type CmpClient,
  type CmpCredential,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
} from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

const hour = 3_600_000;
const comment = { comment: '' };
const key = testKey('p-256', 'pump');

let site: CmpSite;
let pump: CmpCredential;
let jo: Principal;

beforeEach(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
  jo = await person(site, 'jo');
});
afterEach(() => site[Symbol.asyncDispose]());

const approvals = async () =>
  (await site.store.list('approval', { limit: 100, order: { field: 'id', descending: false } })).records;
const states = async () => (await approvals()).map(({ state }) => state);
const transactionOf = async ({ transactionID }: CmpClient) =>
  site.store.find('transaction', { name: Buffer.from(transactionID).toString('hex').toUpperCase() });
const poll = (client: CmpClient, certReqId = 0) => client.send({ type: 'pollReq', certReqIds: [certReqId] });
const statusOf = ({ body }: Awaited<ReturnType<CmpClient['send']>>) =>
  body.type === 'error'
    ? `error ${body.status.status}`
    : body.type === 'rp'
      ? `rp ${body.statuses.map(({ status }) => status)}`
      : 'responses' in body && body.type !== 'popdecr'
        ? `${body.type} ${body.responses[0]?.status.status}`
        : body.type;

describe('a certificate request', () => {
  test('is pending, approved, polled for and confirmed', async () => {
    await policy(site, { decision: 'manual', protocols: ['cmp'], expiresIn: 2 * 3600 });
    const client = site.client(pump);
    expect(statusOf(await client.send(ir(crmf(key))))).toBe('ip waiting');
    // As long as a request approved at the last moment can be collected.
    expect((await transactionOf(client))?.expiresAt).toBe(site.clock.now() + 4 * hour);
    const { body } = await poll(client);
    expect(body).toMatchObject({ polls: [{ certReqId: 0, checkAfter: 3 }] });
    await site.gateway.approvals.approve(jo, 1, comment);
    const certificate = issued(await poll(client));
    const confirmation = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
    expect((await client.send({ type: 'certConf', statuses: [confirmation] })).body.type).toBe('pkiConf');
    expect(await states()).toEqual(['issued']);
    expect((await approvals())[0]).toMatchObject({ requestKind: 'crmf', protocol: 'cmp' });
  });

  test('that was approved is available to another transaction of the same device', async () => {
    await policy(site, { decision: 'manual' });
    await site.client(pump).send(ir(crmf(key)));
    expect(statusOf(await site.client(pump).send(ir(crmf(key))))).toBe('ip waiting');
    expect(await states()).toEqual(['waiting']);
    await site.gateway.approvals.approve(jo, 1, comment);
    expect(issued(await site.client(pump).send(ir(crmf(key)))).length).toBeGreaterThan(300);
    // A later transaction is a new request.
    expect(statusOf(await site.client(pump).send(ir(crmf(key))))).toBe('ip waiting');
  });

  test('that is rejected gets no certificate and opens no new approval', async () => {
    await policy(site, { decision: 'manual' });
    const client = site.client(pump);
    await client.send(ir(crmf(key)));
    await site.gateway.approvals.reject(jo, 1, comment);
    expect(failureOf(await poll(client))).toBe('notAuthorized');
    expect((await transactionOf(client))?.state).toBe('rejected');
    expect(failureOf(await site.client(pump).send(ir(crmf(key))))).toBe('notAuthorized');
    expect(await states()).toEqual(['rejected']);
  });

  test('without a decision in time is rejected, and pending again in another transaction', async () => {
    await policy(site, { decision: 'manual', expiresIn: 3600 });
    const client = site.client(pump);
    await client.send(ir(crmf(key)));
    site.clock.advance(hour + 1);
    await site.gateway.maintain('test');
    expect(failureOf(await poll(client))).toBe('notAuthorized');
    expect(await states()).toEqual(['expired']);
    expect(statusOf(await site.client(pump).send(ir(crmf(key))))).toBe('ip waiting');
  });

  test('with server-side key generation is approved before the key is made', async () => {
    await policy(site, { decision: 'manual' });
    const subject = parseDistinguishedName('CN=pump-1');
    const keyless = buildCertReqMsg(buildCertRequest(0, buildCertTemplate({ subject })), { kind: 'none' });
    const client = site.client(pump);
    expect(statusOf(await client.send(ir(keyless)))).toBe('ip waiting');
    expect((await approvals())[0]?.content).toMatchObject({
      certificate: { requested: { keyType: 'p-256', keyFingerprint: null } },
    });
    await site.gateway.approvals.approve(jo, 1, comment);
    const { body } = await poll(client);
    const pair = body.type === 'ip' ? body.responses[0]?.certifiedKeyPair : undefined;
    expect([pair?.certificate instanceof Uint8Array, pair?.privateKey?.kind]).toEqual([
      true,
      'envelopedData',
    ]);
    expect(await states()).toEqual(['issued']);
  });
});

describe('a revocation request', () => {
  const rr = (reason: RevocationReason, ...certificates: Uint8Array[]): PkiBody => ({
    type: 'rr',
    requests: certificates.map((certificate) => {
      const { issuer, serial } = parseCertificate(certificate);
      const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
      return { certDetails, crlEntryDetails: [reasonCodeExtension(reason)] };
    }),
  });
  let own: Uint8Array;
  /** The same certificate, a domain credential, which also signs. */
  let owner: CmpCredential;
  const revoked = async (certificate: Uint8Array) => {
    const { serialNumber } = parseCertificate(certificate);
    return (await site.store.find('certificate', { serialNumber }))!.status;
  };
  const another = async () =>
    issued(await site.client(pump).send(cr(crmf(key)), { implicitConfirm: true, path: '/p/~tls_client' }));

  beforeEach(async () => {
    own = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    owner = { certificate: own, key };
    await policy(site, { decision: 'manual', operations: ['revocation'] });
  });

  test('is pending, approved and polled for', async () => {
    const client = site.client(owner);
    // RFC 9483 §4.4.
    expect(statusOf(await client.send(rr('keyCompromise', own)))).toBe('error waiting');
    const answer = await poll(client, -1);
    expect(answer.body).toMatchObject({ type: 'pollRep', polls: [{ certReqId: -1, checkAfter: 3 }] });
    expect(failureOf(await poll(client, 0))).toBe('badRequest');
    client.nonce = (await transactionOf(client))!.nonce;
    expect(await revoked(own)).toBe('good');
    const { details, requestKind, operation } = await site.gateway.approvals.read(jo, 1);
    expect([details?.content, requestKind, operation]).toMatchObject([
      { kind: 'revocation', entries: [{ subject: 'CN=pump-1', reason: 'keyCompromise' }] },
      'revocation',
      'revocation',
    ]);
    await site.gateway.approvals.approve(jo, 1, comment);
    expect(statusOf(await poll(client, -1))).toBe('rp accepted');
    expect(await revoked(own)).toBe('revoked');
    expect(await states()).toEqual(['revoked']);
    expect((await transactionOf(client))?.state).toBe('done');
  });

  test('in another transaction joins the approval, unless its reason differs', async () => {
    await site.client(owner).send(rr('keyCompromise', own));
    await site.client(owner).send(rr('keyCompromise', own));
    expect(await states()).toEqual(['waiting']);
    await site.client(owner).send(rr('superseded', own));
    expect(await states()).toEqual(['waiting', 'waiting']);
  });

  test('that is rejected revokes nothing', async () => {
    const client = site.client(owner);
    await client.send(rr('keyCompromise', own));
    await site.gateway.approvals.reject(jo, 1, comment);
    expect(failureOf(await poll(client, -1))).toBe('notAuthorized');
    expect(await revoked(own)).toBe('good');
    expect(failureOf(await site.client(owner).send(rr('keyCompromise', own)))).toBe('notAuthorized');
  });

  test('for several certificates is completed when all are decided', async () => {
    const other = await another();
    const client = site.client(owner);
    expect(statusOf(await client.send(rr('superseded', own, other)))).toBe('error waiting');
    await site.gateway.approvals.approve(jo, 1, comment);
    expect(statusOf(await poll(client, -1))).toBe('pollRep');
    expect(await revoked(own)).toBe('good');
    await site.gateway.approvals.reject(jo, 2, comment);
    expect(statusOf(await poll(client, -1))).toBe('rp accepted,rejection');
    expect([await revoked(own), await revoked(other)]).toEqual(['revoked', 'good']);
  });

  test('cannot be polled for by another requester', async () => {
    const client = site.client(owner);
    await client.send(rr('keyCompromise', own));
    await site.gateway.approvals.approve(jo, 1, comment);
    const stranger = site.client(await site.cmpDevice('pump-2'));
    stranger.transactionID = client.transactionID;
    stranger.nonce = client.nonce;
    expect(failureOf(await poll(stranger, -1))).toBe('notAuthorized');
    expect(await revoked(own)).toBe('good');
  });

  test('that a policy denies is rejected', async () => {
    await policy(site, { decision: 'deny', operations: ['revocation'], priority: 1 });
    expect(failureOf(await site.client(owner).send(rr('keyCompromise', own)))).toBe('notAuthorized');
  });
});
