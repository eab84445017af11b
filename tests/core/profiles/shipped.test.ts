import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import { Fault } from '#core/fault.ts';
import { compileProfile, type ProfileOutcome } from '#core/profiles/apply.ts';
import { parseProfileRules } from '#core/profiles/parse.ts';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { defaultSignatureAlgorithm, type KeyType } from '#core/x509/algorithm.ts';
import {
  basicConstraintsOf,
  buildTbsCertificate,
  extendedKeyUsageOf,
  extension,
  keyUsageOf,
  subjectAltNamesOf,
} from '#core/x509/certificate.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { lint } from '#core/x509/lint.ts';
import { oid } from '#core/x509/oids.ts';
import type { VerifiedRequest } from '#core/x509/request.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { runs } from '#tests/property.ts';
import { issuer, namesOf, refusal, requestFor, subjectOf, surroundings, type Wish } from './rehearsal.ts';

type Shipped = keyof typeof shippedProfiles;
const names = Object.keys(shippedProfiles) as Shipped[];
const compiled = Object.fromEntries(
  names.map((name) => [name, compileProfile(shippedProfiles[name], patterns)]),
) as Record<Shipped, ReturnType<typeof compileProfile>>;

const give = (profile: Shipped, request: VerifiedRequest, around = {}): ProfileOutcome =>
  compiled[profile].apply({ ...surroundings, request, ...around });

/** Returns the lint findings of a certificate with this outcome. */
const findings = (outcome: ProfileOutcome, key: KeyType): readonly string[] =>
  lint(
    buildTbsCertificate({
      ...outcome,
      serial: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
      signatureAlgorithm: defaultSignatureAlgorithm('p-256'),
      issuer: issuer.subject,
      spki: testKey(key).publicKey.spki,
    }),
    issuer,
  );

/** A request that fits the profile. */
const wishes: Readonly<Record<Shipped, Wish>> = {
  domain_credential: { subject: 'CN=pump-1' },
  tls_client: { subject: 'CN=pump-1' },
  tls_server: { subject: 'CN=pump-1', names: ['DNS:pump-1.plant.example', 'IP:10.0.0.1'] },
  opc_ua_client: { subject: 'CN=UaExpert@pump-1', names: ['URI:urn:pump-1:acme:client'] },
  opc_ua_server: { subject: 'CN=UaServer@pump-1', names: ['URI:urn:pump-1:acme:server', 'DNS:pump-1'] },
  idevid: { subject: 'serialNumber=SN-0001,O=ACME' },
  issuing_ca: { subject: 'CN=Plant CA,O=ACME,C=DE' },
  dev_owner_id: { subject: 'CN=ACME', names: ['URI:dev-owner:SN-0001.01.AB'] },
  code_signing: { subject: 'CN=ACME Firmware' },
  upstream_device: { subject: 'CN=pump-1', names: ['DNS:pump-1.plant.example'] },
};

test('every shipped profile is valid and unchanged by JSON', () => {
  for (const name of names) {
    const stored = JSON.parse(JSON.stringify(shippedProfiles[name]));
    expect(parseProfileRules(stored, patterns) as unknown).toEqual(shippedProfiles[name]);
  }
});

