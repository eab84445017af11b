import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { type PkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import type { PkiStatus } from '#adapters/wire/cmp/status.ts';
import { findValue, hasValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import { extendedKeyUsageExtension } from '#core/x509/extensions/usage.ts';
import { formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import {
  CmpClient,
  type CmpCredential,
  type CrmfFields,
  cmpServer,
  cr,
  crmf,
  failureOf,
  ir,
  issued,
  kur,
  passwordBasedMac,
  pbmac1,
} from '#tests/fixtures/cmp-client.ts';
import { type Installation, installation, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

let site: Installation;
let server: ReturnType<typeof cmpServer>;
let mac: CmpCredential & { reference: string };
const key = testKey('p-256', 'pump');

/** A device and its shared secret. */
async function device(name: string, domain?: number) {
  const { device: record } = await site.device(name, domain);
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, record.noOnboardingConfig!);
  return { record, credential: { reference: name, secret: config.cmpSharedSecret! } };
}

const client = (credential: CmpCredential = mac) => new CmpClient(server.mount, credential);

/** Enrols pump-1 with implicit confirmation. */
const certificateBy = async (credential: CmpCredential, path = '') =>
  issued(await client(credential).send(cr(crmf(key)), { path, implicitConfirm: true }));

beforeAll(async () => {
  site = await installation();
  server = cmpServer(site.gateway, site.clock);
  mac = (await device('pump-1')).credential;
});
afterAll(() => site[Symbol.asyncDispose]());

describe('a certificate requested with a shared secret', () => {
  test.each([
    ['PasswordBasedMac', passwordBasedMac],
    ['PasswordBasedMac with HMAC-SHA1, as OpenSSL has it', { ...passwordBasedMac, mac: 'sha1' } as const],
    ['PBMAC1', pbmac1],
    ['PBMAC1 with SHA-512', { ...pbmac1, prf: 'sha512', mac: 'sha512' } as const],
  ])('%s', async (_, parameters) => {
    const answer = await client({ ...mac, parameters } as CmpCredential).send(ir(crmf(key)));
    const certificate = parseCertificate(issued(answer));
    expect(formatDistinguishedName(certificate.subject)).toBe('CN=pump-1');
  });

  test('comes with the root as trust anchor and the issuing CA', async () => {
    const answer = await client().send(ir(crmf(key)));
    const chain = await site.gateway.caCertificates(undefined);
    expect(answer.body.type === 'ip' && answer.body.caPubs).toEqual([chain[1]!]);
    expect(answer.extraCerts).toEqual([chain[0]!]);
  });

  test('is issued for the number of a device in place of its name', async () => {
    const { record, credential } = await device('numbered');
    const numbered = { ...credential, reference: String(record.id) };
    const answer = await client(numbered).send(ir(crmf(key, { subject: 'CN=numbered' })));
    expect(issued(answer).length).toBeGreaterThan(300);
  });

  test('is protected by a new salt and nonce in each response', async () => {
    const answers = [await client().send(ir(crmf(key))), await client().send(ir(crmf(key)))];
    const [first, second] = answers.map(({ header }) => header) as [
      PkiMessage['header'],
      PkiMessage['header'],
    ];
    expect(first.protectionAlg).not.toEqual(second.protectionAlg);
    expect(first.senderNonce).not.toEqual(second.senderNonce);
  });

  test('requested by p10cr has certReqId -1', async () => {
    const answer = await client().send({ type: 'p10cr', request: request(key, 'CN=pump-1') });
    expect(answer.body.type === 'cp' && answer.body.responses[0]?.certReqId).toBe(-1);
  });

  test('has the certReqId of the request', async () => {
    const answer = await client().send(cr(crmf(key, { certReqId: 77 })));
    expect(answer.body.type === 'cp' && answer.body.responses[0]?.certReqId).toBe(77);
  });

  test('is grantedWithMods when the profile omits a requested value', async () => {
    const status = async (extensions: readonly Extension[]) => {
      const answer = await client().send(cr(crmf(key, { extensions })));
      return answer.body.type === 'cp' && answer.body.responses[0]?.status.status;
    };
    expect(await status([])).toBe('accepted');
    expect(await status([extendedKeyUsageExtension([oid.clientAuth])])).toBe('accepted');
    expect(await status([extendedKeyUsageExtension([oid.serverAuth])])).toBe('grantedWithMods');
  });

  test('is grantedWithMods when the CA decides a value, unless it is the requested one', async () => {
    const send = (wishes: CrmfFields['wishes'] = {}) => client().send(cr(crmf(key, { wishes })));
    const { issuer, notBefore, notAfter } = parseCertificate(issued(await send()));
    const rows: readonly [wishes: CrmfFields['wishes'], status: PkiStatus][] = [
      [{ issuer }, 'accepted'],
      [{ issuer: parseDistinguishedName('CN=another') }, 'grantedWithMods'],
      [{ validity: { notBefore: undefined, notAfter } }, 'accepted'],
      [{ validity: { notBefore: undefined, notAfter: notAfter - 1000 } }, 'grantedWithMods'],
      [{ validity: { notBefore: notBefore - 1000, notAfter: undefined } }, 'grantedWithMods'],
      [{ serial: Uint8Array.of(1) }, 'grantedWithMods'],
    ];
    for (const [wishes, status] of rows) {
      const { body } = await send(wishes);
      expect(body.type === 'cp' && body.responses[0]?.status.status).toBe(status);
    }
  });

  test('is issued from the profile named by certProfile in generalInfo', async () => {
    const header = { generalInfo: [typedValue(infoTypes.certProfile, ['tls_client'])] };
    expect(issued(await client().send(cr(crmf(key)), { header })).length).toBeGreaterThan(300);
    const { records } = await site.gateway.certificates.list(site.admin, { limit: 1 });
    const { records: profiles } = await site.gateway.profiles.list(site.admin, {
      where: [{ field: 'uniqueName', is: 'equal', value: 'tls_client' }],
      limit: 1,
    });
    expect(records[0]!.profile).toBe(profiles[0]!.id);
    const path = '/p/~tls_server';
    expect(failureOf(await client().send(cr(crmf(key)), { header, path }))).toBe('badRequest');
    const several = { generalInfo: [typedValue(infoTypes.certProfile, ['tls_client', 'tls_server'])] };
    const { body } = await client().send(cr(crmf(key)), { header: several });
    expect(body.type === 'error' && body.status.statusString).toEqual(['certProfile names several profiles']);
  });
});

describe('a certificate requested with a certificate', () => {
  let holder: CmpCredential;
  beforeAll(async () => {
    holder = { certificate: await certificateBy(mac), key };
  });

  test("is an application certificate for a domain credential; the domain's credential signs the response", async () => {
    const answer = await client(holder).send(cr(crmf(key)), { path: '/p/~tls_client' });
    expect(issued(answer).length).toBeGreaterThan(300);
    const protection = await site.gateway.protection(undefined);
    expect(answer.extraCerts[0]).toEqual(protection.certificate);
    expect(answer.header.sender).toEqual({
      kind: 'directory',
      value: parseCertificate(protection.certificate).subject,
    });
    expect(answer.body.type === 'cp' && answer.body.caPubs).toEqual([]);
  });

  test.each(['rsa-2048', 'p-384', 'p-521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65'] as const)(
    'kur to a key of %s, and a next kur signed by it',
    async (type) => {
      const next = testKey(type, 'next');
      const renewed = issued(await client(holder).send(kur(crmf(next)), { implicitConfirm: true }));
      const own = { certificate: renewed, key: next };
      const again = issued(await client(own).send(kur(crmf(key, { renews: renewed }))));
      expect(parseCertificate(again).spki).toEqual(key.publicKey.spki);
    },
    20_000,
  );

  test('has an oldCertId that must name the certificate of the sender', async () => {
    const { certificate } = holder as { certificate: Uint8Array };
    expect(failureOf(await client(holder).send(kur(crmf(key, { renews: certificate }))))).toBe('kup');
    const other = await certificateBy(mac);
    expect(failureOf(await client(holder).send(kur(crmf(key, { renews: other }))))).toBe('notAuthorized');
  });

  test('kur with a shared secret is rejected', async () => {
    const answer = await client().send(kur(crmf(key)));
    expect([answer.body.type, failureOf(answer)]).toEqual(['kup', 'wrongIntegrity']);
  });

  test('kur for other names is rejected', async () => {
    const other = await device('pump-2');
    expect(other.record.id).toBeGreaterThan(0);
    expect(failureOf(await client(holder).send(kur(crmf(key, { subject: 'CN=pump-2' }))))).toBe(
      'badCertTemplate',
    );
  });
});

describe('proof of possession', () => {
  const wrong = testKey('p-256', 'wrong');
  const signature = wrong.sign('ecdsa-sha256', Buffer.from('another request'));
  const rows = [
    ['none', { kind: 'none' }],
    ['raVerified by who is no registration authority', { kind: 'raVerified' }],
    ['a signature of another', { kind: 'signature', algorithm: 'ecdsa-sha256', signature }],
    [
      'encryption of the certificate',
      { kind: 'keyEncipherment', method: 'subsequentMessage', value: Uint8Array.of(0) },
    ],
  ] as const;
  test.each(rows)('%s gives badPOP', async (_, proof) => {
    expect(failureOf(await client().send(ir(crmf(key, { proof }))))).toBe('badPOP');
  });

  test('an invalid signature of a PKCS#10 request gives badPOP', async () => {
    const der = Uint8Array.from(request(key, 'CN=pump-1'));
    der[der.length - 1]! ^= 1;
    expect(failureOf(await client().send({ type: 'p10cr', request: der }))).toBe('badPOP');
  });
});

describe('confirmation', () => {
  const statusOf = async (certificate: Uint8Array) => {
    const { serialNumber } = parseCertificate(certificate);
    const record = await site.store.find('certificate', { serialNumber });
    return [record?.status, record?.revocationReason];
  };
  const certHash = (certificate: Uint8Array, algorithm = 'sha256') => hash(algorithm, certificate, 'buffer');
  const stateOf = async ({ transactionID }: CmpClient) =>
    (await site.store.find('transaction', { name: Buffer.from(transactionID).toString('hex').toUpperCase() }))
      ?.state;

  test('is implicit on request; otherwise the response has the time until which it is expected', async () => {
    const implicit = await client().send(ir(crmf(key)), { implicitConfirm: true });
    expect(hasValue(implicit.header.generalInfo, infoTypes.implicitConfirm)).toBeTrue();
    const explicit = await client().send(ir(crmf(key)));
    expect(hasValue(explicit.header.generalInfo, infoTypes.implicitConfirm)).toBeFalse();
    expect(findValue(explicit.header.generalInfo, infoTypes.confirmWaitTime)).toBe(
      Math.floor((site.clock.now() + 600_000) / 1000) * 1000,
    );
  });

  test('by certConf with the hash of the certificate is answered with pkiConf', async () => {
    const device = client();
    const certificate = issued(await device.send(ir(crmf(key))));
    expect(await stateOf(device)).toBe('waiting');
    const status = { certHash: certHash(certificate), certReqId: 0 };
    expect((await device.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
    expect(await stateOf(device)).toBe('done');
    expect(await statusOf(certificate)).toEqual(['good', null]);
    expect((await site.audit('certificate.confirm')).length).toBeGreaterThan(0);
  });

  test.each(['sha384', 'sha512'] as const)(
    'uses the hash algorithm %s if the message says so',
    async (algorithm) => {
      const device = client();
      const certificate = issued(await device.send(ir(crmf(key))));
      const identifiers = { sha384: '300b0609608648016503040202', sha512: '300b0609608648016503040203' };
      const hashAlg = Uint8Array.from(Buffer.from(identifiers[algorithm], 'hex'));
      const status = { certHash: certHash(certificate, algorithm), certReqId: 0, hashAlg };
      expect((await device.send({ type: 'certConf', statuses: [status] })).body.type).toBe('pkiConf');
    },
  );

  test('that rejects, is empty or is an error message revokes the certificate', async () => {
    for (const body of [
      (hashed: Uint8Array) =>
        ({
          type: 'certConf',
          statuses: [{ certHash: hashed, certReqId: 0, statusInfo: { status: 'rejection' } }],
        }) as const,
      () => ({ type: 'certConf', statuses: [] }) as const,
      () => ({ type: 'error', status: { status: 'rejection' } }) as const,
    ]) {
      const device = client();
      const certificate = issued(await device.send(ir(crmf(key))));
      expect((await device.send(body(certHash(certificate)))).body.type).toBe('pkiConf');
      expect(await stateOf(device)).toBe('rejected');
      expect(await statusOf(certificate)).toEqual(['revoked', 'cessationOfOperation']);
    }
  });

  test('with a wrong hash, certReqId, nonce or sender is rejected, and so is a second one', async () => {
    const device = client();
    const certificate = issued(await device.send(ir(crmf(key))));
    const statuses = [{ certHash: certHash(certificate), certReqId: 0 }];
    const confirmation = { type: 'certConf', statuses } as const;
    const wrongHash = {
      type: 'certConf',
      statuses: [{ certHash: new Uint8Array(32), certReqId: 0 }],
    } as const;
    const wrongId = { type: 'certConf', statuses: [{ ...statuses[0]!, certReqId: 1 }] } as const;
    const { nonce } = device;
    const attempt = async (body: PkiBody, options = {}) => {
      device.nonce = nonce;
      return failureOf(await device.send(body, options));
    };
    expect(await attempt(wrongHash)).toBe('badCertId');
    expect(await attempt(wrongId)).toBe('badRequest');
    expect(await attempt(confirmation, { header: { recipNonce: new Uint8Array(16) } })).toBe(
      'badRecipientNonce',
    );
    expect(await attempt(confirmation, { header: { recipNonce: undefined } })).toBe('badRecipientNonce');
    expect(await attempt(confirmation, { credential: { certificate, key } })).toBe('notAuthorized');
    expect(await stateOf(device)).toBe('waiting');
    expect(await attempt(confirmation)).toBe('pkiConf');
    expect(failureOf(await device.send(confirmation))).toBe('certConfirmed');
    const stranger = client();
    expect(failureOf(await stranger.send(confirmation))).toBe('badRequest');
  });

  test('that does not arrive in time revokes the certificate, and the transaction is deleted a day later', async () => {
    const device = client();
    const certificate = issued(
      await device.send(ir(crmf(key)), { header: { messageTime: site.clock.now() } }),
    );
    await site.gateway.maintain('test');
    expect(await statusOf(certificate)).toEqual(['good', null]);
    site.clock.advance(600_001);
    await site.gateway.maintain('test');
    expect(await statusOf(certificate)).toEqual(['revoked', 'cessationOfOperation']);
    expect(await stateOf(device)).toBe('expired');
    const statuses = [{ certHash: certHash(certificate), certReqId: 0 }];
    expect(failureOf(await device.send({ type: 'certConf', statuses }))).toBe('badRequest');
    site.clock.advance(25 * 3_600_000);
    await site.gateway.maintain('test');
    expect(await stateOf(device)).toBeUndefined();
  });
});

describe('repeated and replayed messages', () => {
  const transactionOf = ({ transactionID }: CmpClient) =>
    site.store.find('transaction', { name: Buffer.from(transactionID).toString('hex').toUpperCase() });

  test('get the same response and no second certificate when they are equal', async () => {
    const device = client();
    const first = await device.send(ir(crmf(key)), { implicitConfirm: true });
    expect(first.extraCerts).not.toBeEmpty();
    const count = () => site.store.count('certificate', [], 10_000);
    const before = await count();
    expect(await device.post(device.sent)).toEqual(first.der);
    expect(await device.post(device.sent)).toEqual(first.der);
    expect(await count()).toBe(before);
  });

  test('with a MAC have the response stored without its chain', async () => {
    const device = client();
    const { headerDer, bodyDer, protection } = await device.send(ir(crmf(key)), { implicitConfirm: true });
    const { openingAnswer } = (await transactionOf(device))!;
    const kept = parsePkiMessage(openingAnswer);
    expect(kept).toMatchObject({ headerDer, bodyDer, protection, extraCerts: [] });
    await device.check(kept);
  });

  test('of a transaction that an earlier version stored completely get the stored response', async () => {
    const device = client();
    const first = await device.send(ir(crmf(key)), { implicitConfirm: true });
    const { id } = (await transactionOf(device))!;
    const set = { openingAnswer: first.der };
    await site.store.commit([{ op: 'update', kind: 'transaction', id, set }]);
    expect(await device.post(device.sent)).toEqual(first.der);
  });

  test('of type certConf get the same pkiConf', async () => {
    const device = client();
    const certificate = issued(await device.send(ir(crmf(key))));
    const statuses = [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }];
    await device.send({ type: 'certConf', statuses });
    expect(await device.post(device.sent)).toEqual(await device.post(device.sent));
  });

  test('with the transactionID of another message are rejected from any sender', async () => {
    const device = client();
    await device.send(ir(crmf(key)), { implicitConfirm: true });
    device.nonce = undefined;
    expect(failureOf(await device.send(ir(crmf(key))))).toBe('transactionIdInUse');
    const other = client((await device2()).credential);
    other.transactionID = device.transactionID;
    expect(failureOf(await other.send(ir(crmf(key))))).toBe('transactionIdInUse');
  });
  const device2 = () => device(`other-${Math.random()}`);

  test('one of two concurrent messages with one transactionID succeeds', async () => {
    const [one, two] = [client(), client()];
    two.transactionID = one.transactionID;
    const answers = await Promise.all([one.send(ir(crmf(key))), two.send(ir(crmf(key)))]);
    expect(answers.map(failureOf).sort()).toEqual(['ip', 'transactionIdInUse']);
  });

  test('two concurrent copies of a message get the same response', async () => {
    const device = client();
    const message = await device.build(ir(crmf(key)));
    const before = await site.store.count('certificate', [], 10_000);
    const [one, other] = await Promise.all([device.post(message), device.post(message)]);
    expect(one).toEqual(other);
    expect(await site.store.count('certificate', [], 10_000)).toBe(before + 1);
  });

  test('a first message with a recipNonce is rejected', async () => {
    const header = { recipNonce: new Uint8Array(16) };
    expect(failureOf(await client().send(ir(crmf(key)), { header }))).toBe('badRecipientNonce');
  });
});
