import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { readDer } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import { addExtension, addExtensions, type Extension, readExtensions } from '#core/x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  decodeAuthorityKeyIdentifier,
  decodeSubjectAltName,
  decodeSubjectKeyIdentifier,
  subjectAltNameExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
  decodeAuthorityInfoAccess,
  decodeCrlDistributionPoints,
} from '#core/x509/extensions/locations.ts';
import { decodeNameConstraints, nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import {
  certificatePoliciesExtension,
  decodeCertificatePolicies,
  decodeInhibitAnyPolicy,
  decodePolicyConstraints,
  decodePolicyMappings,
  inhibitAnyPolicyExtension,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import {
  crlNumberExtension,
  decodeCrlNumber,
  decodeInvalidityDate,
  decodeReasonCode,
  invalidityDateExtension,
  reasonCodeExtension,
  revocationReasonCodes,
  revocationReasons,
} from '#core/x509/extensions/revocation.ts';
import {
  basicConstraintsExtension,
  decodeBasicConstraints,
  decodeExtendedKeyUsage,
  decodeKeyUsage,
  extendedKeyUsageExtension,
  keyUsageExtension,
  keyUsages,
} from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import { withSomethingAdded } from '#tests/fixtures/added-element.ts';
import { runs } from '#tests/property.ts';

const bytes = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits.replaceAll(' ', ''), 'hex'));
const day = Date.UTC(2026, 0, 1);
const uris = ['http://a.example/1.crl', 'ldap://b.example/x'];
const subtrees = ['DNS:example.com', 'IP:10.0.0.0/255.0.0.0', 'DirName:O=Example'].map(parseGeneralName);

/** What the builder makes, its critical flag, its DER, what the reader returns, and the expected result. */
const rows: readonly (readonly [
  string,
  Extension,
  boolean,
  string,
  (value: Uint8Array) => unknown,
  unknown,
])[] = [
  [
    'keyUsage of one octet',
    keyUsageExtension(['keyCertSign', 'cRLSign']),
    true,
    '03020106',
    decodeKeyUsage,
    ['keyCertSign', 'cRLSign'],
  ],
  [
    'keyUsage of two octets',
    keyUsageExtension(['keyAgreement', 'decipherOnly']),
    true,
    '0303070880',
    decodeKeyUsage,
    ['keyAgreement', 'decipherOnly'],
  ],
  [
    'extendedKeyUsage',
    extendedKeyUsageExtension([oid.clientAuth]),
    false,
    '300A06082B06010505070302',
    decodeExtendedKeyUsage,
    [oid.clientAuth],
  ],
  [
    'basicConstraints of a device',
    basicConstraintsExtension({ ca: false }),
    true,
    '3000',
    decodeBasicConstraints,
    { ca: false },
  ],
  [
    'basicConstraints of a CA',
    basicConstraintsExtension({ ca: true, pathLength: 0 }),
    true,
    '30060101FF020100',
    decodeBasicConstraints,
    { ca: true, pathLength: 0 },
  ],
  [
    'subjectAltName',
    subjectAltNameExtension([parseGeneralName('DNS:a')]),
    false,
    '3003820161',
    decodeSubjectAltName,
    [{ kind: 'dns', value: 'a' }],
  ],
  [
    'subjectKeyIdentifier',
    subjectKeyIdentifierExtension(bytes('0102')),
    false,
    '04020102',
    decodeSubjectKeyIdentifier,
    bytes('0102'),
  ],
  [
    'authorityKeyIdentifier',
    authorityKeyIdentifierExtension(bytes('0102')),
    false,
    '300480020102',
    decodeAuthorityKeyIdentifier,
    { keyIdentifier: bytes('0102') },
  ],
  [
    'cRLDistributionPoints',
    crlDistributionPointsExtension(['urn:a']),
    false,
    '300D300BA009A0078605' + '75726E3A61',
    decodeCrlDistributionPoints,
    ['urn:a'],
  ],
  [
    'cRLDistributionPoints with two URIs',
    crlDistributionPointsExtension(uris),
    false,
    hex(crlDistributionPointsExtension(uris).value),
    decodeCrlDistributionPoints,
    uris,
  ],
  [
    'authorityInfoAccess',
    authorityInfoAccessExtension({ caIssuers: ['urn:a'], ocsp: [] }),
    false,
    '3013301106082B06010505073002860575726E3A61',
    decodeAuthorityInfoAccess,
    { caIssuers: ['urn:a'], ocsp: [] },
  ],
  [
    'certificatePolicies',
    certificatePoliciesExtension([{ oid: '1.2.3' }]),
    false,
    '3006300406022A03',
    decodeCertificatePolicies,
    [{ oid: '1.2.3' }],
  ],
  [
    'certificatePolicies with a CPS',
    certificatePoliciesExtension([{ oid: '1.2.3', cps: ['urn:a'] }]),
    false,
    '301B301906022A033013301106082B06010505070201160575726E3A61',
    decodeCertificatePolicies,
    [{ oid: '1.2.3', cps: ['urn:a'] }],
  ],
  [
    'policyMappings',
    policyMappingsExtension([{ issuerDomainPolicy: '1.2.3', subjectDomainPolicy: '1.2.4' }]),
    true,
    '300A300806022A0306022A04',
    decodePolicyMappings,
    [{ issuerDomainPolicy: '1.2.3', subjectDomainPolicy: '1.2.4' }],
  ],
  [
    'policyConstraints',
    policyConstraintsExtension({ requireExplicitPolicy: 0, inhibitPolicyMapping: 1 }),
    true,
    '3006800100810101',
    decodePolicyConstraints,
    { requireExplicitPolicy: 0, inhibitPolicyMapping: 1 },
  ],
  [
    'policyConstraints of one kind',
    policyConstraintsExtension({ inhibitPolicyMapping: 0 }),
    true,
    '3003810100',
    decodePolicyConstraints,
    { inhibitPolicyMapping: 0 },
  ],
  ['inhibitAnyPolicy', inhibitAnyPolicyExtension(0), true, '020100', decodeInhibitAnyPolicy, 0],
  [
    'nameConstraints',
    nameConstraintsExtension({ permitted: [parseGeneralName('DNS:a')], excluded: [] }),
    true,
    '3007A0053003820161',
    decodeNameConstraints,
    { permitted: [{ kind: 'dns', value: 'a' }], excluded: [] },
  ],
  ['cRLNumber', crlNumberExtension(1000n), false, '020203E8', decodeCrlNumber, 1000n],
  ['reasonCode', reasonCodeExtension('keyCompromise'), false, '0A0101', decodeReasonCode, 'keyCompromise'],
  [
    'invalidityDate',
    invalidityDateExtension(day),
    false,
    `180F${Buffer.from('20260101000000Z').toString('hex').toUpperCase()}`,
    decodeInvalidityDate,
    day,
  ],
];

