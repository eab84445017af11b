import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl, type RevocationReason, revokedEntries } from '#core/x509/crl.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { invalidityDateExtension, reasonCodeExtension } from '#core/x509/extensions/revocation.ts';
import {
  type CmpCredential,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
  passwordBasedMac,
  pbmac1,
} from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

let site: CmpSite;
let pump: CmpCredential;
let other: CmpCredential;
/** The domain credential of pump-1. */
let owner: CmpCredential;
const key = testKey('p-256', 'pump');

beforeAll(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
  other = await site.cmpDevice('pump-2');
  owner = { certificate: await certificateFor(pump), key };
});
afterAll(() => site[Symbol.asyncDispose]());

async function certificateFor(
  credential: CmpCredential,
  subject = 'CN=pump-1',
  path = '',
): Promise<Uint8Array> {
  const request = cr(crmf(key, { subject }));
  return issued(await site.client(credential).send(request, { path, implicitConfirm: true }));
}

const details = (certificate: Uint8Array, reason?: RevocationReason) => {
  const { issuer, serial } = parseCertificate(certificate);
  return {
    certDetails: parseCertTemplate(buildCertTemplate({ issuer, serial })),
    crlEntryDetails: reason ? [reasonCodeExtension(reason)] : [],
  };
};
const rr = (certificate: Uint8Array, reason?: RevocationReason): PkiBody => ({
  type: 'rr',
  requests: [details(certificate, reason)],
});

const recordOf = async (certificate: Uint8Array) => {
  const record = await site.store.find('certificate', {
    serialNumber: parseCertificate(certificate).serialNumber,
  });
  return record!;
};

describe('the right to revoke', () => {
  let own: Uint8Array;
  let application: Uint8Array;
  beforeAll(async () => {
    own = await certificateFor(pump);
    application = await certificateFor(pump, 'CN=pump-1', '/p/~tls_client');
  });
  const holder = (certificate: Uint8Array): CmpCredential => ({ certificate, key });

  test('is never given by a shared secret (RFC 9483 §4.2)', async () => {
    const certificate = await certificateFor(pump);
    for (const parameters of [passwordBasedMac, pbmac1]) {
      const answer = await site.client({ ...pump, parameters } as CmpCredential).send(rr(certificate));
      expect([answer.body.type, failureOf(answer)]).toEqual(['rp', 'wrongIntegrity']);
      // A sender with the secret can verify the response with it.
      expect(readProtection(answer).kind).toBe('mac');
    }
    expect((await recordOf(certificate)).status).toBe('good');
  });

  test('is given by the domain credential of the device, for its other certificates', async () => {
    const certificate = await certificateFor(pump, 'CN=pump-1', '/p/~tls_client');
    expect(failureOf(await site.client(holder(own)).send(rr(certificate)))).toBe('rp');
  });

  test('is given by a certificate for itself only', async () => {
    const another = await certificateFor(pump, 'CN=pump-1', '/p/~tls_client');
    expect(failureOf(await site.client(holder(application)).send(rr(another)))).toBe('notAuthorized');
    expect(failureOf(await site.client(holder(application)).send(rr(application)))).toBe('rp');
  });

  test('is not given to another device, whatever certificates it sends', async () => {
    const strangers = await certificateFor(other, 'CN=pump-2');
    const extraCerts = [own, strangers];
    for (const options of [{}, { extraCerts }]) {
      expect(failureOf(await site.client(holder(own)).send(rr(strangers), options))).toBe('notAuthorized');
    }
    expect((await recordOf(strangers)).status).toBe('good');
  });

  test('a repeated request gets its response, also when it revoked its own signer', async () => {
    const certificate = await certificateFor(pump);
    const client = site.client(holder(certificate));
    const answer = await client.send(rr(certificate, 'keyCompromise'));
    expect(failureOf(answer)).toBe('rp');
    expect(await client.post(client.sent)).toEqual(answer.der);
    expect(failureOf(await client.fresh().send(rr(certificate)))).toBe('signerNotTrusted');
  });
});

