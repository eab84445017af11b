import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { PkiMessage } from '#adapters/wire/cmp/message.ts';
import { plainPkcs8 } from '#adapters/wire/pkcs8.ts';
import { der } from '#core/der/builder.ts';
import { DerReader, readDer } from '#core/der/reader.ts';
import { context } from '#core/der/tag.ts';
import { keyUsageOf, parseCertificate } from '#core/x509/certificate.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { type CmpCredential, cr, crmf, failureOf, ir, issued, kur } from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

/** Without the credential that protects responses, which is issued when it is first needed. */
const overCmp = [{ field: 'protocol', is: 'equal', value: 'cmp' } as const];

let site: CmpSite;
let pump: CmpCredential & { reference: string; secret: string };

beforeAll(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
});
afterAll(() => site[Symbol.asyncDispose]());

/** Returns a request without a key; `spki` may name the key type. */
function keyless(
  spki?: Uint8Array,
  proof: Parameters<typeof buildCertReqMsg>[1] = { kind: 'none' },
): Uint8Array {
  const subject = parseDistinguishedName('CN=pump-1');
  return buildCertReqMsg(buildCertRequest(0, buildCertTemplate({ subject, ...(spki && { spki }) })), proof);
}

const wanted = (algorithm: string, parameters?: string): Uint8Array =>
  der((b) =>
    b.sequence((info) => {
      info.sequence((a) => (parameters === undefined ? a.oid(algorithm) : a.oid(algorithm).oid(parameters)));
      info.bitString(new Uint8Array());
    }),
  );

function envelopeOf({ body, header }: PkiMessage): Uint8Array {
  const pair = 'responses' in body && body.type === 'ip' ? body.responses[0]?.certifiedKeyPair : undefined;
  const cp = body.type === 'cp' ? body.responses[0]?.certifiedKeyPair : pair;
  expect(header.pvno).toBe(3);
  expect(cp?.privateKey?.kind).toBe('envelopedData');
  return cp!.privateKey!.der;
}

const contentInfo = (type: string, content: Uint8Array): Uint8Array =>
  der((b) => b.sequence((s) => s.oid(type).explicit(0, content)));

/** Returns the key of an AsymmetricKeyPackage, which must have version 2 and the public key (RFC 9483 §4.1.6). */
function packed(keyPackage: Uint8Array): Uint8Array {
  return readDer(keyPackage, (reader) => {
    const list = reader.sequence();
    const one = list.element();
    list.finish();
    const fields = new DerReader(one).sequence();
    expect(fields.smallInteger(9)).toBe(1);
    fields.element();
    fields.element();
    expect(fields.peek()).toBe(context(1));
    return one;
  });
}

/**
 * Returns the SubjectPublicKeyInfo of the key in SignedData that OpenSSL verified. `from`: where keys are not
 * packed.
 */
async function publicHalf(signedData: Uint8Array, from?: CmpSite): Promise<Uint8Array> {
  const chain = await (from ?? site).gateway.caCertificates(undefined);
  const run = openssl(
    ['cms', '-verify', '-inform', 'DER', '-in', 'cms', '-CAfile', 'ca', '-purpose', 'any'].concat([
      '-out',
      'out',
      '-binary',
    ]),
    { cms: contentInfo('1.2.840.113549.1.7.2', signedData), ca: pem('CERTIFICATE', chain.at(-1)!) },
    ['out'],
  );
  expect(run.text).toContain('erification successful');
  const whole = run.file('out');
  const key = createPrivateKey({
    key: Buffer.from(from ? whole : plainPkcs8(packed(whole))),
    format: 'der',
    type: 'pkcs8',
  });
  return new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }));
}

test('a device gets a key with its shared secret, and confirms as usual', async () => {
  const client = site.client(pump);
  const answer = await client.send(ir(keyless()));
  const schema = asn1js.fromBER(envelopeOf(answer).slice().buffer).result;
  const opened = await new pkijs.EnvelopedData({ schema }).decrypt(0, {
    preDefinedData: new TextEncoder().encode(pump.secret).buffer,
  });
  const certificate = issued(answer);
  expect(await publicHalf(new Uint8Array(opened))).toEqual(parseCertificate(certificate).spki);
  const status = { certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 };
  const header = { pvno: 3 };
  expect((await client.send({ type: 'certConf', statuses: [status] }, { header })).body.type).toBe('pkiConf');
});