describe('key types', () => {
  const signing = 'digitalSignature';
  const encipher = 'digitalSignature,keyEncipherment';
  const opcUa = 'digitalSignature,nonRepudiation,keyEncipherment,dataEncipherment';
  const opcUaEc = 'digitalSignature,nonRepudiation';
  const ca = 'keyCertSign,cRLSign';
  const no = undefined;
  const columns = ['rsa-2048', 'rsa-3072', 'p-256', 'ed25519', 'ml-dsa-65'] as const satisfies KeyType[];
  const rows: Readonly<Record<Shipped, readonly (string | undefined)[]>> = {
    domain_credential: [encipher, encipher, 'digitalSignature,keyAgreement', signing, signing],
    tls_client: [signing, signing, signing, signing, signing],
    tls_server: [encipher, encipher, signing, signing, signing],
    opc_ua_client: [opcUa, opcUa, opcUaEc, opcUaEc, no],
    opc_ua_server: [opcUa, opcUa, opcUaEc, opcUaEc, no],
    idevid: [encipher, encipher, signing, signing, signing],
    issuing_ca: [no, ca, ca, ca, ca],
    dev_owner_id: [signing, signing, signing, signing, signing],
    code_signing: [no, signing, signing, signing, signing],
    upstream_device: [opcUa, opcUa, `${opcUaEc},keyAgreement`, opcUaEc, opcUaEc],
  };
  for (const name of names) {
    columns.forEach((key, i) => {
      const usages = rows[name][i];
      test(`${name} with ${key}: ${usages ?? 'rejected'}`, () => {
        const request = requestFor({ ...wishes[name], key });
        if (usages === undefined) {
          expect(refusal(() => give(name, request))).toStartWith(`badAlgorithm: keys: ${key} is not allowed`);
          return;
        }
        const outcome = give(name, request);
        expect(keyUsageOf(outcome)?.join()).toBe(usages);
        expect(findings(outcome, key)).toEqual([]);
      });
    });
  }
});

describe('the outcome of each profile', () => {
  const { serverAuth, clientAuth, codeSigning } = oid;
  const rows: Readonly<
    Record<Shipped, { purposes?: string[]; ca?: boolean; until: string; subject: string; names: string[] }>
  > = {
    domain_credential: {
      purposes: [clientAuth],
      until: '2028-05-17T12:30:15',
      subject: 'CN=pump-1',
      names: [],
    },
    tls_client: { purposes: [clientAuth], until: '2027-05-17T12:30:15', subject: 'CN=pump-1', names: [] },
    tls_server: {
      purposes: [serverAuth],
      until: '2027-05-17T12:30:15',
      subject: 'CN=pump-1',
      names: ['DNS:pump-1.plant.example', 'IP:10.0.0.1'],
    },
    opc_ua_client: {
      purposes: [clientAuth],
      until: '2028-05-17T12:30:15',
      subject: 'O=plant,CN=UaExpert@pump-1',
      names: ['URI:urn:pump-1:acme:client'],
    },
    opc_ua_server: {
      purposes: [serverAuth],
      until: '2028-05-17T12:30:15',
      subject: 'O=plant,CN=UaServer@pump-1',
      names: ['URI:urn:pump-1:acme:server', 'DNS:pump-1'],
    },
    // The test CA expires in 2060.
    idevid: { until: '2060-01-01T00:00:00', subject: 'serialNumber=SN-0001,O=ACME', names: [] },
    issuing_ca: { ca: true, until: '2031-05-17T12:30:15', subject: 'CN=Plant CA,O=ACME,C=DE', names: [] },
    dev_owner_id: {
      until: '2031-05-17T12:30:15',
      subject: 'CN=ACME',
      names: ['URI:dev-owner:SN-0001.01.AB'],
    },
    code_signing: {
      purposes: [codeSigning],
      until: '2029-05-17T12:30:15',
      subject: 'CN=ACME Firmware',
      names: [],
    },
    upstream_device: {
      until: '2029-05-17T12:30:15',
      subject: 'CN=pump-1',
      names: ['DNS:pump-1.plant.example'],
    },
  };
  for (const name of names) {
    test(name, () => {
      const row = rows[name];
      const outcome = give(name, requestFor(wishes[name]));
      expect(extendedKeyUsageOf(outcome)).toEqual(row.purposes);
      expect(basicConstraintsOf(outcome)?.ca ?? false).toBe(row.ca ?? false);
      expect(new Date(outcome.notAfter).toISOString()).toBe(`${row.until}.000Z`);
      expect(subjectOf(outcome)).toBe(row.subject);
      expect(namesOf(outcome)).toEqual(row.names);
      expect(extension(outcome, oid.crlDistributionPoints)).toBeDefined();
      expect(extension(outcome, oid.authorityInfoAccess)).toBeDefined();
    });
  }
});

