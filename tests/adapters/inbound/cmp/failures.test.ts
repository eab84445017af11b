import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { type PkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { der } from '#core/der/builder.ts';
import { DerReader } from '#core/der/reader.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { type CertTemplate, parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import {
  type CmpClient,
  type CmpCredential,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
  kur,
} from '#tests/fixtures/cmp-client.ts';
import { request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

// RFC 9483 §3.5 and §3.6: an error in the body of a request is reported in the matching response (ip, cp, kup
// or rp). Errors in header, protection or transaction, and in any other body, are reported in an error message.

let site: CmpSite;
let pump: CmpCredential;
let holder: CmpCredential & { certificate: Uint8Array };
const key = testKey('p-256', 'pump');

beforeAll(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
  holder = { certificate: await enrolled(), key };
});
afterAll(() => site[Symbol.asyncDispose]());

const enrolled = async (): Promise<Uint8Array> =>
  issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));

/** Returns a message with fields removed or added. */
function altered(message: Uint8Array, change: (fields: Uint8Array[]) => Uint8Array[]): Uint8Array {
  const fields = new DerReader(message).sequence();
  const parts: Uint8Array[] = [];
  while (!fields.empty) parts.push(fields.element());
  return der((b) => b.sequence((s) => change(parts).reduce((all, part) => all.raw(part), s)));
}
/** PKIMessage.protection and PKIHeader.protectionAlg. */
const isProtection = (field: Uint8Array): boolean => field[0] === contextConstructed(0);
const isProtectionAlg = (field: Uint8Array): boolean => field[0] === contextConstructed(1);
const withoutProtection = (message: Uint8Array): Uint8Array =>
  altered(message, (fields) => fields.filter((field, n) => n < 2 || !isProtection(field)));
const withoutProtectionAlg = (message: Uint8Array): Uint8Array =>
  altered(message, ([header, ...rest]) => [
    altered(header!, (fields) => fields.filter((field) => !isProtectionAlg(field))),
    ...rest,
  ]);

/** Sends octets in place of the client's message; checks that the response is protected. */
async function sendOctets(client: CmpClient, octets: Uint8Array): Promise<PkiMessage> {
  const answer = parsePkiMessage(await client.post(octets));
  await client.check(answer);
  return answer;
}

type Row = readonly [what: string, send: () => Promise<PkiMessage>, body: PkiBody['type'], failInfo: string];

const check = async (_: string, send: () => Promise<PkiMessage>, body: string, failInfo: string) => {
  const answer = await send();
  expect([answer.body.type, failureOf(answer)]).toEqual([body, failInfo] as never);
};

describe('header, protection and transaction', () => {
  const by = (credential: () => CmpCredential | undefined) => async () =>
    site.client(holder).send(ir(crmf(key)), { credential: credential() });
  const header = (fields: object) => () => site.client(pump).send(ir(crmf(key)), { header: fields });
  const changed =
    (change: (message: Uint8Array) => Uint8Array, credential: () => CmpCredential) => async () => {
      const client = site.client(holder);
      return sendOctets(client, change(await client.build(ir(crmf(key)), { credential: credential() })));
    };
  const rows: readonly Row[] = [
    ['pvno 1', header({ pvno: 1 }), 'error', 'unsupportedVersion'],
    ['no transactionID', header({ transactionID: undefined }), 'error', 'badDataFormat'],
    ['a short senderNonce', header({ senderNonce: new Uint8Array(15) }), 'error', 'badSenderNonce'],
    ['a first recipNonce', header({ recipNonce: new Uint8Array(16) }), 'error', 'badRecipientNonce'],
    ['no protection', by(() => undefined), 'error', 'badMessageCheck'],
    ['a MAC without protectionAlg', changed(withoutProtectionAlg, () => pump), 'error', 'badMessageCheck'],
    [
      'a signature without protectionAlg',
      changed(withoutProtectionAlg, () => holder),
      'error',
      'badMessageCheck',
    ],
    ['protectionAlg of a MAC alone', changed(withoutProtection, () => pump), 'error', 'badMessageCheck'],
    [
      'protectionAlg of a signature alone',
      changed(withoutProtection, () => holder),
      'error',
      'badMessageCheck',
    ],
    ['a wrong MAC', by(() => ({ ...pump, secret: 'wrong' }) as CmpCredential), 'error', 'badMessageCheck'],
    ['a wrong signature', by(() => ({ ...holder, key: testKey('p-256', 'x') })), 'error', 'badMessageCheck'],
    [
      'a sender that is not the signer',
      () =>
        site.client(holder).send(ir(crmf(key)), {
          header: { sender: { kind: 'directory', value: parseDistinguishedName('CN=x') } },
        }),
      'error',
      'badMessageCheck',
    ],
    [
      'a transactionID that has been used',
      async () => {
        const client = site.client(pump);
        await client.send(ir(crmf(key)), { implicitConfirm: true });
        client.nonce = undefined;
        return client.send(ir(crmf(testKey('p-256', 'other'))));
      },
      'error',
      'transactionIdInUse',
    ],
    [
      'a request at the path of another',
      () => site.client(pump).send(ir(crmf(key)), { path: '/kur' }),
      'error',
      'badRequest',
    ],
    ['a device that is not of the domain', () => unknownDomain(), 'error', 'badRequest'],
  ];
  const unknownDomain = () => site.client(pump).send(ir(crmf(key)), { path: '/p/mars' });
  test.each(rows)('%s', check);
});

