import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { reasonCodeExtension } from '#core/x509/extensions/revocation.ts';
import {
  type CmpClient,
  type CmpCredential,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
} from '#tests/fixtures/cmp-client.ts';
import { cmpListener } from '#tests/fixtures/cmp-listener.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;
const key = testKey('p-256', 'pump');

let site: CmpSite;
let pump: CmpCredential & { reference: string; secret: string };
beforeEach(() => open());
afterEach(() => site[Symbol.asyncDispose]());

async function open(...options: Parameters<typeof cmpSite>): Promise<void> {
  site = await cmpSite(...options);
  pump = await site.cmpDevice('pump-1');
}

/** Replaces the service of the test. */
async function reopen(...options: Parameters<typeof cmpSite>): Promise<void> {
  await site[Symbol.asyncDispose]();
  await open(...options);
}

const now = () => ({ header: { messageTime: site.clock.now() } });
const enrolled = async (path = ''): Promise<Uint8Array> =>
  issued(await site.client(pump).send(cr(crmf(key)), { implicitConfirm: true, path, ...now() }));
const rr = (certificate: Uint8Array, reason: 'certificateHold' | 'removeFromCRL'): PkiBody => {
  const { issuer, serial } = parseCertificate(certificate);
  const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
  return { type: 'rr', requests: [{ certDetails, crlEntryDetails: [reasonCodeExtension(reason)] }] };
};
const statusOf = async (certificate: Uint8Array) => {
  const { serialNumber } = parseCertificate(certificate);
  return (await site.store.find('certificate', { serialNumber }))?.status;
};
const transactionOf = ({ transactionID }: CmpClient) =>
  site.store.find('transaction', { name: Buffer.from(transactionID).toString('hex').toUpperCase() });
/** Sends a recorded message as an attacker and returns the result. */
const replayed = async (octets: Uint8Array) => {
  const answer = parsePkiMessage(await site.client(pump).post(octets));
  return [answer.body.type, failureOf(answer)];
};
async function passed(milliseconds: number): Promise<void> {
  site.clock.advance(milliseconds);
  await site.gateway.maintain('test');
}

describe('messageTime', () => {
  test.each([
    [0, 'ip'],
    [-day, 'ip'],
    [day, 'ip'],
    [-day - 1000, 'badTime'],
    [day + 1000, 'badTime'],
    [-Date.UTC(2026, 5, 1), 'badTime'],
  ])("%p ms from the gateway's time: %s", async (off, expected) => {
    const header = { messageTime: site.clock.now() + off };
    const answer = await site.client(pump).send(ir(crmf(key)), { header });
    expect([answer.body.type, failureOf(answer)]).toEqual([
      expected === 'ip' ? 'ip' : 'error',
      expected,
    ] as never);
    // A device may set its clock by the time of the response.
    expect(answer.header.messageTime).toBe(site.clock.now());
  });

  test('has a configurable window', async () => {
    await reopen({ messageTimeWindow: 5 * 60_000 });
    const send = async (off: number) =>
      failureOf(
        await site.client(pump).send(ir(crmf(key)), { header: { messageTime: site.clock.now() + off } }),
      );
    expect(await Promise.all([send(-300_000), send(-301_000)])).toEqual(['ip', 'badTime']);
  });

  test('is required when the configuration demands it', async () => {
    await reopen({ requireMessageTime: true });
    expect(failureOf(await site.client(pump).send(ir(crmf(key))))).toBe('missingTimeStamp');
    expect(failureOf(await site.client(pump).send(ir(crmf(key)), now()))).toBe('ip');
  });

  test('is checked in every message: certConf, pollReq, genm', async () => {
    const client = site.client(pump);
    const certificate = issued(await client.send(ir(crmf(key)), now()));
    const late = { header: { messageTime: site.clock.now() - 2 * day } };
    const statuses = [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }];
    const { nonce } = client;
    for (const body of [
      { type: 'certConf', statuses },
      { type: 'pollReq', certReqIds: [0] },
      { type: 'genm', infos: [] },
    ] as const) {
      client.nonce = body.type === 'genm' ? undefined : nonce;
      const asked = body.type === 'genm' ? site.client(pump) : client;
      expect(failureOf(await asked.send(body, late))).toBe('badTime');
    }
    client.nonce = nonce;
    expect(failureOf(await client.send({ type: 'certConf', statuses }, now()))).toBe('pkiConf');
  });
});

