import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { type Certificate, parseCertificate } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectAltNameExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '#core/x509/extensions/locations.ts';
import { nameConstraintsExtension } from '#core/x509/extensions/name-constraints.ts';
import {
  inhibitAnyPolicyExtension,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  type KeyUsage,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { type GeneralName, parseGeneralName } from '#core/x509/general-name.ts';
import { lint } from '#core/x509/lint.ts';
import { buildName, emptyName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { validatePath } from '#core/x509/path.ts';
import { runs } from '#tests/property.ts';
import { certify, type Key, keyOf, noon, type Order, type Party, party } from '../path/certify.ts';

const root = party('CN=Root CA,O=Plant,C=DE');
const middle = party('CN=Issuing CA,O=Plant,C=DE');
const device = party('CN=device-1,OU=Line 1,O=Plant,C=DE');

const rootCertificate = parseCertificate(certify(root, root, { ca: true }));
const issued = (order: Order = {}): Certificate =>
  parseCertificate(certify(middle, root, { ca: true, ...order }));
const issuer = issued();

/** Returns the TBSCertificate, valid or not. */
const tbsOf = (certificate: Uint8Array): Uint8Array => new DerReader(certificate).sequence().element();

const leafFindings = (
  order: Order,
  below: Certificate = issuer,
  subject: Party = device,
): readonly string[] => lint(tbsOf(certify(subject, middle, order)), below);
const caFindings = (order: Order, below: Certificate = rootCertificate): readonly string[] =>
  lint(tbsOf(certify(middle, root, { ca: true, ...order })), below);
const rootWith = (order: Order): readonly Certificate[] => [
  parseCertificate(certify(root, root, { ca: true, ...order })),
];
const leafBelow = (order: Order, above: Order): readonly string[] =>
  lint(tbsOf(certify(device, middle, order)), issued(), rootWith(above));
const caBelow = (above: Order): readonly string[] =>
  lint(tbsOf(certify(party('CN=Line CA'), middle, { ca: true })), issued(), rootWith(above));
const rootFindings = (order: Order): readonly string[] =>
  lint(tbsOf(certify(root, root, { ca: true, ...order })), undefined);

const pair = (type: 'ed25519' | 'rsa'): Key => {
  const { privateKey, publicKey } =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
  return keyOf(privateKey, publicKey, type === 'rsa' ? 'rsa-pkcs1-sha256' : 'ed25519');
};
const rsaDevice = party('CN=device-2', pair('rsa'));
const edDevice = party('CN=device-3', pair('ed25519'));

const usages = (...of: KeyUsage[]): Order => ({ with: [keyUsageExtension(of)] });
const purposes = (...of: string[]): Extension => extendedKeyUsageExtension(of);
const altNames = (...names: string[]): Order => ({
  with: [subjectAltNameExtension(names.map(parseGeneralName))],
});
const multiValued = parseDistinguishedName('CN=x+O=y');
const unsorted: Name = {
  der: der((b) =>
    b.sequence((name) =>
      name.set((rdn) => {
        const set = new DerReader(multiValued.der).sequence().set();
        const first = set.element();
        rdn.raw(set.element()).raw(first);
      }),
    ),
  ),
  rdns: multiValued.rdns,
};
const rawNames = (...names: GeneralName[]): Order => ({ with: [subjectAltNameExtension(names)] });
const dns = (value: string): Order => rawNames({ kind: 'dns', value });
const attributeOf = (type: string, value: string, identifier: number): Order => ({
  subject: buildName([[{ type, value, tag: identifier }]]),
});
const critical = (extension: Extension): Extension => ({ ...extension, critical: true });
const notCritical = (extension: Extension): Extension => ({ ...extension, critical: false });
const constraints = nameConstraintsExtension({
  permitted: [{ kind: 'dns', value: 'plant.example' }],
  excluded: [],
});
const mappings = policyMappingsExtension([{ issuerDomainPolicy: '1.2.3', subjectDomainPolicy: '1.2.4' }]);
const requirePolicy = policyConstraintsExtension({ requireExplicitPolicy: 0 });
const crls = (...uris: string[]): Order => ({ with: [crlDistributionPointsExtension(uris)] });
const access = (caIssuers: string[], ocsp: string[] = []): Order => ({
  with: [authorityInfoAccessExtension({ caIssuers, ocsp })],
});
const weakKey = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({
  format: 'der',
  type: 'spki',
});
const algorithm = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which)));

