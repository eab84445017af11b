import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteEstOptions } from '#adapters/outbound/remote-est/remote-est.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { encodeBase64Lines } from '#adapters/wire/base64.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { buildCertsOnly } from '#adapters/wire/pkcs7.ts';
import { Fault } from '#core/fault.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { answer, certsOnly, type EstUpstream, estUpstream } from '#tests/fixtures/est-upstream.ts';
import { request as pkcs10, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { remoteEst } from '#tests/fixtures/plant.ts';

const day = 24 * 3_600_000;

let upstream: EstUpstream;
let clock: TestClock;
let directory: string;
beforeAll(async () => {
  clock = testClock();
  upstream = await estUpstream(clock.now);
});
afterAll(() => upstream[Symbol.asyncDispose]());

const pinned = (): RemoteEstOptions['trust'] => ({ kind: 'fingerprint', sha256: fingerprint(upstream.root) });

function issuer(options: Partial<RemoteEstOptions> = {}): Issuer {
  directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  directories.push(directory);
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  return remoteEst(surroundings, { url: upstream.url, trust: pinned(), ...options });
}
const directories: string[] = [];
afterAll(() => {
  for (const one of directories) rmSync(one, { recursive: true });
});

const faultOf = async (promise: Promise<unknown>): Promise<[string, string]> => {
  const error = await promise.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Fault) return [error.code, error.detail];
  throw new Error(`no Fault: ${error}`);
};

