import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { macAlgorithm } from '#adapters/wire/cmp/mac.ts';
import { buildPkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { der } from '#core/der/builder.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import {
  CmpClient,
  type CmpCredential,
  cmpServer,
  crmf,
  failureOf,
  ir,
  issued,
  kur,
  passwordBasedMac,
  pbmac1,
} from '#tests/fixtures/cmp-client.ts';
import { httpRequest } from '#tests/fixtures/enrolment.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { processorTime } from '#tests/processor-time.ts';
import { runs } from '#tests/property.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

let site: CmpSite;
let pump: CmpCredential & { reference: string; secret: string };
const key = testKey('p-256', 'pump');
/** Without the certificate that signs responses, which the first of them makes. */
const overCmp = [{ field: 'protocol', is: 'equal', value: 'cmp' }] as const;

beforeAll(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
});
afterAll(() => site[Symbol.asyncDispose]());

const http = (fields: Parameters<typeof httpRequest>[0]) =>
  site.server.mount.handle(
    httpRequest({
      path: '/.well-known/cmp',
      headers: { 'content-type': 'application/pkixcmp' },
      body: Uint8Array.of(0x30, 0),
      ...fields,
    }),
  );

describe('a request that is not a PKIMessage gets no PKIMessage', () => {
  const rows: [what: string, fields: Parameters<typeof httpRequest>[0], status: number][] = [
    ['no DER', { body: Buffer.from('hello') }, 400],
    ['nothing', { body: new Uint8Array() }, 400],
    ['another structure', { body: Uint8Array.of(0x30, 3, 2, 1, 5) }, 400],
    ['another path', { path: '/.well-known/cmp/nothing' }, 404],
    ['another path below', { path: '/.well-known/cmp/p' }, 404],
    ['GET', { method: 'GET' }, 405],
    ['another type', { headers: { 'content-type': 'application/octet-stream' } }, 415],
    ['no type', { headers: {} }, 415],
    ['129 KiB', { body: new Uint8Array(129 * 1024) }, 413],
  ];
  test.each(rows)('%s', async (_, fields, status) => {
    const response = await http(fields);
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toBe('text/plain');
    if (status === 405) expect(response.headers.allow).toBe('POST');
  });

  test('parameters and letter case of the media type are ignored', async () => {
    const body = await site.client(pump).build(ir(crmf(key)));
    const headers = { 'content-type': 'Application/PKIXCMP; charset=x' };
    expect((await http({ headers, body })).status).toBe(200);
  });
});

test('an unsupported version is answered in the nearest supported one (RFC 9810 §7)', async () => {
  const answered = async (pvno: number) =>
    (await site.client(pump).send(ir(crmf(key)), { header: { pvno } })).header.pvno;
  expect(await Promise.all([0, 1, 4, 255].map(answered))).toEqual([2, 2, 3, 3]);
});

describe('an invalid header', () => {
  const rows = [
    ['version 1', { pvno: 1 }, 'unsupportedVersion'],
    ['version 4', { pvno: 4 }, 'unsupportedVersion'],
    ['no transactionID', { transactionID: undefined }, 'badDataFormat'],
    ['an empty transactionID', { transactionID: new Uint8Array() }, 'badDataFormat'],
    ['a long transactionID', { transactionID: new Uint8Array(65) }, 'badDataFormat'],
    ['no senderNonce', { senderNonce: undefined }, 'badSenderNonce'],
    ['a short senderNonce', { senderNonce: new Uint8Array(15) }, 'badSenderNonce'],
    ['no senderKID', { senderKID: undefined }, 'badMessageCheck'],
    ['a senderKID that is no text', { senderKID: Uint8Array.of(0xff) }, 'badMessageCheck'],
    ['the name of nobody', { senderKID: Buffer.from('nobody') }, 'badMessageCheck'],
  ] as const;
  test.each(rows)('%s', async (_what, header, failure) => {
    expect(failureOf(await site.client(pump).send(ir(crmf(key)), { header }))).toBe(failure);
  });
});