describe('requests of common clients', () => {
  const rows: readonly [profile: Shipped, wish: Wish, subject: string, names: string[]][] = [
    // openssl req -subj /CN=pump-1
    ['domain_credential', { subject: 'CN=pump-1' }, 'CN=pump-1', []],
    ['domain_credential', {}, 'CN=pump-1', []],
    [
      'domain_credential',
      { subject: 'CN=pump-1,OU=a,OU=b,O=ACME,L=X,ST=Y,C=DE' },
      'CN=pump-1,OU=a,OU=b,O=ACME,L=X,ST=Y,C=DE',
      [],
    ],
    [
      'domain_credential',
      { subject: 'serialNumber=SN-0001,CN=pump-1' },
      'serialNumber=SN-0001,CN=pump-1',
      [],
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1', names: ['DNS:pump-1', 'DNS:PUMP-1.plant.example'] },
      'CN=pump-1',
      ['DNS:pump-1', 'DNS:PUMP-1.plant.example'],
    ],
    ['tls_client', {}, 'CN=pump-1', []],
    // The common name of a server becomes a DNS name when there is none; an address does not.
    ['tls_server', { subject: 'CN=gate.example' }, 'CN=gate.example', ['DNS:gate.example']],
    ['tls_server', { subject: 'CN=10.0.0.1', names: ['IP:10.0.0.1'] }, 'CN=10.0.0.1', ['IP:10.0.0.1']],
    ['tls_server', { names: ['DNS:gate.example'] }, '', ['DNS:gate.example']],
    [
      'opc_ua_server',
      { subject: 'CN=S,O=ACME,DC=pump-1', names: ['URI:http://x/y', 'IP:10.0.0.1'] },
      'CN=S,O=ACME,DC=pump-1',
      ['URI:http://x/y', 'IP:10.0.0.1'],
    ],
    ['idevid', { subject: 'CN=pump-1' }, 'serialNumber=SN-0001,CN=pump-1', []],
  ];
  for (const [profile, wish, subject, altNames] of rows) {
    test(`${profile}: ${wish.subject ?? ''} ${wish.names ?? ''}`, () => {
      const outcome = give(profile, requestFor(wish));
      expect(subjectOf(outcome)).toBe(subject);
      expect(namesOf(outcome)).toEqual(altNames);
      expect(findings(outcome, 'p-256')).toEqual([]);
    });
  }

  test('key usages that clients request by habit are accepted', () => {
    const extensions = [
      basicConstraintsExtension({ ca: false }),
      keyUsageExtension(['digitalSignature', 'nonRepudiation', 'keyEncipherment']),
      extendedKeyUsageExtension([oid.serverAuth, oid.clientAuth]),
      { oid: '2.16.840.1.113730.1.13', critical: false, value: Uint8Array.of(0x16, 1, 65) },
    ];
    for (const name of names) {
      const outcome = give(name, requestFor({ ...wishes[name], extensions }));
      expect(findings(outcome, 'p-256')).toEqual([]);
      expect(extension(outcome, '2.16.840.1.113730.1.13')).toBeUndefined();
    }
  });

  test('an OPC UA server that is also a client requests clientAuth', () => {
    const extensions = [extendedKeyUsageExtension([oid.serverAuth, oid.clientAuth])];
    const outcome = give('opc_ua_server', requestFor({ ...wishes.opc_ua_server, extensions }));
    expect(extendedKeyUsageOf(outcome)).toEqual([oid.serverAuth, oid.clientAuth]);
  });
});

