import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { createRest } from '#adapters/inbound/rest/mount.ts';
import { buildPkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { readCertificates } from '#adapters/wire/pkcs7.ts';
import { der } from '#core/der/builder.ts';
import { context, tag } from '#core/der/tag.ts';
import { defaultSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { emptyName, formatDistinguishedName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '#core/x509/request-builder.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { cr, crmf, failureOf, ir } from '#tests/fixtures/cmp-client.ts';
import { basic, httpRequest } from '#tests/fixtures/enrolment.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { register } from '#tests/fixtures/manufacturer.ts';
import { oddCa, oddCertificate } from '#tests/fixtures/odd-certificates.ts';
import { hugeInteger, oddNames, withSerialNumber } from '#tests/fixtures/odd-names.ts';
import { type CmpSite, cmpSite } from './cmp/fixture.ts';
import { open } from './http/fixture.ts';

// Names that can be read but not written, and integers of 60,000 octets, wherever they can be sent: each is
// accepted, or rejected in the form of the protocol, and the service continues.
const key = testKey('p-256', 'odd');
const leafKey = testKey('p-256', 'odd leaf');

let site: Installation;
let api: Api;
let device: { username: string; password: string };
beforeAll(async () => {
  site = await installation();
  device = { username: 'pump-1', password: (await site.device('pump-1')).password };
});
afterAll(() => site[Symbol.asyncDispose]());

/** Enrols the device at the default domain as before. */
async function expectService(): Promise<void> {
  const evidence = password(device.username, device.password);
  const issued = await site.enrol(evidence, {}, request(leafKey, 'CN=pump-1'));
  expect(formatDistinguishedName(parseCertificate(issued).subject)).toBe('CN=pump-1');
}

const refusals = async (of: Pick<Installation, 'audit'>): Promise<number> =>
  (await of.audit('enrolment.admit')).filter(({ outcome }) => outcome === 'refused').length;

function pkcs10(subject: Name, spki: Uint8Array = leafKey.publicKey.spki): Uint8Array {
  const info = buildCertificationRequestInfo(subject, spki, []);
  const algorithm = defaultSignatureAlgorithm('p-256');
  return assembleCertificationRequest(info, algorithm, leafKey.sign(algorithm, info));
}

/** An RSA key whose modulus and exponent have 12,000 octets each: requests have at most 64 KiB. */
const large = hugeInteger.subarray(0, 12_000);
const hugeKey = der((b) =>
  b.sequence((s) => {
    s.sequence((a) => a.oid('1.2.840.113549.1.1.1').null());
    s.bitString(der((k) => k.sequence((n) => n.add(tag.integer, large).add(tag.integer, large))));
  }),
);

describe('over the Management API', () => {
  // Other tests move the clock, which ends sessions.
  beforeAll(async () => {
    api = await apiOf(site);
  });

  test.each(oddNames)(
    'a CA whose name has %s can be imported, and issues under the unchanged name',
    async (what, name) => {
      const ca = oddCa(name, what);
      const answer = await api.post('/api/issuing-cas/', {
        unique_name: what,
        issuing_ca_type: 2,
        private_key: ca.key.pem(),
        certificate: encodePem('CERTIFICATE', ca.certificate),
      });
      expect([answer.status, answer.body.unique_name]).toEqual([201, what]);
      expect((await api.get(`/api/issuing-cas/${answer.body.id}/`)).status).toBe(200);
      await expectService();
      const domain = await site.gateway.domains.create(site.admin, {
        uniqueName: what,
        issuingCa: answer.body.id,
      });
      const { password: secret } = await site.device(what.slice(0, 60).trim(), domain.id);
      const evidence = password(what.slice(0, 60).trim(), secret);
      const issued = await site.enrol(evidence, { domain: what }, pkcs10(emptyName));
      expect(parseCertificate(issued).issuer.der).toEqual(name.der);
    },
  );

  test.each(oddNames)('a truststore can be created with a certificate that has %s', async (what, name) => {
    const { certificate } = oddCa(name, what);
    const file = encodePem('CERTIFICATE', certificate);
    const answer = await api.post('/api/truststores/', {
      unique_name: `store ${what}`,
      intended_usage: 0,
      trust_store_file: file,
    });
    expect(answer.status).toBe(201);
    expect(answer.body.certificates[0].subject).toBe(formatDistinguishedName(name));
    expect((await api.get(`/api/truststores/${answer.body.id}/`)).status).toBe(200);
    await expectService();
  });

  test.each([
    ['a serial number', oddCertificate({ subject: emptyName, key, ca: true, serial: hugeInteger })],
    ['a public key', der((b) => b.sequence((s) => s.raw(hugeKey)))],
  ])('%s of 60,000 octets is rejected in a CA and in a truststore', async (what, certificate) => {
    const pem = encodePem('CERTIFICATE', certificate);
    const ca = { unique_name: what, issuing_ca_type: 2, private_key: key.pem(), certificate: pem };
    expect((await api.post('/api/issuing-cas/', ca)).status).toBe(400);
    const store = { unique_name: what, intended_usage: 0, trust_store_file: pem };
    expect((await api.post('/api/truststores/', store)).status).toBe(400);
    await expectService();
  });
});

describe.each(['over TLS', 'in Client-Cert'])('an IDevID %s', (how) => {
  const est = '/.well-known/est/simpleenroll';
  let listener: Listener;
  beforeAll(async () => {
    const trustedProxies = how === 'over TLS' ? [] : ['127.0.0.0/8'];
    listener = await open([createEst(site.gateway), createRest(site.gateway)], { trustedProxies });
  });
  afterAll(() => listener.close(0));

  /**
   * Connects with curl, as the TLS client of Bun loads some of these certificates as little as its server
   * accepts them.
   */
  async function enrol(certificate: Uint8Array, identity: typeof key, path: string, csr: Uint8Array) {
    const rest = path.startsWith('/rest');
    const directory = mkdtempSync(join(tmpdir(), 'postern-odd-'));
    const file = (name: string, contents: string): string => {
      writeFileSync(join(directory, name), contents);
      return join(directory, name);
    };
    const who =
      how === 'over TLS'
        ? [
            '--cert',
            file('cert', encodePem('CERTIFICATE', certificate)),
            '--key',
            file('key', identity.pem()),
          ]
        : ['-H', `client-cert: :${certificate.toBase64()}:`];
    const body = rest ? JSON.stringify({ csr: encodePem('CERTIFICATE REQUEST', csr) }) : csr.toBase64();
    const type = `content-type: application/${rest ? 'json' : 'pkcs10'}`;
    const url = `https://127.0.0.1:${listener.httpsPort}${path}`;
    const curl = Bun.spawn(['curl', '-sk', ...who, '-H', type, '--data', body, '-w', '\n%{http_code}', url]);
    const output = await new Response(curl.stdout).text();
    rmSync(directory, { recursive: true });
    const at = output.lastIndexOf('\n');
    return { status: Number(output.slice(at)), text: output.slice(0, at) };
  }

  /** BoringSSL, which does the handshake, cannot read such names. */
  const readByTls = ([what]: (typeof oddNames)[number]): boolean =>
    how !== 'over TLS' || !/surrogate pair|VisibleString/.test(what);

  test.each(oddNames.filter((one) => !readByTls(one)))(
    'with %s fails in the handshake, and the next request is answered',
    async (_, name) => {
      const refused = await enrol(oddCertificate({ subject: name, key }), key, est, pkcs10(emptyName));
      expect(refused.status).toBe(0);
      const next = oddCertificate({ subject: parseDistinguishedName('CN=a'), key });
      expect((await enrol(next, key, est, pkcs10(emptyName))).status).toBe(401);
      site.clock.advance(61_000);
    },
  );

  test.each(oddNames.filter(readByTls))(
    'that is not trusted, with %s, is rejected and audited',
    async (_, name) => {
      const certificate = oddCertificate({ subject: name, key });
      for (const path of [est, '/rest/default/enroll']) {
        const before = await refusals(site);
        const { status } = await enrol(certificate, key, path, pkcs10(emptyName));
        expect([path, status]).toEqual([path, 401]);
        // A minute later, more rejections can be audited.
        site.clock.advance(61_000);
        expect(await refusals(site)).toBe(before + 1);
      }
    },
  );

  test.each(oddNames.filter(readByTls))('that is trusted, with %s, enrols its device', async (what, name) => {
    const maker = oddCa(name, `maker ${what}`);
    const uniqueName = `${how} ${what}`;
    const { id } = await site.gateway.truststores.create(site.admin, {
      uniqueName,
      intendedUsage: 0,
      certificates: [maker.certificate],
    });
    const serialNumber = `SN-${how.length}-${what.length}-${formatDistinguishedName(name).length}`;
    await register(site, uniqueName, id, serialNumber);
    const subject = withSerialNumber(name, serialNumber);
    const own = testKey('p-256', uniqueName);
    const certificate = oddCertificate({ subject, key: own, issuer: maker });
    const csr = request(leafKey, `CN=${serialNumber}`);
    const { status, text } = await enrol(certificate, own, est, csr);
    expect([status, text.slice(0, 3)]).toEqual([200, 'MII']);
    expect(readCertificates(Uint8Array.fromBase64(text))).toHaveLength(1);
  });

  test('with a serial number of 11,000 octets is rejected', async () => {
    // Node offers no certificates of more than 16 KiB, and a proxy may not either.
    const certificate = oddCertificate({ subject: emptyName, key, serial: hugeInteger.subarray(0, 11_000) });
    const { status } = await enrol(certificate, key, est, pkcs10(emptyName));
    expect(status).toBe(401);
  });
});

describe('a certification request', () => {
  const send = async (csr: Uint8Array) => {
    const authorization = basic(device.username, device.password);
    const est = await createEst(site.gateway).handle(
      httpRequest({
        path: '/.well-known/est/simpleenroll',
        headers: { authorization, 'content-type': 'application/pkcs10' },
        body: Buffer.from(csr.toBase64()),
      }),
    );
    const rest = await createRest(site.gateway).handle(
      httpRequest({
        path: '/rest/default/enroll',
        headers: { authorization, 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ csr: encodePem('CERTIFICATE REQUEST', csr) })),
      }),
    );
    return [est.status, rest.status];
  };

  test.each(oddNames)('for a subject with %s is rejected', async (_, name) => {
    expect(await send(pkcs10(name))).toEqual([400, 400]);
  });

  test('for an RSA key of 96,000 bits is rejected', async () => {
    expect(await send(pkcs10(emptyName, hugeKey))).toEqual([400, 400]);
  });
});

describe('over CMP', () => {
  let cmp: CmpSite;
  beforeAll(async () => {
    cmp = await cmpSite();
  });
  afterAll(() => cmp[Symbol.asyncDispose]());

  test.each(oddNames)('a signer whose certificate has %s is rejected and audited', async (_, name) => {
    const certificate = oddCertificate({ subject: name, key });
    const before = await refusals(cmp);
    const client = cmp.client({ certificate, key });
    const message = await client.build(ir(crmf(leafKey)));
    const answer = await cmp.server.mount.handle(
      httpRequest({
        path: '/.well-known/cmp',
        headers: { 'content-type': 'application/pkixcmp' },
        body: message,
      }),
    );
    expect(answer.status).toBe(200);
    cmp.clock.advance(61_000);
    expect(await refusals(cmp)).toBe(before + 1);
  });

  test.each(oddNames)('a certificate in extraCerts that has %s changes nothing', async (what, name) => {
    const credential = await cmp.cmpDevice(`extra ${oddNames.findIndex(([one]) => one === what)}`);
    const client = cmp.client(credential);
    const extraCerts = [oddCertificate({ subject: name, key })];
    const subject = `CN=${credential.reference}`;
    expect(failureOf(await client.send(ir(crmf(leafKey, { subject })), { extraCerts }))).toBe('ip');
  });

  test.each(oddNames)('a template whose subject has %s is rejected', async (what, name) => {
    const credential = await cmp.cmpDevice(`template ${oddNames.findIndex(([one]) => one === what)}`);
    const template = buildCertTemplate({ subject: name, spki: leafKey.publicKey.spki });
    const certRequest = buildCertRequest(0, template);
    const algorithm = defaultSignatureAlgorithm('p-256');
    const signature = leafKey.sign(algorithm, certRequest);
    const message = buildCertReqMsg(certRequest, { kind: 'signature', algorithm, signature });
    expect(failureOf(await cmp.client(credential).send(cr(message)))).toBe('badCertTemplate');
  });

  test('a sender with such a name in a message with a MAC is accepted: only senderKID counts', async () => {
    const credential = await cmp.cmpDevice('sender');
    const [, name] = oddNames[0]!;
    const header = { sender: { kind: 'directory', value: name } as const };
    const answer = await cmp.client(credential).send(ir(crmf(leafKey, { subject: 'CN=sender' })), { header });
    expect(failureOf(answer)).toBe('ip');
  });

  test.each([
    [
      'a certReqId',
      () =>
        cr(
          der((b) =>
            b.sequence((s) => s.sequence((r) => r.add(tag.integer, hugeInteger).sequence(() => {}))),
          ),
        ),
    ],
    [
      'the serial number of a template',
      () =>
        cr(
          der((b) =>
            b.sequence((s) =>
              s.sequence((r) => r.integer(0).sequence((t) => t.add(context(1), hugeInteger))),
            ),
          ),
        ),
    ],
    [
      'the modulus of a key',
      () =>
        cr(
          buildCertReqMsg(buildCertRequest(0, buildCertTemplate({ spki: hugeKey })), { kind: 'raVerified' }),
        ),
    ],
    [
      'the serial number of a certificate to revoke',
      () => {
        const encoded = buildCertTemplate({ issuer: parseDistinguishedName('CN=CA'), serial: hugeInteger });
        return {
          type: 'rr',
          requests: [{ certDetails: { der: encoded } as never, crlEntryDetails: [] }],
        } as const;
      },
    ],
  ])('%s of 60,000 octets is answered in a PKIMessage', async (what, body) => {
    const credential = await cmp.cmpDevice(`integer ${what.length}`);
    const failure = failureOf(await cmp.client(credential).send(body()));
    expect(['badDataFormat', 'badCertTemplate', 'badAlg', 'badRequest', 'badPOP']).toContain(failure);
  });

  test('an iteration count of 60,000 octets is answered in a PKIMessage', async () => {
    const credential = await cmp.cmpDevice('iterations');
    const algorithm = der((b) =>
      b.sequence((a) =>
        a.oid('1.2.840.113533.7.66.13').sequence((p) => {
          p.octetString(new Uint8Array(16)).sequence((h) => h.oid('2.16.840.1.101.3.4.2.1'));
          p.add(tag.integer, hugeInteger).sequence((h) => h.oid('1.2.840.113549.2.9'));
        }),
      ),
    );
    const client = cmp.client(credential);
    const header = {
      pvno: 2,
      sender: { kind: 'directory', value: emptyName } as const,
      recipient: { kind: 'directory', value: emptyName } as const,
      senderKID: Buffer.from(credential.reference),
      transactionID: client.transactionID,
      senderNonce: new Uint8Array(16),
      generalInfo: [],
    };
    const message = await buildPkiMessage(header, ir(crmf(leafKey)), {
      protector: { algorithm, protect: () => new Uint8Array(32) },
    });
    expect(failureOf(parsePkiMessage(await client.post(message)))).toBe('badAlg');
  });
});