describe('an unknown or unauthorized sender', () => {
  test('without protection is rejected in a signed response', async () => {
    const answer = await site.client(pump).send(ir(crmf(key)), { credential: undefined });
    expect(failureOf(answer)).toBe('badMessageCheck');
    expect(answer.extraCerts[0]).toEqual((await site.gateway.protection(undefined)).certificate);
  });

  test('with a wrong secret is rejected', async () => {
    const answer = await site.client({ ...pump, secret: 'wrong' }).send(ir(crmf(key)));
    expect(failureOf(answer)).toBe('badMessageCheck');
  });

  test('is rejected for an unknown domain, an unknown profile, and one that the domain does not offer', async () => {
    const at = async (path: string) => failureOf(await site.client(pump).send(ir(crmf(key)), { path }));
    expect(await at('/p/mars')).toBe('badRequest');
    expect(await at('/p/~nothing')).toBe('badRequest');
    expect(await at('/p/~code_signing')).toBe('notAuthorized');
    expect(await at('/p/default/domain_credential/ir')).toBe('ip');
  });

  test('of another domain is rejected with its secret and with its certificate', async () => {
    const { id } = await site.gateway.domains.create(site.admin, { uniqueName: 'elsewhere' });
    const stranger = await site.cmpDevice('stranger', id);
    const request = ir(crmf(key, { subject: 'CN=stranger' }));
    const refused = await site.client(stranger).send(request);
    expect(failureOf(refused)).toBe('notAuthorized');
    expect(readProtection(refused).kind).toBe('mac');
    const path = '/p/elsewhere';
    const certificate = issued(await site.client(stranger).send(request, { path, implicitConfirm: true }));
    const renewal = kur(crmf(key, { subject: 'CN=stranger' }));
    expect(failureOf(await site.client({ certificate, key }).send(renewal))).toBe('notAuthorized');
    expect(failureOf(await site.client({ certificate, key }).send(renewal, { path }))).toBe('kup');
  });

  test('of another domain without a CA does not learn of the missing CA', async () => {
    await site.gateway.domains.create(site.admin, { uniqueName: 'bare', issuingCa: null });
    expect(failureOf(await site.client(pump).send(ir(crmf(key)), { path: '/p/bare' }))).toBe('notAuthorized');
  });

  test('of a blocked device learns so when it uses its secret, so that it can verify the response', async () => {
    const credential = await site.cmpDevice('blocked');
    const { id } = (await site.store.find('device', { commonName: 'blocked' }))!;
    await site.gateway.devices.block(site.admin, id, { comment: '' });
    const send = (secret: string) => site.client({ ...credential, secret }).send({ type: 'genm', infos: [] });
    const refused = await send(credential.secret);
    expect(failureOf(refused)).toBe('notAuthorized');
    expect(readProtection(refused).kind).toBe('mac');
    const wrong = await send('wrong');
    expect(failureOf(wrong)).toBe('badMessageCheck');
    expect(readProtection(wrong).kind).toBe('signature');
  });

  test('whose configuration does not allow CMP is rejected', async () => {
    const { device } = await site.device('est-only');
    const id = device.noOnboardingConfig!;
    await site.gateway.noOnboardingConfigs.update(site.admin, id, { protocols: ['est'] });
    const { cmpSharedSecret } = await site.gateway.noOnboardingConfigs.read(site.admin, id);
    const credential = { reference: 'est-only', secret: cmpSharedSecret! };
    const answer = await site.client(credential).send(ir(crmf(key, { subject: 'CN=est-only' })));
    expect(failureOf(answer)).toBe('badMessageCheck');
  });

  test("a certificate that is not ours, not the sender's, not sent along, or revoked", async () => {
    const certificate = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const altered = Uint8Array.from(certificate);
    altered[altered.length - 1]! ^= 1;
    const by = async (der: Uint8Array, signer = key) =>
      failureOf(await site.client({ certificate: der, key: signer }).send(kur(crmf(key))));
    expect(await by(altered)).toBe('signerNotTrusted');
    expect(await by(certificate, testKey('p-256', 'thief'))).toBe('badMessageCheck');
    expect(await by(certificate)).toBe('kup');
    const extraCerts: Uint8Array[] = [];
    const without = await site.client({ certificate, key }).send(kur(crmf(key)), { extraCerts });
    expect(failureOf(without)).toBe('badMessageCheck');
    const other = { header: { sender: parseGeneralName('DirName:CN=pump-2') } };
    expect(failureOf(await site.client({ certificate, key }).send(kur(crmf(key)), other))).toBe(
      'badMessageCheck',
    );
    const record = await site.store.find('certificate', {
      serialNumber: parseCertificate(certificate).serialNumber,
    });
    await site.gateway.certificates.revoke(site.admin, record!.id, { reason: 'keyCompromise' });
    expect(await by(certificate)).toBe('signerNotTrusted');
  });

  test('has to wait after many wrong secrets', async () => {
    const victim = await site.cmpDevice('victim');
    const send = async (secret: string) =>
      failureOf(await site.client({ ...victim, secret }).send(ir(crmf(key, { subject: 'CN=victim' }))));
    for (let n = 0; n < 5; n++) expect(await send('wrong')).toBe('badMessageCheck');
    expect(await send(victim.secret)).toBe('systemUnavail');
    site.clock.advance(3_600_000);
    expect(await send(victim.secret)).toBe('ip');
  });
});