describe('the upstream is trusted', () => {
  test('by the fingerprint of its root, whose CA certificates are then used', async () => {
    expect(await issuer().chain()).toEqual([upstream.issuing, upstream.root]);
  });

  test('by certificates in a file', async () => {
    const trust = { kind: 'anchors', certificates: [upstream.root] } as const;
    expect(await issuer({ trust }).chain()).toEqual([upstream.issuing, upstream.root]);
  });

  test('with a root that is only in the file', async () => {
    const trust = { kind: 'anchors', certificates: [upstream.root] } as const;
    upstream.caCerts(() => certsOnly(upstream.issuing));
    expect(await issuer({ trust }).chain()).toEqual([upstream.issuing, upstream.root]);
    upstream.caCerts(undefined);
  });

  const stranger = () => upstream.impostor.certificate;
  for (const [what, options, detail] of [
    [
      'when no CA certificate has the fingerprint',
      () => ({ trust: { kind: 'fingerprint', sha256: fingerprint(stranger()) } }),
      'none of the CA certificates of the upstream CA has the configured fingerprint',
    ],
    [
      'when the file has another root',
      () => ({ trust: { kind: 'anchors', certificates: [stranger()] } }),
      'the TLS certificate of the upstream CA is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    ],
    [
      'when it is not a public CA and nothing is configured',
      () => ({ trust: { kind: 'system' } }),
      'the TLS certificate of the upstream CA is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    ],
    [
      'when its certificate is for another host',
      () => ({ url: upstream.url.replace('localhost', '127.0.0.1') }),
      'the TLS certificate of the upstream CA is not trusted (ERR_TLS_CERT_ALTNAME_INVALID)',
    ],
  ] as const satisfies readonly (readonly [string, () => Partial<RemoteEstOptions>, string])[]) {
    test(`not ${what}`, async () => {
      const before = upstream.received.length;
      const one = issuer({ login: { username: 'ra', password: 'secret' }, ...options() });
      expect(await faultOf(one.chain())).toEqual(['unavailable', detail]);
      expect(upstream.received).toHaveLength(before);
    });
  }

  test('with no secret before it is trusted', async () => {
    const seen: (string | undefined)[] = [];
    upstream.caCerts(() => certsOnly(upstream.issuing, upstream.root));
    const one = issuer({ login: { username: 'ra', password: 'secret' } });
    upstream.script((_request, { headers }) => {
      seen.push(headers.authorization);
      return undefined;
    });
    await one.issue(order('first'));
    expect(seen).toEqual([`Basic ${btoa('ra:secret')}`]);
    upstream.caCerts(undefined);
  });
});

/** As much of an order as the adapter looks at. */
function order(which: string): Parameters<Issuer['issue']>[0] {
  const request = verifyPkcs10(pkcs10(testKey('p-256', which), 'CN=device-1'));
  const { subject, extensions, publicKey } = request;
  const template = { subject, extensions, spki: publicKey.spki };
  return { prepared: { request, template }, operation: 'enrol' } as unknown as Parameters<Issuer['issue']>[0];
}

describe('a response', () => {
  const pkcs7 = (der: Uint8Array) => buildCertsOnly([der]);
  const lines = (text: string) => text.replace(/.{20}/g, '$&\r\n  ');
  for (const [what, render] of [
    ['with the headers of RFC 7030', (der: Uint8Array) => certsOnly(der)],
    [
      'without Content-Transfer-Encoding (RFC 8951)',
      (der: Uint8Array) => answer(200, pkcs7(der).toBase64(), { 'content-type': 'application/pkcs7-mime' }),
    ],
    [
      'with parameters in another order and case',
      (der: Uint8Array) =>
        answer(200, encodeBase64Lines(pkcs7(der)), {
          'content-type': 'Application/PKCS7-Mime; charset=UTF-8; smime-type="certs-only"',
          'content-transfer-encoding': 'BASE64',
        }),
    ],
    ['with no type at all', (der: Uint8Array) => ({ status: 200, headers: {}, body: pkcs7(der).toBase64() })],
    ['with odd line breaks', (der: Uint8Array) => answer(200, lines(pkcs7(der).toBase64()))],
    [
      'with the lines of PEM around it',
      (der: Uint8Array) =>
        answer(200, encodePem('PKCS7', pkcs7(der)), { 'content-type': 'application/pkcs7-mime' }),
    ],
    [
      'that says base64 and is DER',
      (der: Uint8Array) => ({
        status: 200,
        headers: { 'content-type': 'application/pkcs7-mime', 'content-transfer-encoding': 'base64' },
        body: pkcs7(der),
      }),
    ],
    [
      'with its CA certificates before it',
      (der: Uint8Array) => certsOnly(upstream.root, upstream.issuing, der),
    ],
  ] as const) {
    test(`is read ${what}`, async () => {
      let certificate: Uint8Array | undefined;
      upstream.script((request) => {
        certificate = upstream.certify(request);
        return render(certificate);
      });
      expect(await issuer().issue(order(what))).toMatchObject({ kind: 'issued', certificate: certificate! });
    });
  }

  for (const [what, response, fault] of [
    [
      'that redirects to another server is not followed',
      () => answer(307, '', { location: 'https://elsewhere.example/' }),
      ['unavailable', 'the upstream CA redirects to another server: not followed'],
    ],
    [
      'that redirects to plain HTTP is not followed',
      () => answer(308, '', { location: upstream.url.replace('https', 'http') }),
      ['unavailable', 'the upstream CA redirects to another server: not followed'],
    ],
    [
      'that redirects to itself ends',
      () => answer(307, '', { location: '/.well-known/est/simpleenroll' }),
      ['unavailable', 'the upstream CA redirects too often'],
    ],
    [
      'that is compressed is not taken: a small one may become a large one',
      () => ({
        status: 200,
        headers: { 'content-encoding': 'gzip' },
        body: new Uint8Array(Bun.gzipSync(new Uint8Array(10_000_000))),
      }),
      ['malformed', 'the upstream CA sent a compressed response, which was not requested'],
    ],
    [
      'of more than a mebibyte is not taken',
      () => ({ status: 200, headers: {}, body: new Uint8Array(2_000_000).fill(65) }),
      ['malformed', 'the response of the upstream CA is too large'],
    ],
    [
      'of HTML says so',
      () => answer(200, '<html>', { 'content-type': 'text/html' }),
      [
        'malformed',
        'the response of the upstream CA is not a PKCS #7 certificate list (Content-Type text/html)',
      ],
    ],
    [
      'without a certificate is none',
      () => certsOnly(),
      ['malformed', 'the response of the upstream CA contains no certificate'],
    ],
    [
      'of 401 is about the gateway, not about the device',
      () => answer(401, 'who?'),
      ['unavailable', 'the upstream CA rejects the credentials of this gateway'],
    ],
    [
      'of 404 is about the configuration',
      () => answer(404),
      ['unavailable', 'the upstream CA has no EST service at the configured URL (404)'],
    ],
    [
      'of 400 is about the request, in the words of the upstream, as far as people can read them',
      () => answer(400, `bad\u0007 ${'x'.repeat(300)}`),
      ['badCsr', `the upstream CA responded with status 400: bad ${'x'.repeat(146)}`],
    ],
    ['of 422 is final', () => answer(422), ['forbidden', 'the upstream CA responded with status 422']],
    ['of 429 is not', () => answer(429), ['unavailable', 'the upstream CA responded with status 429']],
  ] as const) {
    test(what, async () => {
      upstream.always(response);
      expect(await faultOf(issuer().issue(order(what)))).toEqual([...fault]);
      upstream.always(undefined);
    });
  }

  test('that redirects on the same server is followed, with the request', async () => {
    const at = upstream.received.length;
    upstream.script(() => answer(308, '', { location: '/.well-known/est/other/simpleenroll' }));
    expect((await issuer().issue(order('moved'))).kind).toBe('issued');
    expect(upstream.received.slice(at).map(({ http }) => http.path)).toEqual([
      '/.well-known/est/simpleenroll',
      '/.well-known/est/other/simpleenroll',
    ]);
  });
});

describe('the CA certificates', () => {
  test('are rejected when they are invalid or not issued by the pinned root', async () => {
    const one = issuer();
    await one.chain();
    const leaf = upstream.certify(verifyPkcs10(pkcs10(testKey('p-256'), 'CN=x')));
    upstream.caCerts(() => certsOnly(leaf));
    expect((await faultOf(one.chain()))[0]).toBe('malformed');
    upstream.caCerts(() => certsOnly(upstream.impostor.certificate));
    expect((await faultOf(one.chain()))[0]).toBe('malformed');
    upstream.caCerts(() => certsOnly(upstream.issuing));
    expect(await one.chain()).toEqual([upstream.issuing, upstream.root]);
    upstream.caCerts(undefined);
  });
});

describe("the gateway's own certificate", () => {
  const files = () => readdirSync(join(directory, 'issuers'));

  test('is issued with the password, and used from then on', async () => {
    const one = issuer({ login: { username: 'ra', password: 'secret' }, credentialName: 'gateway 1' });
    const { url } = upstream;
    expect(await one.describe!()).toEqual({ url, label: undefined, clientCertificate: undefined });
    const at = upstream.received.length;
    await one.maintain!();
    expect(await one.describe!()).toMatchObject({ url, clientCertificate: upstream.issued.at(-1)! });
    await one.maintain!();
    const [enrolment, ...more] = upstream.received.slice(at);
    expect(more).toEqual([]);
    expect(enrolment).toMatchObject({ operation: 'simpleenroll' });
    expect(enrolment!.http.headers.authorization).toBe(`Basic ${btoa('ra:secret')}`);
    await one.issue(order('with a certificate'));
    expect(upstream.received.at(-1)!.client).toEqual(upstream.issued.at(-2)!);
    expect(files()).toEqual(['plant.credential']);
    expect(statSync(join(directory, 'issuers', 'plant.credential')).mode & 0o777).toBe(0o600);
  });

  test('is renewed with itself when two thirds of its validity are over, and read by the next start', async () => {
    const login = { username: 'ra', password: 'secret' };
    const one = issuer({ login, credentialName: 'gateway 2' });
    await one.maintain!();
    const first = upstream.issued.at(-1)!;
    clock.advance(199 * day);
    await one.maintain!();
    expect(upstream.issued.at(-1)).toEqual(first);
    clock.advance(2 * day);
    await one.maintain!();
    const renewal = upstream.received.at(-1)!;
    expect(renewal.operation).toBe('simplereenroll');
    expect(renewal.client).toEqual(first);
    expect(renewal.request.subject.der).toEqual(parseCertificate(first).subject.der);
    const second = upstream.issued.at(-1)!;
    expect(parseCertificate(second).spki).not.toEqual(parseCertificate(first).spki);
    const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
    await remoteEst(surroundings, { url: upstream.url, trust: pinned() }).issue(order('later'));
    expect(upstream.received.at(-1)!.client).toEqual(second);
  });

  test('is requested with the same key until it is issued', async () => {
    const one = issuer({ login: { username: 'ra', password: 'secret' }, credentialName: 'gateway 3' });
    const at = upstream.received.length;
    upstream.script(
      () => answer(503),
      () => answer(202, '', { 'retry-after': '120' }),
    );
    expect((await faultOf(one.maintain!()))[0]).toBe('unavailable');
    expect(await one.health()).toMatchObject({ ok: false });
    clock.advance(61_000);
    await one.maintain!();
    await one.maintain!();
    clock.advance(121_000);
    await one.maintain!();
    const requests = upstream.received.slice(at).map(({ request }) => request.der);
    expect(requests).toHaveLength(3);
    expect(requests[1]).toEqual(requests[0]!);
    expect(requests[2]).toEqual(requests[0]!);
    expect(await one.health()).toEqual({ ok: true });
  });

  test('from the configuration is used until a newer one replaces it', async () => {
    const key = testKey('p-256', 'given');
    const request = verifyPkcs10(pkcs10(key, 'CN=given'));
    const given = upstream.certify(request);
    const pkcs8 = new Uint8Array(key.privateKey.export({ format: 'der', type: 'pkcs8' }));
    const one = issuer({ credential: { key: pkcs8, certificates: [given] } });
    await one.issue(order('given'));
    expect(upstream.received.at(-1)!.client).toEqual(given);
    clock.advance(250 * day);
    await one.maintain!();
    expect(upstream.received.at(-1)!.operation).toBe('simplereenroll');
    await one.issue(order('given and renewed'));
    expect(upstream.received.at(-1)!.client).toEqual(upstream.issued.at(-2)!);
  });

  test('for another key is rejected', async () => {
    const one = issuer({ login: { username: 'ra', password: 'secret' }, credentialName: 'gateway 4' });
    upstream.script((request) =>
      certsOnly(upstream.certify({ ...request, publicKey: testKey('p-256', 'stranger').publicKey })),
    );
    expect((await faultOf(one.maintain!()))[0]).toBe('malformed');
    await one.issue(order('without'));
    expect(upstream.received.at(-1)!.client).toBeUndefined();
  });
});
