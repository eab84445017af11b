import { describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import * as asn1js from 'asn1js';
import fc from 'fast-check';
import { Certificate as PkijsCertificate } from 'pkijs';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { readDer } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import { type KeyType, type SignatureAlgorithm, signatureAlgorithmIdentifier } from '#core/x509/algorithm.ts';
import {
  assembleCertificate,
  authorityKeyIdentifierOf,
  basicConstraintsOf,
  buildTbsCertificate,
  type CertificateTemplate,
  extendedKeyUsageOf,
  extension,
  fingerprint,
  formatSerial,
  keyUsageOf,
  parseCertificate,
  subjectAltNamesOf,
  subjectKeyIdentifierOf,
} from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '#core/x509/extensions/locations.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import {
  certificatePoliciesExtension,
  inhibitAnyPolicyExtension,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { emptyName, formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { keyIdentifier, readPublicKey, verifySignature } from '#core/x509/public-key.ts';
import { notAfter, notBefore, testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const device = testKey('p-256', 'device');
const template: CertificateTemplate = {
  serial: Uint8Array.of(1),
  signatureAlgorithm: 'ecdsa-sha256',
  issuer: parseDistinguishedName('CN=CA'),
  notBefore,
  notAfter,
  subject: parseDistinguishedName('CN=device'),
  spki: device.publicKey.spki,
  extensions: [],
};
/** Parses the certificate again; its signature is not checked here. */
const unsigned = (fields: Partial<CertificateTemplate>) =>
  parseCertificate(
    assembleCertificate(buildTbsCertificate({ ...template, ...fields }), 'ecdsa-sha256', Uint8Array.of(0)),
  );

/** What OpenSSL prints for the certificate with one of every extension. */
const printed = `\
X509v3 Basic Constraints: critical
CA:TRUE, pathlen:1
X509v3 Key Usage: critical
Digital Signature, Certificate Sign, Decipher Only
X509v3 Extended Key Usage:
TLS Web Server Authentication, TLS Web Client Authentication
X509v3 Subject Alternative Name:
DNS:a.example, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, URI:urn:a, email:a@b, Registered ID:1.2.3, DirName:/CN=x
X509v3 CRL Distribution Points:
Full Name:
URI:http://a.example/1.crl
URI:http://b.example/1.crl
Authority Information Access:
OCSP - URI:http://a.example/ocsp
CA Issuers - URI:http://a.example/1.cer
X509v3 Certificate Policies:
Policy: 1.2.3.4
CPS: http://a.example/cps
Policy: X509v3 Any Policy
X509v3 Policy Mappings: critical
1.2.3:1.2.4
X509v3 Policy Constraints: critical
Require Explicit Policy:2, Inhibit Policy Mapping:0
X509v3 Inhibit Any Policy: critical
3
X509v3 Name Constraints: critical
Permitted:
DNS:example
IP:10.0.0.0/255.0.0.0
Excluded:
email:b
DirName:O = y`;

const cas: readonly (readonly [KeyType, SignatureAlgorithm])[] = [
  ['rsa-2048', 'rsa-pkcs1-sha256'],
  ['rsa-2048', 'rsa-pss-sha256'],
  ['rsa-3072', 'rsa-pkcs1-sha384'],
  ['rsa-3072', 'rsa-pss-sha512'],
  ['p-256', 'ecdsa-sha256'],
  ['p-384', 'ecdsa-sha384'],
  ['p-521', 'ecdsa-sha512'],
  ['ed25519', 'ed25519'],
];

describe('certificates from the builder', () => {
  test.each(cas)('by a CA of %s with %s are verified by OpenSSL', (type, algorithm) => {
    const ca = testCa(type, algorithm);
    const leaf = ca.issue(device);
    const { text } = openssl(['verify', '-x509_strict', '-check_ss_sig', '-CAfile', 'ca', 'leaf'], {
      ca: pem('CERTIFICATE', ca.certificate.der),
      leaf: pem('CERTIFICATE', leaf.der),
    });
    expect(text).toBe('leaf: OK\n');
    expect(leaf.signatureAlgorithm).toBe(algorithm);
    expect(verifySignature(readPublicKey(ca.certificate.spki), algorithm, leaf.tbs, leaf.signature)).toBe(
      true,
    );
  });

  test.each<[KeyType]>([['ml-dsa-44'], ['ml-dsa-65'], ['ml-dsa-87']])(
    'by a CA of %s are verified',
    (type) => {
      const ca = testCa(type);
      const leaf = ca.issue(testKey(type, 'device'));
      expect(leaf.signatureAlgorithm).toBe(type as SignatureAlgorithm);
      expect(readPublicKey(leaf.spki).type).toBe(type);
      expect(verifySignature(ca.key.publicKey, ca.algorithm, leaf.tbs, leaf.signature)).toBe(true);
    },
  );

  test('are printed by OpenSSL with the values given', () => {
    const extensions = [
      basicConstraintsExtension({ ca: true, pathLength: 1 }),
      keyUsageExtension(['digitalSignature', 'keyCertSign', 'decipherOnly']),
      extendedKeyUsageExtension([oid.serverAuth, oid.clientAuth]),
      subjectAltNameExtension(
        [
          'DNS:a.example',
          'IP:10.0.0.1',
          'IP:2001:db8::1',
          'URI:urn:a',
          'email:a@b',
          'RID:1.2.3',
          'DirName:CN=x',
        ].map(parseGeneralName),
      ),
      crlDistributionPointsExtension(['http://a.example/1.crl', 'http://b.example/1.crl']),
      authorityInfoAccessExtension({
        caIssuers: ['http://a.example/1.cer'],
        ocsp: ['http://a.example/ocsp'],
      }),
      certificatePoliciesExtension([
        { oid: '1.2.3.4', cps: ['http://a.example/cps'] },
        { oid: oid.anyPolicy },
      ]),
      policyMappingsExtension([{ issuerDomainPolicy: '1.2.3', subjectDomainPolicy: '1.2.4' }]),
      policyConstraintsExtension({ requireExplicitPolicy: 2, inhibitPolicyMapping: 0 }),
      inhibitAnyPolicyExtension(3),
      nameConstraintsExtension({
        permitted: ['DNS:example', 'IP:10.0.0.0/255.0.0.0'].map(parseGeneralName),
        excluded: [{ kind: 'email', value: 'b' }, parseGeneralName('DirName:O=y')],
      }),
    ];
    const { der: encoded } = testCa('p-256').issue(device, {
      extensions,
      subject: parseDistinguishedName('CN=grün,serialNumber=1,C=DE'),
    });
    const { text } = openssl(
      ['x509', '-in', 'cert', '-noout', '-text', '-nameopt', 'RFC2253,-esc_msb,utf8'],
      {
        cert: pem('CERTIFICATE', encoded),
      },
    );
    const lines = text.split('\n').map((line) => line.trim());
    const from = lines.indexOf('X509v3 extensions:') + 1;
    const to = lines.indexOf('Signature Algorithm: ecdsa-with-SHA256', from);
    expect(lines.slice(from, to).join('\n')).toBe(printed);
    expect(lines).toContain('Serial Number: 32770 (0x8002)');
    expect(lines).toContain('Issuer: CN=Test CA p-256,O=Example,C=DE');
    expect(lines).toContain('Not Before: Jan  1 00:00:00 2026 GMT');
    expect(lines).toContain('Not After : Jan  1 00:00:00 2060 GMT');
    expect(lines).toContain('Subject: CN=grün,serialNumber=1,C=DE');
  });

  test.each([
    ['nothing', []],
    ['zero', [0, 0]],
    ['21 octets', new Array(21).fill(1)],
    ['20 octets that need a sign octet', [0x80, ...new Array(19).fill(1)]],
  ])('with the serial number %s are rejected', (_, serial) => {
    expect(() => buildTbsCertificate({ ...template, serial: Uint8Array.from(serial) })).toThrow(Fault);
  });

  test('cannot expire after the year 9999', () => {
    expect(() => buildTbsCertificate({ ...template, notAfter: Date.UTC(10_000, 0, 1) })).toThrow(Fault);
  });
});

/** Returns a TBSCertificate with `parts` in place of the usual ones. */
function handmade(parts: {
  version?: readonly number[];
  serial?: readonly number[];
  inner?: Uint8Array;
  outer?: Uint8Array;
  after?: Uint8Array;
}): Uint8Array {
  const ecdsa = signatureAlgorithmIdentifier('ecdsa-sha256');
  return der((b) =>
    b.sequence((certificate) =>
      certificate
        .sequence((tbs) => {
          tbs.raw(Uint8Array.from(parts.version ?? [0xa0, 3, 2, 1, 2]));
          tbs.raw(Uint8Array.from(parts.serial ?? [2, 1, 1])).raw(parts.inner ?? ecdsa);
          tbs.raw(template.issuer.der).sequence((v) => v.time(notBefore).time(notAfter));
          tbs
            .raw(template.subject.der)
            .raw(template.spki)
            .raw(parts.after ?? new Uint8Array());
        })
        .raw(parts.outer ?? ecdsa)
        .bitString(Uint8Array.of(0)),
    ),
  );
}

const sha1WithRsa = der((b) => b.sequence((s) => s.oid('1.2.840.113549.1.1.5').null()));
const hexBytes = (digits: string): Uint8Array =>
  new Uint8Array(Buffer.from(digits.replaceAll(' ', ''), 'hex'));

describe('parsed certificates', () => {
  test.each<[string, readonly string[]]>([
    ['RSA', ['-newkey', 'rsa:2048']],
    ['P-256', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['Ed25519', ['-newkey', 'ed25519']],
  ])('from OpenSSL, made with %s, are read as by Node', (_, newKey) => {
    const encoded = openssl(
      [
        'req',
        '-x509',
        '-nodes',
        ...newKey,
        '-keyout',
        'k',
        '-subj',
        '/C=DE/O=a, b/CN=x',
        '-days',
        '9',
        '-outform',
        'DER',
        '-out',
        'cert',
        '-addext',
        'subjectAltName=DNS:a.example,IP:10.0.0.1',
        '-addext',
        'keyUsage=critical,digitalSignature',
      ],
      {},
      ['cert'],
    ).file('cert');
    const ours = parseCertificate(encoded);
    const theirs = new X509Certificate(encoded);
    expect(ours.serialNumber).toBe(theirs.serialNumber);
    expect(fingerprint(encoded)).toBe(theirs.fingerprint256.replaceAll(':', ''));
    expect(ours.notBefore).toBe(Date.parse(theirs.validFrom));
    expect(ours.notAfter).toBe(Date.parse(theirs.validTo));
    expect(ours.spki).toEqual(new Uint8Array(theirs.publicKey.export({ format: 'der', type: 'spki' })));
    expect(formatDistinguishedName(ours.subject)).toBe('CN=x,O=a\\, b,C=DE');
    expect(ours.issuer).toEqual(ours.subject);
    expect(basicConstraintsOf(ours)).toEqual({ ca: true });
    expect(keyUsageOf(ours)).toEqual(['digitalSignature']);
    expect(subjectAltNamesOf(ours)).toEqual(['DNS:a.example', 'IP:10.0.0.1'].map(parseGeneralName));
    expect(authorityKeyIdentifierOf(ours)).toEqual({ keyIdentifier: subjectKeyIdentifierOf(ours)! });
    expect(
      verifySignature(readPublicKey(ours.spki), ours.signatureAlgorithm!, ours.tbs, ours.signature),
    ).toBe(true);
  });

  test('from the builder are read the same by pkijs', () => {
    const ours = testCa('p-384').issue(device, {
      extensions: [extendedKeyUsageExtension([oid.clientAuth], true)],
    });
    const theirs = new PkijsCertificate({ schema: asn1js.fromBER(ours.der).result });
    expect(hex(theirs.tbsView)).toBe(hex(ours.tbs));
    expect(hex(theirs.serialNumber.valueBlock.valueHexView)).toBe('008002');
    expect(theirs.notAfter.value.getTime()).toBe(notAfter);
    expect(theirs.extensions?.map(({ extnID, critical }) => [extnID, critical])).toEqual([
      [oid.extendedKeyUsage, true],
    ]);
    expect(extendedKeyUsageOf(ours)).toEqual([oid.clientAuth]);
  });

  test('an extension is found by its OID, and is undefined when missing', () => {
    const usage = keyUsageExtension(['digitalSignature']);
    const certificate = unsigned({ extensions: [usage] });
    expect(extension(certificate, oid.keyUsage)).toEqual(usage);
    expect([
      extension(certificate, oid.subjectAltName),
      basicConstraintsOf(certificate),
      extendedKeyUsageOf(certificate),
      subjectKeyIdentifierOf(certificate),
      authorityKeyIdentifierOf(certificate),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(subjectAltNamesOf(certificate)).toEqual([]);
  });

  test('an invalid extension gives a Fault when it is read', () => {
    const certificate = unsigned({
      extensions: [{ oid: oid.keyUsage, critical: true, value: Uint8Array.of(5, 0) }],
    });
    expect(() => keyUsageOf(certificate)).toThrow(Fault);
  });

  test.each<[string, Parameters<typeof handmade>[0], number]>([
    ['version 1', { version: [] }, 1],
    [
      'version 2 with unique identifiers',
      { version: [0xa0, 3, 2, 1, 1], after: hexBytes('81020055 82020055') },
      2,
    ],
    ['version 3 without extensions', {}, 3],
  ])('of %s have no extensions', (_, parts, version) => {
    expect(parseCertificate(handmade(parts))).toMatchObject({ version: version as 1, extensions: [] });
  });

  test('with a weak signature algorithm are read, but have no algorithm to verify with', () => {
    const certificate = parseCertificate(handmade({ inner: sha1WithRsa, outer: sha1WithRsa }));
    expect(certificate.signatureAlgorithm).toBeUndefined();
  });

  test.each<[number[], string]>([
    [[2, 1, 0], '00'],
    [[2, 1, 0x7f], '7F'],
    [[2, 2, 0, 0x80], '80'],
    [[2, 2, 1, 0], '0100'],
    [[2, 1, 0xff], '-01'],
    [[2, 2, 0xff, 0x00], '-0100'],
  ])('the serial number %p is written %s', (serial, text) => {
    expect(parseCertificate(handmade({ serial })).serialNumber).toBe(text);
    expect(formatSerial(Uint8Array.from(serial.slice(2)))).toBe(text);
  });

  test.each([
    ['two signature algorithms', handmade({ outer: sha1WithRsa })],
    ['version 4', handmade({ version: [0xa0, 3, 2, 1, 3] })],
    ['a serial number of 65 octets', handmade({ serial: [2, 65, ...new Array(65).fill(1)] })],
    ['a padded serial number', handmade({ serial: [2, 2, 0, 1] })],
    [
      'extensions in version 1',
      handmade({ version: [], after: hexBytes('A30F 300D 300B 0603551D0F 0404 03020780') }),
    ],
    ['unique identifiers in version 1', handmade({ version: [], after: hexBytes('81020055') })],
    ['empty extensions', handmade({ after: hexBytes('A3023000') })],
    [
      'an extension twice',
      handmade({ after: hexBytes('A31C 301A 300B 0603551D0F 0404 03020780 300B 0603551D0F 0404 03020780') }),
    ],
    [
      'something behind the extensions',
      handmade({ after: hexBytes('A30F 300D 300B 0603551D0F 0404 03020780 0500') }),
    ],
    ['something behind it', Uint8Array.of(...handmade({}), 0)],
  ])('with %s are rejected', (_, encoded) => {
    expect(() => parseCertificate(encoded)).toThrow(Fault);
  });
});

const extensions: fc.Arbitrary<Extension> = fc.record({
  oid: fc.nat({ max: 99 }).map((arc) => `1.2.${arc}`),
  critical: fc.boolean(),
  value: fc.uint8Array({ maxLength: 200 }),
});
const templates: fc.Arbitrary<CertificateTemplate> = fc.record({
  serial: fc
    .uint8Array({ minLength: 1, maxLength: 19 })
    .filter((octets) => octets.some((octet) => octet !== 0)),
  signatureAlgorithm: fc.constantFrom('ecdsa-sha256', 'rsa-pss-sha512', 'ml-dsa-65'),
  issuer: fc.constantFrom(template.issuer, emptyName),
  notBefore: fc
    .integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(2049, 0, 1) / 1000 })
    .map((s) => s * 1000),
  notAfter: fc
    .integer({ min: Date.UTC(2049, 0, 1) / 1000, max: Date.UTC(9999, 0, 1) / 1000 })
    .map((s) => s * 1000),
  subject: fc.constantFrom(template.subject, emptyName),
  spki: fc.constantFrom(template.spki, testKey('ed25519').publicKey.spki),
  extensions: fc.uniqueArray(extensions, { selector: (one) => one.oid, maxLength: 5 }),
});

describe('certificates of all kinds', () => {
  test('are read as they were built', () => {
    fc.assert(
      fc.property(templates, fc.uint8Array({ minLength: 1, maxLength: 80 }), (fields, signature) => {
        const tbs = buildTbsCertificate(fields);
        const { serial, ...rest } = fields;
        const certificate = parseCertificate(assembleCertificate(tbs, fields.signatureAlgorithm, signature));
        expect(certificate).toMatchObject({ ...rest, tbs, signature, version: 3 });
        expect(BigInt(`0x${certificate.serialNumber}`)).toBe(BigInt(`0x${hex(serial)}`));
      }),
      runs(500),
    );
  });

  test('with one octet changed give a Fault, or a certificate that the key did not sign', () => {
    const ca = testCa('p-256');
    const leaf = ca.issue(device, { extensions: [subjectAltNameExtension([parseGeneralName('DNS:a')])] });
    fc.assert(
      fc.property(fc.nat({ max: leaf.der.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        try {
          const { tbs, signature } = parseCertificate(leaf.der.with(at, leaf.der[at]! ^ flip));
          expect(verifySignature(ca.key.publicKey, ca.algorithm, tbs, signature)).toBe(false);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('malformed');
        }
      }),
      runs(1500),
    );
  });

  test('arbitrary octets are malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        expect(() => parseCertificate(octets)).toThrow(Fault);
      }),
      runs(1000),
    );
  });

  test('the subject key identifier is that of the key', () => {
    const leaf = testCa('p-256').issue(device);
    expect(subjectKeyIdentifierOf(leaf)).toEqual(new Uint8Array(keyIdentifier(device.publicKey)));
    expect(readDer(leaf.tbs, (r) => r.element())).toEqual(leaf.tbs);
  });
});