describe('lint accepts', () => {
  const rows: readonly [string, readonly string[]][] = [
    ['a root', rootFindings({})],
    ['a root without authority key identifier', rootFindings({ without: [oid.authorityKeyIdentifier] })],
    ['a CA', caFindings({ pathLength: 0 })],
    [
      'a CA with constraints',
      caFindings({ with: [constraints, mappings, requirePolicy, inhibitAnyPolicyExtension(0)] }),
    ],
    ['a device', leafFindings({})],
    [
      'a device with everything',
      leafFindings({
        with: [
          subjectAltNameExtension(
            [
              'DNS:a-1.plant.example',
              'DNS:*.plant.example',
              'IP:10.0.0.1',
              'IP:fd00::1',
              'URI:urn:plant:device:1',
              'email:ops@plant.example',
              'DirName:CN=x',
            ].map(parseGeneralName),
          ),
          extendedKeyUsageExtension([oid.clientAuth, oid.serverAuth]),
          crlDistributionPointsExtension([
            'http://pki.plant.example/crl/1.crl',
            'ldap://dir.plant.example/cn=ca',
          ]),
          authorityInfoAccessExtension({
            caIssuers: ['http://pki.plant.example/aia/1.cer'],
            ocsp: ['http://pki.plant.example/ocsp'],
          }),
        ],
      }),
    ],
    [
      'a device without a subject',
      leafFindings({ subject: emptyName, with: altNames('DNS:a.example').with!.map(critical) }),
    ],
    [
      'an IDevID that never expires',
      leafFindings(
        { notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) },
        issued({ notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) }),
      ),
    ],
    [
      'a device with an RSA key',
      leafFindings(usages('digitalSignature', 'keyEncipherment'), issuer, rsaDevice),
    ],
    [
      'a device with an elliptic curve key',
      leafFindings(usages('digitalSignature', 'keyAgreement', 'encipherOnly')),
    ],
    [
      'a device with an Ed25519 key',
      leafFindings(usages('digitalSignature', 'nonRepudiation'), issuer, edDevice),
    ],
    ['a subject in PrintableString', leafFindings(attributeOf('2.5.4.3', 'device-1', tag.printableString))],
    [
      'a subject of an unknown attribute type',
      leafFindings(attributeOf('1.2.3.4', 'device', tag.utf8String)),
    ],
    [
      'a device below a CA of its names',
      leafFindings(altNames('DNS:a.plant.example'), issued({ with: [constraints] })),
    ],
    [
      'a device below a CA of its purpose',
      leafFindings({ with: [purposes(oid.clientAuth)] }, issued({ with: [purposes(oid.clientAuth)] })),
    ],
    [
      'a self-issued CA below a CA that allows none below',
      lint(
        tbsOf(certify(party('CN=Issuing CA,O=Plant,C=DE'), middle, { ca: true })),
        issued({ pathLength: 0 }),
      ),
    ],
  ];
  for (const [what, findings] of rows) test(what, () => expect(findings).toEqual([]));
});

const late = Date.UTC(2060, 0, 1);
const soon = Date.UTC(2027, 0, 1);
const timeAs = (identifier: number, text: string, then: number): Order => ({
  raw: { validity: der((b) => b.sequence((v) => v.string(text, identifier).time(then))) },
});
const negativeSerial = { raw: { serial: Uint8Array.of(0x80, 1, 2, 3, 4, 5, 6, 7, 8) } };
const anyCritical = critical(purposes(oid.anyExtendedKeyUsage));
const long = (length: number): string => 'x'.repeat(length);
const lastsLong = issued({ notAfter: Date.UTC(2070, 0, 1) });