describe('a recorded message that an attacker sends again', () => {
  let own: Uint8Array;
  let held: Uint8Array;
  let owner: CmpCredential;
  beforeEach(async () => {
    own = await enrolled();
    held = await enrolled('/p/~tls_client');
    owner = { certificate: own, key };
  });

  /** Puts a certificate on hold and releases it; returns the message of the hold. */
  async function holding(options: () => object): Promise<CmpClient> {
    const client = site.client(owner);
    expect(failureOf(await client.send(rr(held, 'certificateHold'), options()))).toBe('rp');
    const { sent } = client;
    expect(failureOf(await site.client(owner).send(rr(held, 'removeFromCRL'), options()))).toBe('rp');
    client.sent = sent;
    return client;
  }

  test('with messageTime: rr has no effect, a day later and afterwards', async () => {
    const { sent } = await holding(now);
    for (const later of [hour, 22 * hour, 2 * hour, 30 * day]) {
      await passed(later);
      await replayed(sent);
      expect(await statusOf(held)).toBe('good');
    }
    expect(await replayed(sent)).toEqual(['error', 'badTime']);
  });

  test('without messageTime: rr has no effect while its signer is valid, and is stored no longer', async () => {
    const client = await holding(() => ({}));
    expect(await replayed(client.sent)).toEqual(['rp', 'rp']);
    for (const later of [25 * hour, 30 * day, 300 * day]) {
      await passed(later);
      expect(await replayed(client.sent)).toEqual(['error', 'transactionIdInUse']);
      expect(await statusOf(held)).toBe('good');
    }
    await passed(parseCertificate(own).notAfter - site.clock.now() + 2000);
    expect(await transactionOf(client)).toBeUndefined();
    expect((await replayed(client.sent))[1]).toBe('signerNotTrusted');
  });

  test('without messageTime and with a shared secret: ir gets no second certificate, even years later', async () => {
    const client = site.client(pump);
    issued(await client.send(ir(crmf(key)), { implicitConfirm: true }));
    const ofPump = { field: 'subject', is: 'equal', value: 'CN=pump-1' } as const;
    const count = await site.store.count('certificate', [ofPump], 100);
    for (const later of [25 * hour, 3000 * day]) {
      await passed(later);
      expect(await replayed(client.sent)).toEqual(['error', 'transactionIdInUse']);
    }
    expect(await site.store.count('certificate', [ofPump], 100)).toBe(count);
  });

  test('without messageTime: what a policy denied at once is not granted later', async () => {
    const policies = site.gateway.approvalPolicies;
    const denial = await policies.create(site.admin, { uniqueName: 'nobody', decision: 'deny' });
    const client = site.client(pump);
    expect(failureOf(await client.send(ir(crmf(key)), { implicitConfirm: true }))).toBe('notAuthorized');
    expect(await transactionOf(client)).toMatchObject({ state: 'rejected', certificate: null });
    const dated = site.client(pump);
    expect(failureOf(await dated.send(ir(crmf(key)), now()))).toBe('notAuthorized');
    expect(await transactionOf(dated)).toBeUndefined();
    await policies.remove(site.admin, denial.id);
    const ofPump = { field: 'subject', is: 'equal', value: 'CN=pump-1' } as const;
    const count = await site.store.count('certificate', [ofPump], 100);
    expect(await replayed(client.sent)).toEqual(['ip', 'notAuthorized']);
    for (const later of [25 * hour, 3000 * day]) {
      await passed(later);
      expect(await replayed(client.sent)).toEqual(['error', 'transactionIdInUse']);
    }
    expect(await replayed(dated.sent)).toEqual(['error', 'badTime']);
    expect(await site.store.count('certificate', [ofPump], 100)).toBe(count);
  });

  test('without messageTime: a revocation that was refused at once is not done later', async () => {
    const client = site.client(owner);
    // Not on hold: there is nothing to release.
    expect(failureOf(await client.send(rr(held, 'removeFromCRL')))).toBe('badRequest');
    expect(failureOf(await site.client(owner).send(rr(held, 'certificateHold'), now()))).toBe('rp');
    expect(await statusOf(held)).toBe('hold');
    for (const later of [hour, 25 * hour, 30 * day]) {
      await passed(later);
      await replayed(client.sent);
      expect(await statusOf(held)).toBe('hold');
    }
    expect(await replayed(client.sent)).toEqual(['error', 'transactionIdInUse']);
  });

  test('is stored after a day only as far as its rejection needs', async () => {
    const client = site.client(pump);
    const certificate = issued(await client.send(ir(crmf(key))));
    const statuses = [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }];
    expect(failureOf(await client.send({ type: 'certConf', statuses }))).toBe('pkiConf');
    await passed(25 * hour);
    const { openingAnswer, latestAnswer, latestDigest, request, state } = (await transactionOf(client))!;
    expect([openingAnswer.length, latestAnswer, latestDigest, request, state]).toEqual([
      0,
      null,
      null,
      null,
      'done',
    ]);
  });

  test('from the future is remembered until its time and the window are over', async () => {
    const client = site.client(pump);
    const header = { messageTime: site.clock.now() + day };
    await client.send(ir(crmf(key)), { implicitConfirm: true, header });
    await passed(47 * hour);
    expect(await replayed(client.sent)).toEqual(['error', 'transactionIdInUse']);
    await passed(2 * hour);
    expect(await transactionOf(client)).toBeUndefined();
    expect(await replayed(client.sent)).toEqual(['error', 'badTime']);
  });

  test('whose certificate was never confirmed is remembered like the others', async () => {
    const client = site.client(pump);
    const certificate = issued(await client.send(ir(crmf(key))));
    const opening = client.sent;
    await passed(601_000);
    expect(await statusOf(certificate)).toBe('revoked');
    await passed(26 * hour);
    expect(await replayed(opening)).toEqual(['error', 'transactionIdInUse']);
  });
});