describe('rejected requests', () => {
  const rows: readonly [profile: Shipped, wish: Wish, detail: string][] = [
    [
      'domain_credential',
      { subject: 'CN=pump-2' },
      'subject.CN: "pump-2" is not allowed: the profile fixes "pump-1"',
    ],
    ['domain_credential', { subject: 'CN=pump-1,CN=pump-2' }, 'subject.CN: "pump-2" is not allowed'],
    ['domain_credential', { subject: 'CN=pump-1+CN=pump-2' }, 'subject.CN: "pump-2" is not allowed'],
    [
      'domain_credential',
      { subject: 'CN=pump-1,serialNumber=SN-0002' },
      'subject.serialNumber: "SN-0002" is not allowed; allowed: "SN-0001"',
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1,UID=pump-2' },
      'subject.UID: the profile does not allow this attribute',
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1', names: ['DNS:pump-2'] },
      'subjectAltName.dns: "pump-2" does not match the pattern',
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1', names: ['DNS:pump-10'] },
      'subjectAltName.dns: "pump-10" does not match the pattern',
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1', names: ['DNS:x.pump-1'] },
      'subjectAltName.dns: "x.pump-1" does not match the pattern',
    ],
    [
      'domain_credential',
      { subject: 'CN=pump-1', names: ['URI:urn:pump-2'] },
      'subjectAltName.uri: the profile does not allow "URI:urn:pump-2"',
    ],
    ['tls_client', { subject: 'CN=admin' }, 'subject.CN: "admin" is not allowed: the profile fixes "pump-1"'],
    [
      'tls_server',
      { subject: 'CN=10.0.0.1' },
      'subjectAltName: the request must contain at least one of: DNS name, IP address',
    ],
    ['tls_server', {}, 'subjectAltName: the request must contain at least one of'],
    [
      'tls_server',
      { subject: 'CN=x', names: ['DNS:*.example.com'] },
      'subjectAltName.dns: "*.example.com" is not a valid DNS name',
    ],
    [
      'opc_ua_client',
      { subject: 'CN=pump-2', names: ['URI:urn:x'] },
      'subject.CN: "pump-2" does not match the pattern',
    ],
    [
      'opc_ua_client',
      { subject: 'CN=pump-1@pump-2', names: ['URI:urn:x'] },
      'subject.CN: "pump-1@pump-2" does not match the pattern',
    ],
    ['opc_ua_client', { subject: 'CN=pump-1' }, 'subjectAltName.uri: the request must contain a value'],
    ['opc_ua_client', { names: ['URI:urn:x'] }, 'subject.CN: the request must contain a value'],
    [
      'opc_ua_server',
      { subject: 'CN=x', names: ['URI:urn:x'] },
      'subjectAltName: the request must contain at least one of: DNS name, IP address',
    ],
    [
      'opc_ua_server',
      { subject: 'CN=x', names: ['URI:urn:x', 'URI:urn:y', 'DNS:x'] },
      'subjectAltName.uri: "urn:y" exceeds the limit: the profile allows at most 1',
    ],
    [
      'opc_ua_server',
      { ...wishes.opc_ua_server, extensions: [extendedKeyUsageExtension([oid.clientAuth])] },
      'extensions.extendedKeyUsage: the request must contain serverAuth',
    ],
    [
      'idevid',
      { subject: 'serialNumber=SN-0002' },
      'subject.serialNumber: "SN-0002" is not allowed: the profile fixes "SN-0001"',
    ],
    ['issuing_ca', {}, 'subject.CN: the request must contain a value'],
    [
      'issuing_ca',
      { subject: 'CN=x', names: ['DNS:x'] },
      'subjectAltName.dns: the profile does not allow "DNS:x"',
    ],
    [
      'dev_owner_id',
      { subject: 'CN=x', names: ['URI:https://x'] },
      'subjectAltName.uri: "https://x" does not match the pattern "dev-owner:.+"',
    ],
    ['code_signing', {}, 'subject.CN: the request must contain a value'],
  ];
  for (const [profile, wish, detail] of rows) {
    test(`${profile}: ${detail}`, () => {
      expect(refusal(() => give(profile, requestFor(wish)))).toStartWith(`badCsr: ${detail}`);
    });
  }

  test('only the issuing CA profile issues CA certificates', () => {
    const extensions = [basicConstraintsExtension({ ca: true })];
    for (const name of names) {
      const outcome = refusal(() => give(name, requestFor({ ...wishes[name], extensions })));
      const start =
        name === 'issuing_ca'
          ? 'no fault'
          : 'badCsr: extensions.basicConstraints: the request is for a CA certificate';
      expect(outcome).toStartWith(start);
    }
  });

  test('an IDevID requires a device with a serial number', () => {
    const device = { id: 7, commonName: 'pump-1', serialNumber: '' };
    expect(refusal(() => give('idevid', requestFor({ subject: 'CN=pump-1' }), { device }))).toBe(
      'badCsr: subject.serialNumber: the profile fixes {device.serial_number}, but the requester is not a device with a serial number',
    );
  });
});

