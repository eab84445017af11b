import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createEst } from '#adapters/inbound/est/mount.ts';
import type { Mount } from '#adapters/inbound/http/exchange.ts';
import { createRest } from '#adapters/inbound/rest/mount.ts';
import type { Domain } from '#core/records/domain.ts';
import type { CredentialKind } from '#core/requester/requester.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import type { RevocationReason } from '#core/x509/crl.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import {
  CmpClient,
  type CmpCredential,
  cmpServer,
  cr,
  crmf,
  failureOf,
  kur,
} from '#tests/fixtures/cmp-client.ts';
import { basic, httpRequest } from '#tests/fixtures/enrolment.ts';
import { holder, type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { type TestKey, testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';
import { registrationAuthority } from '#tests/fixtures/registration-authority.ts';

// The table of decisions, executed: what each kind of credential permits over each protocol.

type Operation = 'enrol domain_credential' | 'enrol tls_client' | 'renew own' | 'renew other';
type Protocol = 'est' | 'rest' | 'cmp';
type Answer = 'issued' | 'unauthenticated' | 'forbidden' | 'badCsr';
/** One result for all protocols, or one for EST and REST and one for CMP. */
type Cell = Answer | readonly [http: Answer, cmp: Answer];

const protocols: readonly Protocol[] = ['est', 'rest', 'cmp'];
const operations: readonly Operation[] = [
  'enrol domain_credential',
  'enrol tls_client',
  'renew own',
  'renew other',
];

// Over EST and REST, a renewal requires a certificate and names the renewed one only by its subject.
const noSecret = ['unauthenticated', 'forbidden'] as const;
const noOther = ['badCsr', 'forbidden'] as const;
const table = {
  none: ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  secret: ['issued', 'issued', noSecret, noSecret],
  'wrong secret': ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  'secret of another domain': ['forbidden', 'forbidden', noSecret, noSecret],
  IDevID: ['issued', 'forbidden', 'forbidden', 'forbidden'],
  'IDevID of a device that is onboarded': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'IDevID that asks for the same again': ['issued', 'forbidden', 'forbidden', 'forbidden'],
  'domain credential': ['issued', 'issued', 'issued', noOther],
  'application certificate': ['forbidden', 'forbidden', 'issued', noOther],
  'registration authority': ['issued', 'issued', 'issued', ['badCsr', 'issued']],
  'revoked domain credential': ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  'domain credential on hold': ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  'expired domain credential': ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  'domain credential of another domain': ['forbidden', 'forbidden', 'forbidden', 'forbidden'],
  'foreign certificate': ['unauthenticated', 'unauthenticated', 'unauthenticated', 'unauthenticated'],
  'foreign certificate in the name of our CA': [
    'unauthenticated',
    'unauthenticated',
    'unauthenticated',
    'unauthenticated',
  ],
} as const satisfies Record<string, readonly [Cell, Cell, Cell, Cell]>;

type Credential = keyof typeof table;

/** Rows for every kind of credential in the core: a new kind fails to compile until it has one. */
const rowsOf = {
  password: 'secret',
  idevid: 'IDevID',
  domainCredential: 'domain credential',
  issuedCertificate: 'application certificate',
  registrationAuthority: 'registration authority',
} as const satisfies Record<CredentialKind, Credential>;

/** The requester: its device, its credential, and the device it requests for. */
interface Bearer {
  readonly name: string;
  readonly secret?: { readonly est: string; readonly cmp: string };
  readonly certificate?: Uint8Array;
  readonly key?: TestKey;
  readonly chain?: readonly Uint8Array[];
  /** The name in a request to enrol; default: the requester's. */
  readonly enrolsFor?: string;
}

const key = testKey('p-256', 'device');
const maker = makerCa('CN=Maker Root');
const makerIssuing = makerCa('CN=Maker Issuing', maker);
const stranger = makerCa('CN=Stranger');

let site: Installation;
let other: Bearer & { readonly certificate: Uint8Array };
let bearers: Record<Credential, () => Promise<Bearer>>;
let ask: Record<Protocol, (bearer: Bearer, operation: Operation) => Promise<string>>;
let count = 0;

async function device(domain?: number): Promise<Bearer & { readonly secret: NonNullable<Bearer['secret']> }> {
  const name = `device-${++count}`;
  const { device: record } = await site.device(name, domain);
  const config = await site.gateway.noOnboardingConfigs.read(site.admin, record.noOnboardingConfig!);
  return { name, secret: { est: config.estPassword!, cmp: config.cmpSharedSecret! } };
}

async function certified(profile: string, domain?: Domain) {
  const { name, secret } = await device(domain?.id);
  const target = { profile, domain: domain?.uniqueName };
  return {
    name,
    certificate: await site.enrol(password(name, secret.est), target, request(key, `CN=${name}`)),
  };
}

async function revoked(reason: RevocationReason): Promise<Bearer> {
  const bearer = await certified('domain_credential');
  const { records } = await site.gateway.certificates.list(site.admin, { limit: 1 });
  await site.gateway.certificates.revoke(site.admin, records[0]!.id, { reason });
  return bearer;
}

function manufactured(): Bearer & { readonly certificate: Uint8Array } {
  const name = `SN-${++count}`;
  const own = testKey('p-256', name);
  const certificate = idevid(own, makerIssuing, `serialNumber=${name}`);
  return { name, certificate, key: own, chain: [makerIssuing.certificate] };
}

/** Returns a device with a certificate for this key. */
async function onboarded(ldevid: TestKey): Promise<Bearer> {
  const bearer = manufactured();
  const evidence = holder(bearer.certificate, makerIssuing.certificate);
  await site.enrol(evidence, {}, request(ldevid, `CN=${bearer.name}`));
  return bearer;
}

async function authorityProfile(): Promise<void> {
  const { gateway, admin } = site;
  const { id: profile } = await gateway.profiles.create(admin, {
    uniqueName: 'registration_authority',
    profile: registrationAuthority,
  });
  const { profiles } = await gateway.domains.read(admin, 1);
  await gateway.domains.update(admin, 1, { profiles: [...profiles, { profile, alias: null }] });
}

beforeAll(async () => {
  site = await installation();
  const { gateway, admin, clock } = site;
  const expired = await certified('domain_credential');
  clock.advance(3 * 365 * 24 * 3_600_000);
  const elsewhere = await gateway.domains.create(admin, { uniqueName: 'elsewhere' });
  await authorityProfile();
  await register(site, 'maker', await trust(site, 'maker', maker.certificate));
  other = await certified('domain_credential');
  const issuer = formatDistinguishedName(parseCertificate(other.certificate).issuer);
  const impostor = { ...stranger, name: issuer };
  bearers = {
    none: async () => ({ name: other.name }),
    secret: () => device(),
    'wrong secret': async () => ({
      ...(await device()),
      secret: { est: 'x'.repeat(43), cmp: 'x'.repeat(43) },
    }),
    'secret of another domain': () => device(elsewhere.id),
    IDevID: async () => manufactured(),
    'IDevID of a device that is onboarded': () => onboarded(testKey('p-256', 'another')),
    'IDevID that asks for the same again': () => onboarded(key),
    'domain credential': () => certified('domain_credential'),
    'application certificate': () => certified('tls_client'),
    'registration authority': async () => ({
      ...(await certified('registration_authority')),
      enrolsFor: other.name,
    }),
    'revoked domain credential': () => revoked('keyCompromise'),
    'domain credential on hold': () => revoked('certificateHold'),
    'expired domain credential': async () => expired,
    'domain credential of another domain': () => certified('domain_credential', elsewhere),
    'foreign certificate': async () => ({
      name: other.name,
      certificate: idevid(key, stranger, `CN=${other.name},serialNumber=1`),
    }),
    'foreign certificate in the name of our CA': async () => ({
      name: other.name,
      certificate: idevid(key, impostor, `CN=${other.name},serialNumber=1`),
    }),
  };
  const est = createEst(gateway);
  const rest = createRest(gateway);
  const cmp = cmpServer(gateway, clock);
  ask = {
    est: (bearer, operation) => overHttp(est, bearer, operation),
    rest: (bearer, operation) => overHttp(rest, bearer, operation),
    cmp: (bearer, operation) => overCmp(cmp.mount, bearer, operation),
  };
});
afterAll(() => site[Symbol.asyncDispose]());

const isRenewal = (operation: Operation): boolean => operation.startsWith('renew');
const profileOf = (operation: Operation): string | undefined =>
  isRenewal(operation) ? undefined : operation.slice('enrol '.length);

function subjectOf({ name, enrolsFor }: Bearer, operation: Operation): string {
  if (operation === 'renew other') return `CN=${other.name}`;
  return `CN=${isRenewal(operation) ? name : (enrolsFor ?? name)}`;
}

async function overHttp(mount: Mount, bearer: Bearer, operation: Operation): Promise<string> {
  const isEst = mount.prefix.endsWith('/est');
  const again = isRenewal(operation) ? 're' : '';
  const profile = profileOf(operation);
  const path = isEst
    ? `/.well-known/est${profile ? `/~${profile}` : ''}/simple${again}enroll`
    : `/rest/default${profile ? `/${profile}` : ''}/${again}enroll`;
  const csr = request(key, subjectOf(bearer, operation)).toBase64();
  const { secret, certificate, chain = [] } = bearer;
  const answer = await mount.handle(
    httpRequest(
      {
        path,
        headers: {
          'content-type': isEst ? 'application/pkcs10' : 'application/json',
          ...(secret && { authorization: basic(bearer.name, secret.est) }),
        },
        body: Buffer.from(isEst ? csr : JSON.stringify({ csr })),
      },
      certificate ? [certificate, ...chain] : [],
    ),
  );
  const answers: Record<number, Answer> = {
    200: 'issued',
    400: 'badCsr',
    401: 'unauthenticated',
    403: 'forbidden',
  };
  return answers[answer.status] ?? `${answer.status} ${answer.body}`;
}

async function overCmp(mount: Mount, bearer: Bearer, operation: Operation): Promise<string> {
  const credential: CmpCredential | undefined = bearer.secret
    ? { reference: bearer.name, secret: bearer.secret.cmp }
    : bearer.certificate && {
        certificate: bearer.certificate,
        key: bearer.key ?? key,
        chain: bearer.chain ?? [],
      };
  const renews = operation === 'renew other' ? other.certificate : (bearer.certificate ?? other.certificate);
  const fields = { subject: subjectOf(bearer, operation), ...(isRenewal(operation) && { renews }) };
  const body = isRenewal(operation) ? kur(crmf(key, fields)) : cr(crmf(key, fields));
  const profile = profileOf(operation);
  const path = profile ? `/p/~${profile}` : '';
  const client = new CmpClient(mount, credential ?? { reference: '', secret: '' });
  const failure = failureOf(await client.send(body, { path, credential, implicitConfirm: true }));
  const answers: Record<string, Answer> = {
    cp: 'issued',
    kup: 'issued',
    badCertTemplate: 'badCsr',
    badMessageCheck: 'unauthenticated',
    signerNotTrusted: 'unauthenticated',
    notAuthorized: 'forbidden',
    // RFC 9483 §4.1.3: a key update request is protected by a signature, never by a MAC.
    wrongIntegrity: 'forbidden',
  };
  return answers[failure] ?? failure;
}

const rows = Object.entries(table).flatMap(([credential, cells]) =>
  protocols.map((protocol) => {
    const expected = cells.map((cell: Cell) =>
      typeof cell === 'string' ? cell : cell[protocol === 'cmp' ? 1 : 0],
    );
    return [credential as Credential, protocol, expected] as const;
  }),
);

test('every kind of credential has a row', () => {
  expect(Object.keys(table)).toEqual(expect.arrayContaining(Object.values(rowsOf)));
  expect(rows.length * operations.length).toBe(192);
});

describe('a credential permits', () => {
  test.each(rows)('%s over %s', async (credential, protocol, expected) => {
    const answers: string[] = [];
    for (const operation of operations) {
      answers.push(await ask[protocol](await bearers[credential](), operation));
    }
    expect(answers).toEqual(expected);
  });
});