describe('lint finds', () => {
  const rows: readonly [string, readonly string[], ...string[]][] = [
    // Fields
    [
      'a version',
      leafFindings({ raw: { version: 0, extensions: [] } }),
      'the version is not 3',
      'authorityKeyIdentifier with a key identifier is missing',
    ],
    [
      'a version 2',
      leafFindings({ raw: { version: 1, extensions: [] } }),
      'the version is not 3',
      'authorityKeyIdentifier with a key identifier is missing',
    ],
    [
      'a serial number 0',
      leafFindings({ raw: { serial: Uint8Array.of(0) } }),
      'the serial number is not positive',
      'fewer than 64 bits',
    ],
    ['a negative serial number', leafFindings(negativeSerial), 'the serial number is not positive'],
    [
      'a serial number of 21 octets',
      leafFindings({ raw: { serial: new Uint8Array(21).fill(1) } }),
      'more than 20 octets',
    ],
    ['a short serial number', leafFindings({ serial: new Uint8Array(7).fill(1) }), 'fewer than 64 bits'],
    [
      'a weak signature algorithm',
      leafFindings({ raw: { algorithm: algorithm('1.2.840.10045.4.1') } }),
      'signature algorithm is weak or unknown (RFC 5280 §4.1.2.3)',
    ],
    [
      'a signature algorithm of another kind of key',
      leafFindings({ raw: { algorithm: algorithm(oid.ed25519) } }),
      "the issuer's p-256 key cannot sign with the signature algorithm ed25519",
    ],
    [
      'a root with the signature algorithm of another kind of key',
      rootFindings({ raw: { algorithm: algorithm(oid.ed25519) } }),
      'cannot sign with the signature algorithm',
    ],
    [
      'an empty issuer',
      leafFindings({ issuer: emptyName }),
      'the issuer name is empty',
      "differs from the subject of the issuer's certificate",
    ],
    [
      'the name of another issuer',
      leafFindings({ issuer: root.name }),
      "differs from the subject of the issuer's certificate",
    ],
    [
      'the name of the issuer in other letter case',
      leafFindings({ issuer: parseDistinguishedName('CN=ISSUING CA,O=Plant,C=DE') }),
      "differs from the subject of the issuer's certificate",
    ],
    [
      'a root with another issuer',
      rootFindings({ issuer: middle.name }),
      "differs from the subject of the issuer's certificate",
    ],
    [
      'validity that ends before it begins',
      leafFindings({ notBefore: noon, notAfter: noon - 1000 }),
      'notAfter is not after notBefore',
    ],
    [
      'validity of no time',
      leafFindings({ notBefore: noon, notAfter: noon }),
      'notAfter is not after notBefore',
    ],
    [
      'a time before 2050 in GeneralizedTime',
      leafFindings(timeAs(tag.generalizedTime, '20260101000000Z', soon)),
      'a time must be a UTCTime through 2049',
    ],
    [
      'validity from before that of the issuer',
      leafFindings({ notBefore: issuer.notBefore - 1000 }),
      'exceeds that of the issuer',
    ],
    [
      'validity to after that of the issuer',
      leafFindings({ notAfter: issuer.notAfter + 1000 }),
      'exceeds that of the issuer',
    ],
    ['validity beyond 2049 within that of the issuer: nothing', leafFindings({ notAfter: late }, lastsLong)],
    [
      'a CA without a name',
      lint(
        tbsOf(certify(middle, root, { ca: true, subject: emptyName, ...altNamesCritical() })),
        rootCertificate,
      ),
      'a CA has an empty subject',
    ],
    [
      'a device without any name',
      leafFindings({ subject: emptyName }),
      'there is no critical subjectAltName',
    ],
    [
      'a device whose only name is not critical',
      leafFindings({ subject: emptyName, ...altNames('DNS:a.example') }),
      'there is no critical subjectAltName',
    ],
    [
      'unique identifiers',
      leafFindings({ raw: { uniqueIdentifiers: Uint8Array.of(0x82, 2, 0, 1) } }),
      'a unique identifier',
    ],
    // Names
    [
      'a common name of 65 characters',
      leafFindings(attributeOf('2.5.4.3', long(65), tag.utf8String)),
      'CN: the value is too long',
    ],
    [
      'a common name of 64 characters beyond UTF-16: nothing',
      leafFindings(attributeOf('2.5.4.3', '\u{1F600}'.repeat(64), tag.utf8String)),
    ],
    [
      'an empty common name',
      leafFindings(attributeOf('2.5.4.3', '', tag.utf8String)),
      'CN: the value is too long or too short',
    ],
    [
      'a TeletexString',
      leafFindings(attributeOf('2.5.4.10', 'Plant', tag.teletexString)),
      'O: the string type',
    ],
    ['a BMPString', leafFindings(attributeOf('2.5.4.10', 'Plant', tag.bmpString)), 'O: the string type'],
    [
      'a country in UTF8String',
      leafFindings(attributeOf('2.5.4.6', 'DE', tag.utf8String)),
      'C: the string type',
    ],
    [
      'a domain component in UTF8String',
      leafFindings(attributeOf('0.9.2342.19200300.100.1.25', 'plant', tag.utf8String)),
      'DC: the string type',
    ],
    [
      'a country of three letters',
      leafFindings(attributeOf('2.5.4.6', 'DEU', tag.printableString)),
      'C: the value is too long',
      'C: a country code must have two letters',
    ],
    [
      'a country of digits',
      leafFindings(attributeOf('2.5.4.6', '49', tag.printableString)),
      'C: a country code must have two letters',
    ],
    [
      'control characters',
      leafFindings(attributeOf('2.5.4.3', 'a\nb', tag.utf8String)),
      'CN: the value contains control characters',
    ],
    [
      'an underscore in a host name',
      leafFindings(dns('plc_1.example')),
      'DNS:plc_1.example: not a host name (RFC 5280 §4.2.1.6)',
    ],
    ['an empty host name', leafFindings(dns('')), 'not a host name'],
    ['a host name that ends in a dot', leafFindings(dns('a.example.')), 'not a host name'],
    ['an empty label', leafFindings(dns('a..example')), 'not a host name'],
    ['a label that begins with a hyphen', leafFindings(dns('-a.example')), 'not a host name'],
    ['a label of 64 characters', leafFindings(dns(`${long(64)}.example`)), 'not a host name'],
    [
      'a host name of more than 253 characters',
      leafFindings(dns(`${`${long(50)}.`.repeat(5)}com`)),
      'not a host name',
    ],
    ['an IP address as host name', leafFindings(dns('10.0.0.1')), 'not a host name'],
    ['a wildcard for a part of a label', leafFindings(dns('a*.example.com')), 'not a host name'],
    ['a wildcard in the middle', leafFindings(dns('a.*.example')), 'not a host name'],
    ['a wildcard for a top-level domain', leafFindings(dns('*.example')), 'not a host name'],
    [
      'an email address without a host',
      leafFindings(rawNames({ kind: 'email', value: 'ops@' })),
      'not a mailbox',
    ],
    [
      'an email address without a local part',
      leafFindings(rawNames({ kind: 'email', value: '@plant.example' })),
      'not a mailbox',
    ],
    [
      'an email address with a name',
      leafFindings(rawNames({ kind: 'email', value: 'Ops <ops@plant.example>' })),
      'not a mailbox',
    ],
    ['a relative URI', leafFindings(rawNames({ kind: 'uri', value: '/device/1' })), 'not an absolute URI'],
    ['a URI with a space', leafFindings(rawNames({ kind: 'uri', value: 'urn:a b' })), 'not an absolute URI'],
    [
      'a URI of a scheme alone',
      leafFindings(rawNames({ kind: 'uri', value: 'urn:' })),
      'not an absolute URI',
    ],
    [
      'a URI without its host',
      leafFindings(rawNames({ kind: 'uri', value: 'http:///a' })),
      'not an absolute URI',
    ],
    [
      'an IP address with a mask',
      leafFindings(rawNames({ kind: 'ip', value: new Uint8Array(8) })),
      'must have 4 or 16 octets',
    ],
    [
      'an empty directory name',
      leafFindings(rawNames({ kind: 'directory', value: emptyName })),
      'an empty name',
    ],
    ['an RDN that is not sorted', leafFindings({ subject: unsorted }), 'not sorted (X.690 §11.6)'],
    [
      'a directory name that is not sorted',
      leafFindings(rawNames({ kind: 'directory', value: unsorted })),
      'not sorted (X.690 §11.6)',
    ],
    [
      'a name that the issuer may not certify',
      leafFindings(altNames('DNS:a.other.example'), issued({ with: [constraints] })),
      'DNS:a.other.example is not among the permitted names (RFC 5280 §4.2.1.10)',
    ],
    [
      'a name that the root may not have certified',
      leafBelow(altNames('DNS:a.other.example'), { with: [constraints] }),
      'DNS:a.other.example is not among the permitted names (RFC 5280 §4.2.1.10)',
    ],
    // Extensions
    [
      'an extension that occurs twice',
      leafFindings({ raw: { more: [purposes(oid.clientAuth), purposes(oid.clientAuth)] } }),
      'occurs twice',
    ],
    [
      'an extension that cannot be read',
      leafFindings({ with: [{ oid: oid.subjectAltName, critical: false, value: Uint8Array.of(0x30, 0) }] }),
      'it cannot be read',
    ],
    [
      'empty extended key usages',
      leafFindings({ with: [{ oid: oid.extendedKeyUsage, critical: false, value: Uint8Array.of(0x30, 0) }] }),
      'it cannot be read',
    ],
    [
      'key usage',
      leafFindings({ with: [notCritical(keyUsageExtension(['digitalSignature']))] }),
      'keyUsage is not critical',
    ],
    [
      'basic constraints',
      caFindings({ with: [notCritical(basicConstraintsExtension({ ca: true }))] }),
      'basicConstraints of a CA is missing or not critical',
    ],
    ['name constraints', caFindings({ with: [notCritical(constraints)] }), 'nameConstraints is not critical'],
    ['policy mappings', caFindings({ with: [notCritical(mappings)] }), 'policyMappings is not critical'],
    [
      'policy constraints',
      caFindings({ with: [notCritical(requirePolicy)] }),
      'policyConstraints is not critical',
    ],
    [
      'inhibition of anyPolicy',
      caFindings({ with: [notCritical(inhibitAnyPolicyExtension(0))] }),
      'inhibitAnyPolicy is not critical',
    ],
    [
      'a critical authority key identifier',
      leafFindings({ with: [critical(authorityKeyIdentifierExtension(middle.key.identifier))] }),
      'authorityKeyIdentifier is critical',
    ],
    [
      'a critical subject key identifier',
      leafFindings({ with: [critical(subjectKeyIdentifierExtension(device.key.identifier))] }),
      'subjectKeyIdentifier is critical',
    ],
    [
      'critical CRL distribution points',
      leafFindings({ with: crls('http://a.example/').with!.map(critical) }),
      'crlDistributionPoints is critical',
    ],
    [
      'critical addresses',
      leafFindings({ with: access(['http://a.example/']).with!.map(critical) }),
      'authorityInfoAccess is critical',
    ],
    [
      'a critical freshest CRL',
      leafFindings({
        with: [{ ...critical(crlDistributionPointsExtension(['http://a.example/'])), oid: oid.freshestCrl }],
      }),
      'freshestCrl is critical',
    ],
    [
      'critical addresses of the subject',
      leafFindings({
        with: [
          {
            ...critical(authorityInfoAccessExtension({ caIssuers: ['http://a.example/'], ocsp: [] })),
            oid: oid.subjectInfoAccess,
          },
        ],
      }),
      'subjectInfoAccess is critical',
    ],
    [
      'constraints of a device',
      leafFindings({ with: [constraints, mappings, requirePolicy, inhibitAnyPolicyExtension(0)] }),
      'policyMappings in the certificate of an end entity',
      'nameConstraints in',
      'policyConstraints in',
      'inhibitAnyPolicy in',
    ],
    [
      'no authority key identifier',
      leafFindings({ without: [oid.authorityKeyIdentifier] }),
      'authorityKeyIdentifier with a key identifier is missing',
    ],
    [
      "another's authority key identifier",
      leafFindings({ with: [authorityKeyIdentifierExtension(root.key.identifier)] }),
      "not the issuer's key identifier",
    ],
    [
      "a root's authority key identifier of another",
      rootFindings({ with: [authorityKeyIdentifierExtension(middle.key.identifier)] }),
      "not the issuer's key identifier",
    ],
    [
      'a CA without subject key identifier',
      caFindings({ without: [oid.subjectKeyIdentifier] }),
      'a CA has no subjectKeyIdentifier',
    ],
    [
      'an empty subject key identifier',
      leafFindings({ with: [subjectKeyIdentifierExtension(new Uint8Array())] }),
      'subjectKeyIdentifier is empty',
    ],
    [
      'CRLs over HTTPS',
      leafFindings(crls('https://a.example/1.crl')),
      'a location that is not an http or ldap URI',
    ],
    ['CRLs nowhere', leafFindings(crls('http:///1.crl')), 'a location that is not an http or ldap URI'],
    [
      'the CA certificate over HTTPS',
      leafFindings(access(['https://a.example/1.cer'])),
      'caIssuers location',
    ],
    ['OCSP over LDAP', leafFindings(access([], ['ldap://a.example/'])), 'OCSP location'],
    // Usage
    ['a key usage for nothing', leafFindings(usages()), 'keyUsage is empty'],
    ['a CA that may not sign certificates', caFindings(usages('cRLSign')), 'lacks the usage keyCertSign'],
    ['a CA without key usage', caFindings({ without: [oid.keyUsage] }), 'lacks the usage keyCertSign'],
    [
      'a device that may sign certificates',
      leafFindings(usages('keyCertSign')),
      'only a CA may have the usage keyCertSign',
    ],
    ['encipherOnly alone', leafFindings(usages('digitalSignature', 'encipherOnly')), 'require keyAgreement'],
    [
      'key encipherment by an elliptic curve key',
      leafFindings(usages('keyEncipherment')),
      'p-256 keys do not support keyEncipherment: RFC 8813',
    ],
    [
      'key agreement by an RSA key',
      leafFindings(usages('keyAgreement'), issuer, rsaDevice),
      'rsa-2048 keys do not support keyAgreement',
    ],
    [
      'key agreement by an Ed25519 key',
      leafFindings(usages('keyAgreement'), issuer, edDevice),
      'ed25519 keys do not support keyAgreement',
    ],
    [
      'a path length of a device',
      leafFindings({ with: [basicConstraintsExtension({ ca: false, pathLength: 0 })] }),
      'only a CA may have a path length',
    ],
    [
      'a purpose without its usage',
      leafFindings({ with: [keyUsageExtension(['nonRepudiation']), purposes(oid.clientAuth)] }),
      `the purpose ${oid.clientAuth} requires a key usage that is missing`,
    ],
    [
      'anyExtendedKeyUsage',
      leafFindings({ with: [anyCritical] }),
      'a critical extKeyUsage contains anyExtendedKeyUsage',
    ],
    [
      'an issuer that is no CA',
      leafFindings({}, issued({ ca: false })),
      'the issuer is not a CA',
      "the issuer's key usage does not allow it to sign certificates",
    ],
    [
      'an issuer that signs CRLs alone',
      leafFindings({}, issued(usages('cRLSign'))),
      "the issuer's key usage does not allow it to sign certificates",
    ],
    [
      'a CA below one that allows none',
      lint(tbsOf(certify(party('CN=Line CA'), middle, { ca: true })), issued({ pathLength: 0 })),
      'does not allow another CA below it',
    ],
    [
      'a CA below two of which the upper one allows one',
      caBelow({ pathLength: 1 }),
      'does not allow another CA below it',
    ],
    ['a CA below two of which the upper one allows both: nothing', caBelow({ pathLength: 2 })],
    [
      'a purpose beyond those of the issuer',
      leafFindings({ with: [purposes(oid.serverAuth)] }, issued({ with: [purposes(oid.clientAuth)] })),
      `does not allow the purpose ${oid.serverAuth}`,
    ],
    [
      'a purpose beyond those of the root',
      leafBelow({ with: [purposes(oid.serverAuth)] }, { with: [purposes(oid.clientAuth)] }),
      `does not allow the purpose ${oid.serverAuth}`,
    ],
    ['a key that is not accepted', leafFindings({ spki: weakKey }), 'RSA keys must have at least 2048 bits'],
    ['what is no certificate', lint(Uint8Array.of(1, 2, 3), issuer), 'it cannot be read'],
  ];
  for (const [what, findings, ...expected] of rows) {
    test(what, () => expect(findings).toEqual(expected.map((text) => expect.stringContaining(text))));
  }

  test('every finding names its section', () => {
    const section = / \((?:RFC \d+|CA\/Browser Forum BR|X\.6[89]0|ISO 3166-1)( §.*)?\)$/;
    for (const [, findings] of rows) for (const finding of findings) expect(finding).toMatch(section);
  });
});