describe('extensions', () => {
  test.each(rows)('%s is encoded and read again', (_, extension, critical, digits, decode, value) => {
    expect(extension.critical).toBe(critical);
    expect(hex(extension.value)).toBe(digits);
    expect(decode(extension.value)).toEqual(value);
  });

  test.each(rows)(
    '%s with something appended anywhere is rejected',
    (_, extension, _critical, _digits, decode) => {
      for (const one of withSomethingAdded(extension.value)) {
        let read: unknown;
        expect(() => {
          read = decode(one);
        }).toThrow(expect.objectContaining({ code: 'malformed' }));
        expect(read).toBeUndefined();
      }
    },
  );

  test('subtrees of all kinds are read as they were written', () => {
    const constraints = { permitted: subtrees.slice(0, 2), excluded: subtrees.slice(2) };
    expect(decodeNameConstraints(nameConstraintsExtension(constraints).value)).toEqual(constraints);
  });

  test('a subjectAltName can be critical, as an empty subject requires', () => {
    expect(subjectAltNameExtension([parseGeneralName('DNS:a')], true).critical).toBe(true);
  });

  test('every set of key usages is read as it was written', () => {
    fc.assert(
      fc.property(fc.subarray([...keyUsages]), (usages) => {
        expect(decodeKeyUsage(keyUsageExtension(usages).value)).toEqual(usages);
      }),
      runs(200),
    );
  });

  test.each([...revocationReasons])('the reason %s is read as it was written', (reason) => {
    expect(decodeReasonCode(reasonCodeExtension(reason).value)).toBe(reason);
    expect(reasonCodeExtension(reason).value.at(-1)).toBe(revocationReasonCodes[reason]);
  });

  test('a CRL number has 20 octets at most', () => {
    const largest = 2n ** 159n - 1n;
    expect(decodeCrlNumber(crlNumberExtension(largest).value)).toBe(largest);
    expect(() => crlNumberExtension(largest + 1n)).toThrow(Fault);
    expect(() => crlNumberExtension(-1n)).toThrow(Fault);
  });

  test('an authorityKeyIdentifier with issuer and serial number is read', () => {
    const value = bytes('300A A103 820161 8203 010203');
    expect(decodeAuthorityKeyIdentifier(value)).toEqual({
      issuer: [{ kind: 'dns', value: 'a' }],
      serial: bytes('010203'),
    });
  });

  test('distribution points that are not URIs, and unused parts, are ignored', () => {
    // [0]{[1] relative name}, [1] reasons, [2] cRLIssuer; then a point with a directory name and a URI
    const relative = '301A A00F A10D 300B 0603550403 0C0461616161 8102 0780 A203820161';
    const full = '300D A00B A009 A4023000 8603613A62';
    expect(decodeCrlDistributionPoints(bytes(`302B ${relative} ${full}`))).toEqual(['a:b']);
  });

  test('FALSE is accepted although it is the default and must be omitted', () => {
    expect(decodeBasicConstraints(bytes('3003010100'))).toEqual({ ca: false });
    const extensions = bytes('3011 300F 0603551D13 010100 0405 3003010100');
    expect(readDer(extensions, readExtensions)).toEqual([
      { oid: oid.basicConstraints, critical: false, value: bytes('3003010100') },
    ]);
  });

  test.each<[string, (value: Uint8Array) => unknown, string]>([
    ['key usage with a third octet', decodeKeyUsage, '030400808080'],
    ['key usage with trailing bytes', decodeKeyUsage, '03020106 00'],
    ['an empty extendedKeyUsage', decodeExtendedKeyUsage, '3000'],
    ['a negative path length', decodeBasicConstraints, '30060101FF0201FF'],
    ['an empty subjectAltName', decodeSubjectAltName, '3000'],
    ['an empty list of distribution points', decodeCrlDistributionPoints, '3000'],
    ['an empty authorityInfoAccess', decodeAuthorityInfoAccess, '3000'],
    ['no policies', decodeCertificatePolicies, '3000'],
    ['a policy twice', decodeCertificatePolicies, '300C300406022A03300406022A03'],
    ['a mapping from anyPolicy', decodePolicyMappings, '300C300A0604551D20000602 2A04'],
    ['a mapping to anyPolicy', decodePolicyMappings, '300C300A06022A040604551D2000'],
    ['empty policy constraints', decodePolicyConstraints, '3000'],
    ['a negative skip count', decodeInhibitAnyPolicy, '0201FF'],
    ['empty name constraints', decodeNameConstraints, '3000'],
    ['name constraints without a subtree', decodeNameConstraints, '3002A000'],
    ['name constraints with a minimum', decodeNameConstraints, '300AA0083006820161800101'],
    ['a constraint on an IP address without a mask', decodeNameConstraints, '300AA008300687040A000000'],
    ['a negative CRL number', decodeCrlNumber, '0201FF'],
    ['a CRL number of 21 octets', decodeCrlNumber, `0215${'01'.repeat(21)}`],
    ['the reason 7, which is not used', decodeReasonCode, '0A0107'],
    ['a reason that is an INTEGER', decodeReasonCode, '020101'],
    ['an invalidity date in UTCTime', decodeInvalidityDate, '170D3730303130313030303030305A'],
  ])('%s is rejected', (_, decode, digits) => {
    expect(() => decode(bytes(digits))).toThrow(Fault);
  });

  test('arbitrary and changed octets give a value or a Fault in every decoder', () => {
    const changed = fc
      .tuple(fc.constantFrom(...rows), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat({ max: 3 }))
      .map(([row, at, octet, cut]) => {
        const { value } = row[1];
        return value.with(at % value.length, octet).subarray(0, value.length - (cut === 0 ? 1 : 0));
      });
    const inputs = fc.oneof(fc.uint8Array({ maxLength: 40 }), { arbitrary: changed, weight: 4 });
    fc.assert(
      fc.property(inputs, (octets) => {
        for (const [, , , , decode] of rows) {
          try {
            decode(octets);
          } catch (error) {
            expect(error).toBeInstanceOf(Fault);
            expect((error as Fault).code).toBe('malformed');
          }
        }
      }),
      runs(1500),
    );
  });
});

