import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteCmpOptions } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { Fault } from '#core/fault.ts';
import type { Issuer, IssuerAnswer } from '#core/ports/issuer.ts';
import { extendedKeyUsageExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { crmf, pbmac1 } from '#tests/fixtures/cmp-client.ts';
import { type EstUpstream, estUpstream } from '#tests/fixtures/est-upstream.ts';
import { request as pkcs10 } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { type OpensslCmpServer, opensslCmpServer } from '#tests/fixtures/openssl-cmp-server.ts';
import { byCertificate, bySecret, orderOf, remoteCmp, strict } from '#tests/fixtures/remote-cmp.ts';

// A CMP server that nobody here wrote: it answers whatever it is asked with one certificate.
const key = testKey('p-256', 'pump');
const wish = verifyPkcs10(pkcs10(key, 'CN=pump-1'));
const wishInCrmf = verifyCertReqMsg(crmf(key), { raVerified: false });
const serverKey = testKey('rsa-2048', 'openssl cmp');
let ca: EstUpstream;
let certificate: Uint8Array;
let serverCertificate: Uint8Array;
let directory: string;

beforeAll(async () => {
  ca = await estUpstream(Date.now);
  certificate = ca.certify(wish);
  serverCertificate = ca.certify(verifyPkcs10(pkcs10(serverKey, 'CN=CMP server')), {
    extensions: [keyUsageExtension(['digitalSignature']), extendedKeyUsageExtension([oid.cmcCa])],
  });
  directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
});
afterAll(async () => {
  await ca[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const bySecretArgs = ['-srv_ref', 'gateway', '-srv_secret', 'pass:secret'];
const byKeyArgs = ['-srv_cert', 'server.pem', '-srv_key', 'server.key', '-srv_trusted', 'root.pem'];

const serve = (...args: readonly string[]): Promise<OpensslCmpServer> => serveAs(serverCertificate, ...args);
const serveAs = (signer: Uint8Array, ...args: readonly string[]): Promise<OpensslCmpServer> =>
  opensslCmpServer(['-rsp_cert', 'certificate.pem', '-srv_untrusted', 'issuing.pem', ...args], {
    'certificate.pem': pem('CERTIFICATE', certificate),
    'server.pem': pem('CERTIFICATE', signer),
    'server.key': serverKey.pem(),
    'root.pem': pem('CERTIFICATE', ca.root),
    'issuing.pem': pem('CERTIFICATE', ca.issuing),
  });

function issuerAt({ url }: OpensslCmpServer, options: Partial<RemoteCmpOptions>): Issuer {
  const clock = { now: Date.now, advance: () => {} };
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  const trust = { kind: 'anchors', certificates: [ca.root] } as const;
  const own = { caCertificates: [ca.issuing, ca.root], trust };
  return remoteCmp(surroundings, { url, ca, secret: 'secret' }, { ...own, ...options });
}

/** Through all questions, to the end of the confirmation. */
async function whole(issuer: Issuer, order = orderOf(wish)): Promise<{ der: Uint8Array; questions: number }> {
  let answer: IssuerAnswer = await issuer.issue(order);
  let questions = 0;
  for (; answer.kind === 'pending' && questions < 10; questions++)
    answer = await issuer.poll!(answer.handle, order);
  if (answer.kind !== 'issued') throw new Error('still pending');
  if (answer.confirm !== undefined) await issuer.confirm!(answer.confirm, answer.certificate, true);
  return { der: answer.certificate, questions };
}

const faultOf = async (promise: Promise<unknown>): Promise<[string, string]> => {
  const error = await promise.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return [error.code, error.detail];
  throw new Error(`no Fault: ${error}`);
};

const secret = () => ({ identity: bySecret('secret') });
const signed = () => ({ identity: byCertificate({ ca }), extraCerts: 'chain' as const });

for (const [what, args, options, heard] of [
  ['by a shared secret, PasswordBasedMac', bySecretArgs, secret, ['CERTCONF']],
  ['by signatures', byKeyArgs, signed, ['CERTCONF']],
  [
    'without a confirmation',
    ['-grant_implicitconf', ...byKeyArgs],
    () => ({ ...signed(), implicitConfirm: true }),
    [],
  ],
  [
    'with questions',
    ['-poll_count', '2', '-check_after', '1', ...byKeyArgs],
    signed,
    ['POLLREQ', 'CERTCONF'],
  ],
  ['where it would do without protection', ['-accept_unprotected', ...bySecretArgs], secret, ['CERTCONF']],
] as const satisfies readonly (readonly [
  string,
  readonly string[],
  () => Partial<RemoteCmpOptions>,
  readonly string[],
])[]) {
  test(`openssl cmp issues ${what}`, async () => {
    await using server = await serve(...args);
    const issuer = issuerAt(server, options());
    const { der } = await whole(issuer);
    expect(der).toEqual(certificate);
    for (const one of heard) expect([one, await server.says(`received ${one}`)]).toEqual([one, true]);
    if (heard.length === 0) expect(server.output()).not.toContain('CERTCONF');
  });
}

// It says badRequest to whatever it does not know.
for (const [what, args, options] of [
  ['PBMAC1', bySecretArgs, () => ({ identity: { ...secret().identity, parameters: pbmac1 } })],
  ['version 3', byKeyArgs, () => ({ ...signed(), pvno: 3 as const })],
] as const satisfies readonly (readonly [string, readonly string[], () => Partial<RemoteCmpOptions>])[]) {
  test(`openssl cmp 3.0 does not support ${what}, and the error says so`, async () => {
    await using server = await serve(...args);
    const [code, detail] = await faultOf(whole(issuerAt(server, options())));
    expect([code, detail.slice(0, 51)]).toEqual([
      'forbidden',
      'the upstream CA rejected the request (badRequest): ',
    ]);
  });
}

test('openssl cmp is polled as often as it asks for', async () => {
  await using server = await serve('-poll_count', '2', '-check_after', '3', ...byKeyArgs);
  const issuer = issuerAt(server, signed());
  const order = orderOf(wish);
  let answer = await issuer.issue(order);
  const pauses: number[] = [];
  while (answer.kind === 'pending') {
    pauses.push(answer.retryAfter);
    answer = await issuer.poll!(answer.handle, order);
  }
  expect(pauses).toEqual([1, 3]);
});

test("openssl cmp accepts the device's CRMF with its proof, and ours with raVerified", async () => {
  await using server = await serve('-accept_raverified', ...byKeyArgs);
  const forwarding = { forward: 'request', raVerified: false, enrolWith: 'ir', renewWith: 'kur' } as const;
  expect((await whole(issuerAt(server, { ...signed(), forwarding }), orderOf(wishInCrmf))).der).toEqual(
    certificate,
  );
  const vouched = issuerAt(server, { ...signed(), forwarding: { ...forwarding, raVerified: true } });
  const template = { subject: parseDistinguishedName('CN=pump-1') };
  expect((await whole(vouched, orderOf(wishInCrmf, template))).der).toEqual(certificate);
  const renewal = orderOf(wishInCrmf, template, { operation: 'renew', renews: certificate });
  expect((await whole(vouched, renewal)).der).toEqual(certificate);
  expect(await server.says('received KUR')).toBe(true);
  await using unbelieving = await serve(...byKeyArgs);
  const [code] = await faultOf(
    whole(
      issuerAt(unbelieving, { ...signed(), forwarding: { ...forwarding, raVerified: true } }),
      orderOf(wishInCrmf, template),
    ),
  );
  expect(code).toBe('badCsr');
});

test('openssl cmp revokes with any reason', async () => {
  await using server = await serve(...byKeyArgs);
  const issuer = issuerAt(server, signed());
  await issuer.revoke!(certificate, 'keyCompromise');
  expect(await server.says('received RR')).toBe(true);
});

for (const [what, args, options, fault] of [
  [
    'a refusal in a certificate response',
    ['-pkistatus', '2', '-failure', '19', '-statusstring', 'no such device', ...byKeyArgs],
    signed,
    ['badCsr', 'the upstream CA rejected the request (badCertTemplate): no such device'],
  ],
  ['an error', ['-send_error', ...byKeyArgs], signed, ['forbidden', 'the upstream CA rejected the request']],
  [
    'an error without protection, where that is not believed',
    ['-send_error', '-send_unprot_err', ...byKeyArgs],
    signed,
    [
      'unavailable',
      'the response of the upstream CA is not trusted: a message of type error without protection',
    ],
  ],
  [
    'an error without protection, where that is believed',
    ['-send_error', '-send_unprot_err', ...byKeyArgs],
    () => ({ ...signed(), tolerances: { ...strict, unprotectedErrors: true } }),
    ['forbidden', 'the upstream CA rejected the request'],
  ],
  [
    'a certificate without protection',
    ['-send_unprotected', ...byKeyArgs],
    () => ({
      ...signed(),
      tolerances: { ...strict, unprotectedErrors: true, unprotectedConfirmations: true },
    }),
    [
      'unavailable',
      'the response of the upstream CA is not trusted: a message of type cp without protection',
    ],
  ],
  [
    'another secret',
    ['-srv_ref', 'gateway', '-srv_secret', 'pass:other', '-send_unprot_err'],
    () => ({ ...secret(), tolerances: { ...strict, unprotectedErrors: true } }),
    ['forbidden', 'the upstream CA rejected the request (badRequest): wrong pbm value'],
  ],
  [
    'a signature by who is below another root',
    byKeyArgs,
    () => ({ ...signed(), trust: { kind: 'anchors', certificates: [ca.impostor.certificate] } }),
    ['unavailable', 'the response of the upstream CA is not trusted: '],
  ],
] as const satisfies readonly (readonly [
  string,
  readonly string[],
  () => Partial<RemoteCmpOptions>,
  readonly [string, string],
])[]) {
  test(`openssl cmp with ${what}: ${fault[0]}`, async () => {
    await using server = await serve(...args);
    const [code, detail] = await faultOf(issuerAt(server, options()).issue(orderOf(wish)));
    expect([code, detail.slice(0, fault[1].length)]).toEqual([...fault]);
  });
}

test('a signer of openssl cmp that is not a CA must be configured by name or fingerprint', async () => {
  const signer = ca.certify(verifyPkcs10(pkcs10(serverKey, 'CN=CMP server')), {
    extensions: [keyUsageExtension(['digitalSignature'])],
  });
  await using server = await serveAs(signer, ...byKeyArgs);
  const at = (options: Partial<RemoteCmpOptions>) => whole(issuerAt(server, { ...signed(), ...options }));
  expect(await faultOf(at({}))).toEqual([
    'unavailable',
    'the response of the upstream CA is not trusted: its signer is not authorized to act for a CA (id-kp-cmcCA)',
  ]);
  expect((await at({ serverName: parseDistinguishedName('CN=CMP server') })).der).toEqual(certificate);
  expect((await at({ server: signer, trust: { kind: 'none' } })).der).toEqual(certificate);
  expect((await at({ tolerances: { ...strict, anySigner: true } })).der).toEqual(certificate);
  expect((await faultOf(at({ serverName: parseDistinguishedName('CN=another') })))[1]).toEndWith(
    'its signer does not have the configured server_name',
  );
});
