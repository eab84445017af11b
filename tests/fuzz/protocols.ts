import { createEst } from '#adapters/inbound/est/mount.ts';
import type { HttpRequest, HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { createRest } from '#adapters/inbound/rest/mount.ts';
import { computeMac } from '#adapters/wire/cmp/mac.ts';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { defaultSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { assembleCertificate, parseTbsCertificate } from '#core/x509/certificate.ts';
import { buildCertReqMsg } from '#core/x509/crmf-builder.ts';
import { emptyName, type Name } from '#core/x509/name.ts';
import { assembleCertificationRequest } from '#core/x509/request-builder.ts';
import type { recordingLog } from '#tests/fakes/log.ts';
import { baseUrl } from '#tests/fixtures/api.ts';
import { cmpServer, crmf, ir, openingMessage, passwordBasedMac } from '#tests/fixtures/cmp-client.ts';
import { basic, httpRequest } from '#tests/fixtures/enrolment.ts';
import { adminPassword, type Installation, installation } from '#tests/fixtures/installation.ts';
import { makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';
import { fuzzKey as key } from './key.ts';
import { shapeOf, type Target } from './target.ts';

const algorithm = defaultSignatureAlgorithm('p-256');
const limit = { base: 400, perKilobyte: 20 };
/** After so many inputs the service is made anew, as it keeps what it issues. */
const mostInputs = 2000;

interface Service {
  readonly site: Installation;
  readonly authorization: string;
  readonly secret: string;
  readonly token: string;
  readonly logs: readonly ReturnType<typeof recordingLog>[];
  readonly mounts: Readonly<Record<'est' | 'rest' | 'cmp' | 'management', Mount>>;
}

async function service(): Promise<Service> {
  const site = await installation();
  const { gateway, clock, log, admin } = site;
  const root = makerCa('CN=Fuzz Root');
  await register(site, 'makers', await trust(site, 'makers', root.certificate));
  const { device, password } = await site.device('pump-1');
  const config = await gateway.noOnboardingConfigs.read(admin, device.noOnboardingConfig!);
  const [management] = createManagement(gateway, log, clock, baseUrl);
  const cmp = cmpServer(gateway, clock);
  const mounts = { est: createEst(gateway), rest: createRest(gateway), cmp: cmp.mount, management };
  const signIn = await management.handle(
    httpRequest({
      path: '/api/token/',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ username: 'admin', password: adminPassword })),
    }),
  );
  const { access } = JSON.parse(Buffer.from(signIn.body as Uint8Array).toString());
  return {
    site,
    authorization: basic('pump-1', password),
    secret: config.cmpSharedSecret!,
    token: access,
    logs: [site.log, cmp.log],
    mounts,
  };
}

type Send = (service: Service, input: Uint8Array) => Promise<HttpResponse>;

/** A target that is a request handler: 500, a systemFailure of CMP and a logged defect are what must not come out. */
function handler(name: string, corpora: readonly string[], send: Send): Target {
  return {
    name,
    corpora,
    limit,
    async open() {
      let current = await service();
      let inputs = 0;
      return {
        async run(input) {
          if (++inputs % mostInputs === 0) {
            await current.site[Symbol.asyncDispose]();
            current = await service();
          }
          // The next input has room of its own in all limits on attempts; an access token lasts longer than a few of them.
          current.site.clock.advance(name === 'import' || name === 'management' ? 0 : 61_000);
          const logged = current.logs.map(({ entries }) => entries.length);
          const { status, body } = await send(current, input);
          const octets =
            body instanceof Uint8Array || typeof body === 'string' ? Buffer.from(body) : Buffer.alloc(0);
          for (const { level, event, cause } of current.logs.flatMap((log, n) =>
            log.entries.slice(logged[n]),
          )) {
            if (level === 'error' && !(cause instanceof Fault && cause.code !== 'internal'))
              throw cause ?? new Error(event);
          }
          if (status === 500) throw new Error(`answered 500: ${octets.toString()}`);
          return `${status} ${name.startsWith('cmp') && status === 200 ? told(octets) : shapeOf(octets.toString())}`;
        },
        [Symbol.asyncDispose]: () => current.site[Symbol.asyncDispose](),
      };
    },
  };
}

/** The status of a PKIMessage. */
function told(message: Uint8Array): string {
  const { body } = parsePkiMessage(message);
  const status =
    body.type === 'error' ? body.status : 'responses' in body ? statusOf(body.responses[0]) : undefined;
  const text = status ? `${status.status} ${status.failInfo} ${status.statusString}` : '';
  if (text.includes('systemFailure')) throw new Error(`answered systemFailure: ${text}`);
  return `${body.type} ${shapeOf(text)}`;
}

const statusOf = (response: object | bigint | undefined): PkiStatusInfo | undefined =>
  typeof response === 'object' && 'status' in response ? (response.status as PkiStatusInfo) : undefined;

const request = (
  path: string,
  type: string,
  body: Uint8Array | string,
  more: Partial<HttpRequest> = {},
): HttpRequest => httpRequest({ path, headers: { 'content-type': type }, body: Buffer.from(body), ...more });
const authorized = ({ authorization }: Service, type: string) => ({
  headers: { 'content-type': type, authorization },
});