function altNamesCritical(): Order {
  return { with: altNames('DNS:a.example').with!.map(critical) };
}

describe('Properties of lint', () => {
  const sound = tbsOf(certify(device, middle));

  test('arbitrary changes of a certificate give findings or none, never an exception', () => {
    fc.assert(
      fc.property(fc.nat(sound.length - 1), fc.uint8Array({ maxLength: 3 }), fc.nat(3), (at, put, take) => {
        const changed = Uint8Array.from([...sound.subarray(0, at), ...put, ...sound.subarray(at + take)]);
        for (const finding of lint(changed, issuer)) expect(finding.length).toBeGreaterThan(0);
      }),
      runs(500),
    );
  });

  test('a certificate without findings is valid below its issuer', () => {
    const some = <T>(...of: T[]) => fc.constantFrom(undefined, ...of);
    const orders = fc.record({
      ca: fc.boolean(),
      names: some(altNames('DNS:a.plant.example'), altNames('DNS:a.other.example'), dns('a b')),
      usage: some(usages('digitalSignature'), usages('keyCertSign'), usages('cRLSign')),
      end: some(issuer.notAfter, issuer.notAfter + 1000),
      serial: some(new Uint8Array(10).fill(1), new Uint8Array(7).fill(1)),
      purpose: some(purposes(oid.clientAuth), purposes(oid.serverAuth)),
    });
    const issuers = fc.constantFrom(
      issuer,
      issued({ with: [constraints] }),
      issued({ pathLength: 0 }),
      issued({ ca: false }),
      issued({ with: [purposes(oid.clientAuth)] }),
    );
    let passed = 0;
    fc.assert(
      fc.property(orders, issuers, ({ ca, names, usage, end, serial, purpose }, below) => {
        const order: Order = {
          ca,
          ...(end && { notAfter: end }),
          ...(serial && { serial }),
          with: [...(names?.with ?? []), ...(usage?.with ?? []), ...(purpose ? [purpose] : [])],
        };
        const made = certify(device, middle, order);
        if (lint(tbsOf(made), below).length > 0) return;
        passed++;
        const result = validatePath(parseCertificate(made), {
          intermediates: [below],
          anchors: [rootCertificate],
          time: noon,
          purpose:
            purpose === undefined ? undefined : purpose.value.at(-1) === 2 ? oid.clientAuth : oid.serverAuth,
        });
        expect(result).toMatchObject({ ok: true });
      }),
      runs(300),
    );
    expect(passed).toBeGreaterThan(10);
  });
});
