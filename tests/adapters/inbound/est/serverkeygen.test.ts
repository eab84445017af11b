import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
import { der } from '#core/der/builder.ts';
import type { Device } from '#core/records/device.ts';
import type { KeyType } from '#core/x509/algorithm.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { assembleCertificationRequest } from '#core/x509/request-builder.ts';
import { person, policy } from '#tests/fixtures/approvals.ts';
import { basic, httpRequest } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation, offer, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { registrationAuthority } from '#tests/fixtures/registration-authority.ts';

let site: Installation;
let est: Mount;
let pump: Device;
let authorization: string;

beforeAll(async () => {
  site = await installation();
  est = createEst(site.gateway);
  const registered = await site.device('pump-1');
  pump = registered.device;
  authorization = basic('pump-1', registered.password);
});
afterAll(() => site[Symbol.asyncDispose]());

const headers = () => ({ authorization, 'content-type': 'application/pkcs10' });

function ask(
  csr: Uint8Array,
  certificates: readonly Uint8Array[] = [],
  changed: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const { authorization: _, ...bare } = headers();
  return est.handle({
    ...httpRequest({ path: '/.well-known/est/serverkeygen', body: csr }, certificates),
    headers: certificates.length > 0 ? bare : { ...headers(), ...changed },
  });
}

/** Returns the two parts of a response; the key must be that of the certificate. */
function received({ status, headers, body }: HttpResponse): { pkcs8: Uint8Array; certificate: Uint8Array } {
  expect(status).toBe(200);
  const boundary = /^multipart\/mixed; boundary=([a-z-]+)$/.exec(headers['content-type']!)![1]!;
  const [before, key, certificates, after] = (body as string).split(`--${boundary}`);
  expect([before, after]).toEqual(['', '--\r\n']);
  const content = (part: string | undefined, type: string): Uint8Array => {
    const head = `\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n`;
    expect(part).toStartWith(head);
    return Uint8Array.fromBase64(part!.slice(head.length));
  };
  const pkcs8 = content(key, 'application/pkcs8');
  const issued = readCertificates(content(certificates, 'application/pkcs7-mime; smime-type=certs-only'));
  expect(issued).toHaveLength(1);
  const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  expect(parseCertificate(issued[0]!).spki).toEqual(new Uint8Array(spki));
  return { pkcs8, certificate: issued[0]! };
}

test.each<[KeyType, KeyType]>([
  ['p-256', 'p-256'],
  ['p-384', 'p-384'],
  ['ed25519', 'ed25519'],
  ['ml-dsa-44', 'ml-dsa-44'],
  ['rsa-2048', 'rsa-3072'],
])('a request with a key of %s gets a key of %s that is not its own', async (sent, made) => {
  const key = testKey(sent, 'placeholder');
  const { certificate } = received(await ask(request(key, 'CN=pump-1', ['DNS:pump-1'])));
  const { spki, subject } = parseCertificate(certificate);
  expect(readPublicKey(spki).type).toBe(made);
  expect(spki).not.toEqual(key.publicKey.spki);
  expect(formatDistinguishedName(subject)).toBe('CN=pump-1');
  expect(
    (await site.store.find('certificate', { serialNumber: parseCertificate(certificate).serialNumber }))
      ?.device,
  ).toBe(pump.id);
});

/** A request with an invalid signature. */
const unsigned = (spki: Uint8Array, ...attributes: readonly string[]): Uint8Array =>
  assembleCertificationRequest(
    der((b) =>
      b.sequence((info) => {
        info.integer(0).raw(parseDistinguishedName('CN=pump-1').der).raw(spki);
        info.explicit(0, (a) => {
          for (const type of attributes)
            a.sequence((one) => one.oid(type).set((values) => values.octetString(Uint8Array.of(1))));
        });
      }),
    ),
    'ecdsa-sha256',
    Uint8Array.of(1),
  );
const { spki } = testKey('p-256').publicKey;

test('the signature and the key of the request are ignored (RFC 7030 §4.4.1)', async () => {
  received(await ask(unsigned(spki.with(-1, spki.at(-1)! ^ 1))));
});

test.each([
  ['a symmetric key', oid.decryptKeyIdentifier],
  ['a certificate', oid.asymmetricDecryptKeyIdentifier],
])(
  'a request for a key encrypted to %s is rejected rather than answered unencrypted',
  async (_what, type) => {
    expect((await ask(unsigned(spki, type))).status).toBe(400);
  },
);

test.each([
  [
    'of an unknown kind',
    der((b) => b.sequence((s) => s.sequence((a) => a.oid('1.2.3')).bitString(Uint8Array.of(1)))),
  ],
  ['that is none', der((b) => b.sequence((s) => s.integer(1)))],
])('a key %s in the request that cannot be made is rejected', async (_what, strange) => {
  expect((await ask(unsigned(strange))).status).toBe(400);
});

test('a request that the profile forbids is rejected before a key is made', async () => {
  const response = await ask(request(testKey('p-256'), 'CN=pump-2'));
  expect(response).toMatchObject({ status: 400, body: expect.stringContaining('pump-2') });
});

test('a domain credential is renewed with a server-generated key', async () => {
  const first = received(await ask(request(testKey('p-256'), 'CN=pump-1')));
  const second = received(await ask(request(testKey('p-256'), 'CN=pump-1'), [first.certificate]));
  expect(second.pkcs8).not.toEqual(first.pkcs8);
  const other = await ask(request(testKey('p-256'), 'CN=pump-1,O=other'), [first.certificate]);
  expect(other).toMatchObject({ status: 400, body: expect.stringContaining('subject') });
});

test('a registration authority gets no keys for other devices', async () => {
  await site.gateway.profiles.create(site.admin, { uniqueName: 'authority', profile: registrationAuthority });
  await offer(site, 'authority');
  const key = testKey('p-256', 'authority');
  const evidence = { kind: 'password', username: 'pump-1', address: '192.0.2.7' } as const;
  const secret = Buffer.from(authorization.slice(6), 'base64').toString().slice('pump-1:'.length);
  const certificate = await site.enrol(
    { ...evidence, password: secret },
    { protocol: 'est', profile: 'authority' },
    request(key, 'CN=pump-1'),
  );
  expect(await ask(request(key, 'CN=pump-1'), [certificate])).toMatchObject({
    status: 403,
    body: expect.stringContaining('available only to the device itself'),
  });
});

test('a pending request is the same with any placeholder key, and gets its key once', async () => {
  const { device, password } = await site.device('valve-1');
  await policy(site, { decision: 'manual', protocols: ['est'], device: device.id });
  const again = () =>
    ask(request(testKey('p-256', `${Math.random()}`), 'CN=valve-1'), [], {
      authorization: basic('valve-1', password),
    });
  const first = await again();
  expect(first).toMatchObject({ status: 202, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
  expect((await again()).status).toBe(202);
  const { records } = await site.gateway.approvals.list(site.admin, { limit: 10 });
  expect(records).toHaveLength(1);
  const { id } = records[0]!;
  const approver = await person(site, 'jo');
  await site.gateway.approvals.approve(approver, id, { comment: '' });
  received(await again());
  expect((await again()).status).toBe(202);
});