describe('certificate requests', () => {
  const bad = Uint8Array.of(0x30, 3, 2, 1, 5);
  const types = { ir: 'ip', cr: 'cp', kur: 'kup' } as const;
  const keyless = (algorithm: string) =>
    buildCertReqMsg(
      buildCertRequest(
        0,
        buildCertTemplate({
          subject: parseDistinguishedName('CN=pump-1'),
          spki: der((b) =>
            b.sequence((s) => s.sequence((a) => a.oid(algorithm)).bitString(new Uint8Array())),
          ),
        }),
      ),
      { kind: 'none' },
    );
  const signed =
    (body: PkiBody, path = '') =>
    () =>
      site.client(holder).send(body, { path });
  const unproven = (type: keyof typeof types): PkiBody => ({
    type,
    requests: [crmf(key, { proof: { kind: 'raVerified' } })],
  });
  const rows: readonly Row[] = [
    ...(Object.keys(types) as (keyof typeof types)[]).flatMap((type): Row[] => [
      [`${type} that cannot be read`, signed({ type, requests: [bad] }), types[type], 'badDataFormat'],
      [`${type} without a request`, signed({ type, requests: [] }), types[type], 'badDataFormat'],
      [`${type} with two`, signed({ type, requests: [crmf(key), crmf(key)] }), types[type], 'badRequest'],
      [`${type} without proof of possession`, signed(unproven(type)), types[type], 'badPOP'],
      [
        `${type} for the name of another`,
        signed({ type, requests: [crmf(key, { subject: 'CN=other' })] }),
        types[type],
        'badCertTemplate',
      ],
    ]),
    ['p10cr that cannot be read', signed({ type: 'p10cr', request: bad }), 'cp', 'badDataFormat'],
    [
      'p10cr for the name of another',
      () => site.client(pump).send({ type: 'p10cr', request: request(key, 'CN=other') }),
      'cp',
      'badCertTemplate',
    ],
    [
      'a key of a kind that is not made',
      () => site.client(pump).send(cr(keyless('1.3.101.113'))),
      'cp',
      'badAlg',
    ],
    [
      'a profile that is not for the domain',
      signed(cr(crmf(key)), '/p/~code_signing'),
      'cp',
      'notAuthorized',
    ],
    ['kur under a MAC', () => site.client(pump).send(kur(crmf(key))), 'kup', 'wrongIntegrity'],
  ];
  test.each(rows)('%s', check);

  test('an unreadable request is answered with its certReqId if it is the only one, or with that of PKCS#10', async () => {
    const idOf = ({ body }: PkiMessage) =>
      'responses' in body && body.type !== 'popdecr' ? body.responses[0]?.certReqId : undefined;
    expect(idOf(await signed({ type: 'ir', requests: [bad] })())).toBe(0);
    expect(idOf(await signed({ type: 'p10cr', request: bad })())).toBe(-1);
  });
});

describe('revocation requests', () => {
  let certificate: Uint8Array;
  beforeAll(async () => {
    certificate = await enrolled();
  });
  const rr =
    (change: (template: Partial<CertTemplate>) => Partial<CertTemplate>, reason?: Uint8Array) => () => {
      const { issuer, serial } = parseCertificate(certificate);
      const certDetails = parseCertTemplate(buildCertTemplate(change({ issuer, serial })));
      const crlEntryDetails = reason ? [{ oid: oid.reasonCode, critical: false, value: reason }] : [];
      return site.client(holder).send({ type: 'rr', requests: [{ certDetails, crlEntryDetails }] });
    };
  const said = (more: Partial<CertTemplate>) => rr((template) => ({ ...template, ...more }));
  const own = () => parseCertificate(certificate);
  const rows: readonly Row[] = [
    ['a number that was never given', rr((t) => ({ ...t, serial: Uint8Array.of(9) })), 'rp', 'badCertId'],
    ['no issuer', rr(({ serial }) => ({ serial })), 'rp', 'addInfoNotAvailable'],
    ['no serial number', rr(({ issuer }) => ({ issuer })), 'rp', 'addInfoNotAvailable'],
    ['another version', said({ version: 0 }), 'rp', 'badCertId'],
    ['another subject', said({ subject: parseDistinguishedName('CN=pump-2') }), 'rp', 'badCertId'],
    ['another key', said({ spki: testKey('p-256', 'other').publicKey.spki }), 'rp', 'badCertId'],
    [
      'another validity',
      () => said({ validity: { notBefore: undefined, notAfter: own().notAfter + 1000 } })(),
      'rp',
      'badCertId',
    ],
    ['another extension', said({ extensions: [keyUsageExtension(['cRLSign'])] }), 'rp', 'badCertId'],
    [
      'another algorithm',
      said({ signingAlg: der((b) => b.sequence((s) => s.oid(oid.ed25519))) }),
      'rp',
      'badCertId',
    ],
    ['an unknown reason', rr((t) => t, Uint8Array.of(0x0a, 1, 99)), 'rp', 'badDataFormat'],
    [
      'no certificate at all',
      () => site.client(holder).send({ type: 'rr', requests: [] }),
      'rp',
      'badRequest',
    ],
    [
      'a MAC',
      async () => {
        const { issuer, serial } = own();
        const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
        return site.client(pump).send({ type: 'rr', requests: [{ certDetails, crlEntryDetails: [] }] });
      },
      'rp',
      'wrongIntegrity',
    ],
  ];
  test.each(rows)('%s', check);

  test('the status of a certificate may be repeated; the second request finds it revoked', async () => {
    const { version, subject, spki, extensions, notBefore, notAfter } = own();
    const validity = { notBefore, notAfter };
    const whole = said({ version: version - 1, subject, spki, extensions, validity });
    expect(failureOf(await whole())).toBe('rp');
    expect(failureOf(await whole())).toBe('certRevoked');
  });
});