describe('an expensive message is rejected before the work', () => {
  const soon = async (run: () => Promise<unknown>): Promise<void> =>
    expect(await processorTime(run)).toBeLessThan(500);

  test.each([
    ['PasswordBasedMac with 100,001 iterations', { ...passwordBasedMac, iterations: 100_001 }],
    ['PasswordBasedMac with 99 iterations', { ...passwordBasedMac, iterations: 99 }],
    ['PBMAC1 with 1,000,001 iterations', { ...pbmac1, iterations: 1_000_001 }],
    ['PasswordBasedMac with 2^31 - 1 iterations', { ...passwordBasedMac, iterations: 2 ** 31 - 1 }],
    ['PBMAC1 with 2^31 - 1 iterations', { ...pbmac1, iterations: 2 ** 31 - 1 }],
  ])('%s', async (_, parameters) => {
    // The message is built without the work that it names.
    const light = await site.client(pump).build(ir(crmf(key)));
    const { header, body } = parsePkiMessage(light);
    const protector = { algorithm: macAlgorithm(parameters), protect: () => new Uint8Array(32) };
    const message = await buildPkiMessage(header, body, { protector });
    const answer = async () => failureOf(parsePkiMessage(await site.client(pump).post(message)));
    await soon(async () => expect(await answer()).toBe('badAlg'));
  });

  test('hundreds of certificate requests, up to the limit of the size', async () => {
    const requests = Array.from({ length: 400 }, () => crmf(key));
    const message = await site.client(pump).build(ir(...requests));
    const answer = async () => failureOf(parsePkiMessage(await site.client(pump).post(message)));
    await soon(async () => expect(await answer()).toBe('badDataFormat'));
  });

  test('two requests where one is allowed', async () => {
    expect(failureOf(await site.client(pump).send(ir(crmf(key), crmf(key))))).toBe('badRequest');
  });

  test('100 KiB of generalInfo', async () => {
    const generalInfo = [{ type: '1.2.3', value: der((b) => b.octetString(new Uint8Array(100 * 1024))) }];
    const body = await site.client(pump).build(ir(crmf(key)), { header: { generalInfo } });
    await soon(async () => expect((await http({ body })).status).toBe(400));
  });

  test('messages nested a hundred levels deep', async () => {
    let message = await site.client(pump).build(ir(crmf(key)));
    for (let n = 0; n < 100; n++) {
      message = await site.client(pump).build({ type: 'nested', messages: [message] });
    }
    const answer = async () => failureOf(parsePkiMessage(await site.client(pump).post(message)));
    await soon(async () => expect(await answer()).toBe('badDataFormat'));
  });
});

describe('one inverted bit', () => {
  test('anywhere in a message with a MAC is rejected, or the message is no PKIMessage', async () => {
    const message = await site.client(pump).build(ir(crmf(key)));
    const before = await site.store.count('certificate', overCmp, 10_000);
    await fc.assert(
      fc.asyncProperty(fc.nat(message.length * 8 - 1), async (bit) => {
        const altered = Uint8Array.from(message);
        altered[bit >> 3]! ^= 0x80 >> (bit & 7);
        const response = await http({ body: altered });
        expect([200, 400]).toContain(response.status);
        if (response.status === 400) return;
        const failure = failureOf(parsePkiMessage(response.body as Uint8Array));
        expect(failure).toMatch(refusals);
        // Wrong references and secrets are counted and throttled, which is not tested here.
        site.clock.advance(3_600_000);
      }),
      runs(300),
    );
    expect(await site.store.count('certificate', overCmp, 10_000)).toBe(before);
  }, 900_000);

  test('anywhere in a signed message is rejected, or the message is no PKIMessage', async () => {
    const certificate = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const message = await site.client({ certificate, key }).build(kur(crmf(key)));
    const before = await site.store.count('certificate', overCmp, 10_000);
    await fc.assert(
      fc.asyncProperty(fc.nat(message.length * 8 - 1), async (bit) => {
        const altered = Uint8Array.from(message);
        altered[bit >> 3]! ^= 0x80 >> (bit & 7);
        const response = await http({ body: altered });
        expect([200, 400]).toContain(response.status);
        if (response.status === 200) {
          expect(failureOf(parsePkiMessage(response.body as Uint8Array))).toMatch(refusals);
        }
      }),
      runs(300),
    );
    expect(await site.store.count('certificate', overCmp, 10_000)).toBe(before);
  }, 900_000);

  const refusals =
    /^(badMessageCheck|badAlg|badDataFormat|badRequest|badSenderNonce|badRecipientNonce|unsupportedVersion|signerNotTrusted|systemUnavail)$/;
});

test('arbitrary octets are answered without an internal error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (body) => {
      expect((await http({ body })).status).toBe(400);
    }),
    runs(300),
  );
  expect(site.server.log.entries).toEqual([]);
});

test('an internal error is logged, and its details are not sent', async () => {
  const gateway = { ...site.gateway, enrol: () => Promise.reject(new Error('a secret of the inside')) };
  const { mount, log } = cmpServer(gateway, site.clock);
  const answer = await new CmpClient(mount, pump).send(ir(crmf(key)));
  expect(failureOf(answer)).toBe('systemFailure');
  expect(Buffer.from(answer.der).includes('secret')).toBeFalse();
  expect(log.entries).toHaveLength(1);
});