test('as an rr of openssl cmp has no effect the next day', async () => {
  await reopen({}, testClock(Date.now()));
  const directory = mkdtempSync(join(tmpdir(), 'postern-cmp-'));
  const listener = await cmpListener(site.gateway, site.server.mount);
  try {
    const certificate = await enrolled();
    const root = (await site.gateway.caCertificates(undefined)).at(-1)!;
    for (const [name, text] of [
      ['own.pem', pem('CERTIFICATE', certificate)],
      ['root.pem', pem('CERTIFICATE', root)],
      ['key', key.pem()],
    ] as const)
      writeFileSync(join(directory, name), text);
    const line = `openssl cmp -config '' -cmd rr -server ${listener.address} -path .well-known/cmp -cert own.pem \
      -key key -trusted root.pem -oldcert own.pem -revreason 6 -reqout rr.der -rspout rp.der`;
    const client = Bun.spawn(['bash', '-c', line], { cwd: directory, stdout: 'pipe', stderr: 'pipe' });
    const said = (await new Response(client.stdout).text()) + (await new Response(client.stderr).text());
    expect({ status: await client.exited, said }).toEqual({ status: 0, said });
    expect(await statusOf(certificate)).toBe('hold');
    const recorded = new Uint8Array(readFileSync(join(directory, 'rr.der')));
    const { records } = await site.store.list('certificate', {
      where: [{ field: 'serialNumber', is: 'equal', value: parseCertificate(certificate).serialNumber }],
      limit: 1,
    });
    await site.gateway.certificates.revoke(site.admin, records[0]!.id, { reason: 'removeFromCRL' });
    await passed(25 * hour);
    expect(await replayed(recorded)).toEqual(['error', 'badTime']);
    expect(await statusOf(certificate)).toBe('good');
  } finally {
    await listener[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true });
  }
}, 60_000);