test('the profiles that the service uses for itself require no device', () => {
  for (const name of ['tls_server', 'issuing_ca', 'dev_owner_id', 'code_signing'] as const) {
    const outcome = give(name, requestFor(wishes[name]), { device: undefined });
    expect(findings(outcome, 'p-256')).toEqual([]);
  }
});

/** Requests of clients: a request that fits the profile, with additions or replacements. */
const attributeText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('pump-1', 'SN-0001', 'ACME', 'DE', 'a.example', 'plant') },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }) },
);
const attributeType = fc.constantFrom('CN', 'O', 'OU', 'OU', 'C', 'serialNumber', 'L', 'ST', 'DC', 'UID');
const escaped = (value: string): string =>
  value.replace(/[^A-Za-z0-9.-]/gu, (c) => Buffer.from(c).toString('hex').replace(/../g, '\\$&'));
const moreAttributes = fc.array(
  fc.tuple(attributeType, attributeText).map(([type, value]) => `${type}=${escaped(value)}`),
  { maxLength: 2 },
);
const moreNames = fc.array(
  fc.constantFrom(
    'DNS:pump-1',
    'DNS:pump-1.plant.example',
    'DNS:gate.example',
    'IP:10.0.0.1',
    'IP:2001:db8::1',
    'URI:urn:pump-1:app',
    'email:a@plant.example',
  ),
  { maxLength: 2 },
);
const asked = fc
  .tuple(fc.constantFrom(...names), fc.boolean(), fc.boolean(), moreAttributes, moreNames)
  .map(([name, bareSubject, bareNames, attributes, altNames]) => {
    const usual = wishes[name];
    const subject = [...(bareSubject ? [] : [usual.subject]), ...attributes].filter(Boolean).join(',');
    return { name, wish: { subject, names: [...(bareNames ? [] : (usual.names ?? [])), ...altNames] } };
  });

test('any request for a shipped profile is rejected with a Fault, or gives a certificate without lint findings', () => {
  fc.assert(
    fc.property(asked, ({ name, wish }) => {
      const outcome = attempt(name, wish);
      if (outcome) expect(findings(outcome, 'p-256')).toEqual([]);
    }),
    runs(300),
  );
});

test('a renewal with the names of the certificate gives the same names (RFC 7030 §4.2.2)', () => {
  fc.assert(
    fc.property(asked, ({ name, wish }) => {
      const first = attempt(name, wish);
      if (!first) return;
      const again = give(
        name,
        requestFor({ subject: first.subject, names: subjectAltNamesOf(first), key: 'p-384' }),
      );
      expect(again.subject.der).toEqual(first.subject.der);
      expect(extension(again, oid.subjectAltName)).toEqual(extension(first, oid.subjectAltName));
    }),
    runs(300),
  );
});

/** Returns the outcome, or undefined if the request is rejected with a Fault about it. */
function attempt(name: Shipped, wish: Wish): ProfileOutcome | undefined {
  let request: VerifiedRequest;
  try {
    request = requestFor(wish);
  } catch (error) {
    // Such a name cannot be encoded.
    expect(error).toBeInstanceOf(Fault);
    return undefined;
  }
  try {
    return give(name, request);
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    expect((error as Fault).code).toBe('badCsr');
    return undefined;
  }
}

test('a sufficient share of those requests succeeds', () => {
  const granted = fc.sample(asked, { numRuns: 300, seed: 1 }).filter(({ name, wish }) => attempt(name, wish));
  expect(granted.length).toBeGreaterThan(60);
});

test('a general name from a shipped profile can be written by clients', () => {
  for (const name of names) {
    for (const text of namesOf(give(name, requestFor(wishes[name])))) {
      expect(() => parseGeneralName(text)).not.toThrow();
    }
  }
});