/** The input is CertificationRequestInfo: it is signed, so that more than the signature is looked at. */
const signedRequest = (info: Uint8Array): Uint8Array =>
  assembleCertificationRequest(info, algorithm, key.sign(algorithm, info));
const root = makerCa('CN=Fuzz Root');
/** The input is TBSCertificate: it is signed by a trusted root. */
const signedCertificate = (tbs: Uint8Array): Uint8Array =>
  assembleCertificate(tbs, algorithm, root.key.sign(algorithm, tbs));

/** The input is CertRequest: it gets its proof of possession. */
const signedCertRequest = (certRequest: Uint8Array): Uint8Array =>
  buildCertReqMsg(certRequest, { kind: 'signature', algorithm, signature: key.sign(algorithm, certRequest) });

/** Of a TBSCertificate; empty where it has none. */
function subjectOf(tbs: Uint8Array): Name {
  try {
    return parseTbsCertificate(tbs).subject;
  } catch {
    return emptyName;
  }
}

const api = ({ token, mounts }: Service, path: string, body: string) =>
  mounts.management.handle(
    request(path, 'application/json', body, {
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        host: 'pki.example:8443',
      },
    }),
  );

let names = 0;

/** The handlers of all protocols, with everything behind them. */
export const protocols: readonly Target[] = [
  handler('est', ['request-info'], (own, input) =>
    own.mounts.est.handle(
      request(
        '/.well-known/est/simpleenroll',
        '',
        signedRequest(input).toBase64(),
        authorized(own, 'application/pkcs10'),
      ),
    ),
  ),
  handler('est-body', ['pkcs10', 'text'], (own, input) =>
    own.mounts.est.handle(
      request('/.well-known/est/serverkeygen', '', input, authorized(own, 'application/pkcs10')),
    ),
  ),
  handler('est-client', ['tbs'], (own, input) =>
    own.mounts.est.handle({
      ...httpRequest({}, [signedCertificate(input), root.certificate]),
      path: '/.well-known/est/simpleenroll',
      headers: { 'content-type': 'application/pkcs10' },
      body: Buffer.from(csr.toBase64()),
    }),
  ),
  handler('rest', ['request-info'], (own, input) => {
    const csr = encodePem('CERTIFICATE REQUEST', signedRequest(input));
    return own.mounts.rest.handle(
      request('/rest/default/enroll', '', JSON.stringify({ csr }), authorized(own, 'application/json')),
    );
  }),
  handler('rest-body', ['json'], (own, input) =>
    own.mounts.rest.handle(request('/rest/default/enroll', '', input, authorized(own, 'application/json'))),
  ),
  handler('cmp', ['protected-part'], async ({ mounts, secret }, input) => {
    const parameters = { ...passwordBasedMac };
    const mac = await computeMac(parameters, Buffer.from(secret), input);
    const contents = input[1] === undefined ? input : input.subarray(headerLength(input));
    const message = der((b) => b.sequence((s) => s.raw(contents).explicit(0, (p) => p.bitString(mac))));
    return mounts.cmp.handle(request('/.well-known/cmp', 'application/pkixcmp', message));
  }),
  handler('cmp-request', ['cert-request'], async ({ mounts, secret }, input) => {
    const message = await openingMessage({ reference: 'pump-1', secret }, ir(signedCertRequest(input)));
    return mounts.cmp.handle(request('/.well-known/cmp', 'application/pkixcmp', message));
  }),
  handler('cmp-client', ['tbs'], async ({ mounts }, input) => {
    const extraCerts = [signedCertificate(input), root.certificate];
    const message = await openingMessage({ certificate: root.certificate, key }, ir(crmf(key)), {
      extraCerts,
      header: { sender: { kind: 'directory', value: subjectOf(input) }, senderKID: undefined },
    });
    return mounts.cmp.handle(request('/.well-known/cmp', 'application/pkixcmp', message));
  }),
  handler('cmp-body', ['pki-message'], ({ mounts }, input) =>
    mounts.cmp.handle(request('/.well-known/cmp', 'application/pkixcmp', input)),
  ),
  handler('import', ['tbs'], async (own, input) => {
    const certificate = [signedCertificate(input), root.certificate]
      .map((one) => encodePem('CERTIFICATE', one))
      .join('');
    const unique_name = `input ${++names}`;
    const store = await api(
      own,
      '/api/truststores/',
      JSON.stringify({ unique_name, intended_usage: 0, trust_store_file: certificate }),
    );
    if (store.status === 500) return store;
    return api(
      own,
      '/api/issuing-cas/',
      JSON.stringify({ unique_name, issuing_ca_type: 2, private_key: key.pem(), certificate }),
    );
  }),
  handler('management', ['json'], (own, input) => api(own, '/api/devices/', Buffer.from(input).toString())),
];

const csr = signedRequest(
  der((b) =>
    b.sequence((s) =>
      s
        .integer(0)
        .sequence(() => {})
        .raw(key.publicKey.spki)
        .explicit(0, () => {}),
    ),
  ),
);

/** Octets before the contents of the first element. */
const headerLength = (bytes: Uint8Array): number => (bytes[1]! > 0x80 ? 2 + (bytes[1]! & 0x7f) : 2);