test.each(['rsa-2048', 'p-256', 'p-384'] as const)(
  'a device gets a key encrypted to its certificate for a key of %s',
  async (type) => {
    const key = testKey(type, 'holder');
    const own = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
    const request = cr(keyless(wanted(oid.ecPublicKey, oid.p384)));
    const answer = await site.client({ certificate: own, key }).send(request, { path: '/p/~tls_client' });
    const { text, file } = openssl(
      ['cms', '-decrypt', '-inform', 'DER', '-in', 'cms', '-recip', 'cert', '-inkey', 'key'].concat([
        '-out',
        'out',
        '-binary',
      ]),
      {
        cms: contentInfo('1.2.840.113549.1.7.3', envelopeOf(answer)),
        cert: pem('CERTIFICATE', own),
        key: key.pem(),
      },
      ['out'],
    );
    expect(text).toBe('');
    const spki = await publicHalf(file('out'));
    expect(spki).toEqual(parseCertificate(issued(answer)).spki);
    expect(
      createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).asymmetricKeyDetails,
    ).toEqual({
      namedCurve: 'secp384r1',
    });
  },
);

const decrypted = (envelope: Uint8Array, how: string[], files: Record<string, string> = {}) => {
  const line = ['cms', '-decrypt', '-inform', 'DER', '-in', 'cms', ...how, '-out', 'out', '-binary'];
  return openssl(line, { cms: contentInfo('1.2.840.113549.1.7.3', envelope), ...files }, ['out']).file('out');
};

test('a key encrypted with a shared secret can be read by OpenSSL if configured', async () => {
  await using bare = await cmpSite({ keyDelivery: { format: 'pkcs8', wrap: 'pwriKek' } });
  const pump = await bare.cmpDevice('pump-1');
  const answer = await bare.client(pump).send(ir(keyless()));
  const signed = decrypted(envelopeOf(answer), ['-pwri_password', pump.secret]);
  expect(await publicHalf(signed, bare)).toEqual(parseCertificate(issued(answer)).spki);
});

test.each([
  ['p-256', 'keyAgreement'],
  ['rsa-2048', 'keyEncipherment'],
] as const)('a certificate for a key of %s without %s gets no server-generated key', async (type, usage) => {
  const own = testKey(type, 'application');
  const path = '/p/~tls_client';
  const certificate = issued(await site.client(pump).send(ir(crmf(own)), { path, implicitConfirm: true }));
  expect(keyUsageOf(parseCertificate(certificate))).toEqual(['digitalSignature']);
  const before = await site.store.count('certificate', overCmp, 100);
  const answer = await site.client({ certificate, key: own }).send(kur(keyless()), { path });
  expect([answer.body.type, failureOf(answer)]).toEqual(['kup', 'notAuthorized']);
  if (answer.body.type !== 'kup') throw new Error(answer.body.type);
  expect(answer.body.responses[0]?.status.statusString?.join()).toContain(usage);
  expect(await site.store.count('certificate', overCmp, 100)).toBe(before);
});

test('only the device has the key afterwards', async () => {
  const before = await site.store.count('certificateKey', [], 100);
  await site.client(pump).send(ir(keyless()), { implicitConfirm: true });
  expect(await site.store.count('certificateKey', [], 100)).toBe(before);
});

test('a key that cannot be made, proven or encrypted is rejected', async () => {
  const send = async (request: Uint8Array, credential: CmpCredential = pump, path = '') =>
    failureOf(await site.client(credential).send(cr(request), { path }));
  expect(await send(keyless(wanted('1.3.101.113')))).toBe('badAlg');
  expect(await send(keyless(undefined, { kind: 'raVerified' }))).toBe('badPOP');
  const key = testKey('ed25519', 'holder');
  const own = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
  const before = await site.store.count('certificate', overCmp, 100);
  expect(await send(keyless(), { certificate: own, key }, '/p/~tls_client')).toBe('badAlg');
  expect(await site.store.count('certificate', overCmp, 100)).toBe(before);
});