describe('lists of extensions', () => {
  const one: Extension = { oid: '1.2.3', critical: true, value: bytes('0500') };

  test('are read as they were written', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.record({
            oid: fc.nat({ max: 200 }).map((arc) => `1.2.${arc}`),
            critical: fc.boolean(),
            value: fc.uint8Array({ maxLength: 300 }),
          }),
          { selector: (extension) => extension.oid, minLength: 1, maxLength: 6 },
        ),
        (extensions) => {
          const encoded = der((b) => addExtensions(b, extensions));
          expect(readDer(encoded, readExtensions)).toEqual(extensions);
        },
      ),
      runs(300),
    );
  });

  test('that are empty or contain an extension twice are rejected', () => {
    expect(() =>
      readDer(
        der((b) => addExtensions(b, [one, one])),
        readExtensions,
      ),
    ).toThrow('occurs twice');
    expect(() => readDer(bytes('3000'), readExtensions)).toThrow(Fault);
  });

  test('with 64 extensions are read, and with 65 rejected', () => {
    const many = Array.from({ length: 65 }, (_, i) => ({ ...one, oid: `1.2.${i}` }));
    const read = (count: number) =>
      readDer(
        der((b) => addExtensions(b, many.slice(0, count))),
        readExtensions,
      );
    expect(read(64)).toHaveLength(64);
    expect(() => read(65)).toThrow('too many');
  });

  test('set the critical flag only for critical extensions', () => {
    expect(hex(der((b) => addExtension(b, one)))).toBe('300B06022A030101FF04020500');
    expect(hex(der((b) => addExtension(b, { ...one, critical: false })))).toBe('300806022A0304020500');
  });
});