describe('messages that continue a transaction', () => {
  const status = (certificate: Uint8Array, statusInfo?: PkiStatusInfo, certReqId = 0) => ({
    certHash: hash('sha256', certificate, 'buffer'),
    certReqId,
    statusInfo,
  });
  type Statuses = Extract<PkiBody, { type: 'certConf' }>['statuses'];
  const confirming =
    (statuses: (certificate: Uint8Array) => Statuses, wait = 0) =>
    async () => {
      const client = site.client(pump);
      const certificate = issued(await client.send(ir(crmf(key))));
      site.clock.advance(wait);
      return client.send({ type: 'certConf', statuses: statuses(certificate) });
    };
  const info = (statusInfo: PkiStatusInfo) => confirming((one) => [status(one, statusInfo)]);
  const rows: readonly Row[] = [
    ['certConf: waiting', info({ status: 'waiting' }), 'error', 'badRequest'],
    ['certConf: grantedWithMods', info({ status: 'grantedWithMods' }), 'error', 'badRequest'],
    [
      'certConf: accepted, with a failure',
      info({ status: 'accepted', failInfo: ['badCertTemplate'] }),
      'error',
      'badRequest',
    ],
    ['certConf: accepted', info({ status: 'accepted' }), 'pkiConf', 'pkiConf'],
    [
      'certConf: rejected, with a failure',
      info({ status: 'rejection', failInfo: ['badCertTemplate'] }),
      'pkiConf',
      'pkiConf',
    ],
    ['certConf of two', confirming((one) => [status(one), status(one)]), 'error', 'badRequest'],
    [
      'certConf of another certReqId',
      confirming((one) => [status(one, undefined, 1)]),
      'error',
      'badRequest',
    ],
    ['certConf of another certificate', confirming(() => [status(holder.certificate)]), 'error', 'badCertId'],
    ['certConf in time', confirming((one) => [status(one)], 600_000), 'pkiConf', 'pkiConf'],
    ['certConf too late', confirming((one) => [status(one)], 600_001), 'error', 'badRequest'],
    [
      'pollReq where nothing waits',
      async () => {
        const client = site.client(pump);
        await client.send(ir(crmf(key)));
        return client.send({ type: 'pollReq', certReqIds: [0] });
      },
      'error',
      'badRequest',
    ],
    ['nested', () => site.client(pump).send({ type: 'nested', messages: [] }), 'error', 'badDataFormat'],
    [
      'genm at the path of another question',
      () =>
        site
          .client(holder)
          .send({ type: 'genm', infos: [{ type: infoTypes.caCerts.oid }] }, { path: '/getcrls' }),
      'error',
      'badRequest',
    ],
    ['krr', () => site.client(holder).send({ type: 'krr', requests: [crmf(key)] }), 'error', 'badRequest'],
  ];
  test.each(rows)('%s', check);

  test('a late confirmation does not prevent the revocation of the certificate', async () => {
    const client = site.client(pump);
    const certificate = issued(await client.send(ir(crmf(key))));
    site.clock.advance(600_001);
    const statuses = [status(certificate)];
    expect(failureOf(await client.send({ type: 'certConf', statuses }))).toBe('badRequest');
    await site.gateway.maintain('test');
    const { serialNumber } = parseCertificate(certificate);
    expect((await site.store.find('certificate', { serialNumber }))?.status).toBe('revoked');
  });

  test.each([
    { type: 'certConf', statuses: [] },
    { type: 'pollReq', certReqIds: [0] },
    { type: 'error', status: { status: 'rejection' } },
  ] as const)('$type of an unknown transaction is rejected as such', async (body) => {
    const answer = await site.client(pump).send(body);
    if (answer.body.type !== 'error') throw new Error(answer.body.type);
    expect(answer.body.status.failInfo).toEqual(['badRequest']);
    expect(answer.body.status.statusString?.join()).toStartWith(
      'there is no transaction with this transactionID',
    );
  });
});