describe('reasons', () => {
  const reasons: RevocationReason[] = [
    'unspecified',
    'keyCompromise',
    'cACompromise',
    'affiliationChanged',
    'superseded',
    'cessationOfOperation',
    'privilegeWithdrawn',
    'aACompromise',
  ];
  test.each(reasons)('%s is recorded and in the CRL', async (reason) => {
    const certificate = await certificateFor(pump);
    expect(failureOf(await site.client(owner).send(rr(certificate, reason)))).toBe('rp');
    const record = await recordOf(certificate);
    expect([record.status, record.revocationReason]).toEqual(['revoked', reason]);
    const crl = parseCrl(await site.gateway.crl(record.ca));
    const { serial } = parseCertificate(certificate);
    const entry = [...revokedEntries(crl)].find((one) => Buffer.compare(one.serial, serial) === 0);
    expect(entry?.reason ?? 'unspecified').toBe(reason);
  });

  test('hold and release', async () => {
    const certificate = await certificateFor(pump);
    const send = async (reason: RevocationReason) =>
      failureOf(await site.client(owner).send(rr(certificate, reason)));
    expect(await send('removeFromCRL')).toBe('badRequest');
    expect(await send('certificateHold')).toBe('rp');
    expect((await recordOf(certificate)).status).toBe('hold');
    expect(await send('removeFromCRL')).toBe('rp');
    expect((await recordOf(certificate)).status).toBe('good');
    expect(await send('superseded')).toBe('rp');
    expect(await send('superseded')).toBe('certRevoked');
    expect(await send('removeFromCRL')).toBe('badRequest');
  });

  test('an invalidity date is recorded, and rejected if it is in the future', async () => {
    const certificate = await certificateFor(pump);
    const send = async (date: number) => {
      const extensions = [reasonCodeExtension('keyCompromise'), invalidityDateExtension(date)];
      const entry = { ...details(certificate), crlEntryDetails: extensions };
      return failureOf(await site.client(owner).send({ type: 'rr', requests: [entry] }));
    };
    const hourAgo = Math.floor(site.clock.now() / 1000) * 1000 - 3_600_000;
    expect(await send(site.clock.now() + 60_000)).toBe('badDataFormat');
    expect(await send(hourAgo)).toBe('rp');
    expect((await recordOf(certificate)).invalidityDate).toBe(hourAgo);
  });
});

test('several certificates are answered in the order of the request', async () => {
  const certificates = [await certificateFor(pump), await certificateFor(other, 'CN=pump-2')];
  certificates.push(await certificateFor(pump));
  const unknown = buildCertTemplate({
    issuer: parseCertificate(certificates[0]!).issuer,
    serial: Uint8Array.of(9),
  });
  const requests = [
    ...certificates.map((certificate) => details(certificate, 'superseded')),
    details(certificates[0]!),
    { certDetails: parseCertTemplate(unknown), crlEntryDetails: [] },
  ];
  const { body } = await site.client(owner).send({ type: 'rr', requests });
  if (body.type !== 'rp') throw new Error(body.type);
  expect(body.statuses.map(({ status, failInfo }) => failInfo?.join() ?? status)).toEqual([
    'accepted',
    'notAuthorized',
    'accepted',
    'certRevoked',
    'badCertId',
  ]);
  const states = await Promise.all(certificates.map(async (one) => (await recordOf(one)).status));
  expect(states).toEqual(['revoked', 'good', 'revoked']);
  const refused = await site.audit('certificate.revoke');
  expect(refused.filter(({ outcome }) => outcome === 'refused').length).toBeGreaterThan(2);
});

test('a request without a complete certificate identifier is rejected', async () => {
  expect(failureOf(await site.client(owner).send({ type: 'rr', requests: [] }))).toBe('badRequest');
  const certDetails = parseCertTemplate(buildCertTemplate({ serial: Uint8Array.of(1) }));
  const answer = await site
    .client(owner)
    .send({ type: 'rr', requests: [{ certDetails, crlEntryDetails: [] }] });
  expect(failureOf(answer)).toBe('addInfoNotAvailable');
});

test('a certificate can be revoked before its confirmation, which then has no effect', async () => {
  const client = site.client(pump);
  const certificate = issued(await client.send(ir(crmf(key))));
  expect(failureOf(await site.client(owner).send(rr(certificate, 'superseded')))).toBe('rp');
  site.clock.advance(600_001);
  await site.gateway.maintain('test');
  expect((await recordOf(certificate)).revocationReason).toBe('superseded');
});
