import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { tag } from '#core/der/tag.ts';
import type { SignatureAlgorithm } from '#core/x509/algorithm.ts';
import {
  buildTbsCertificate,
  type CertificateTemplate,
  formatSerial,
  outlineTbsCertificate,
  parseCertificate,
  parseTbsCertificate,
} from '#core/x509/certificate.ts';
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
import { inhibitAnyPolicyExtension } from '#core/x509/extensions/policies.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { lint, lintBuilt } from '#core/x509/lint.ts';
import { buildName, emptyName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { runs } from '#tests/property.ts';
import { certify, noon, party } from '../path/certify.ts';

const root = party('CN=Root CA,O=Plant,C=DE');
const issuer = parseCertificate(certify(root, root, { ca: true }));
const device = party('CN=device-1,OU=Line 1,O=Plant,C=DE');
const keys = [device.key.spki, root.key.spki].map(readPublicKey);

const names: readonly Name[] = [
  device.name,
  root.name,
  emptyName,
  parseDistinguishedName('CN=Müller + serialNumber=7,C=DE'),
  buildName([[{ type: '2.5.4.6', value: 'Germany', tag: tag.printableString }]]),
  buildName([[{ type: '1.2.3', value: '#0101ff', tag: tag.boolean }]]),
];

const altNames = (...of: string[]): Extension => subjectAltNameExtension(of.map(parseGeneralName));
const extensions: readonly Extension[] = [
  basicConstraintsExtension({ ca: false }),
  basicConstraintsExtension({ ca: true, pathLength: 0 }),
  keyUsageExtension(['digitalSignature']),
  keyUsageExtension(['keyCertSign', 'cRLSign']),
  { ...keyUsageExtension(['digitalSignature']), critical: false },
  subjectKeyIdentifierExtension(device.key.identifier),
  authorityKeyIdentifierExtension(root.key.identifier),
  authorityKeyIdentifierExtension(device.key.identifier),
  extendedKeyUsageExtension([oid.clientAuth, oid.serverAuth]),
  altNames('DNS:a-1.plant.example', 'IP:fd00::1'),
  subjectAltNameExtension([{ kind: 'email', value: 'nobody' }]),
  crlDistributionPointsExtension(['http://pki.plant.example/crl/1.crl']),
  crlDistributionPointsExtension(['https://pki.plant.example/crl/1.crl']),
  authorityInfoAccessExtension({ caIssuers: ['http://pki.plant.example/1.cer'], ocsp: ['file:///x'] }),
  inhibitAnyPolicyExtension(0),
  { oid: oid.subjectAltName, critical: false, value: Uint8Array.of(1, 2, 3) },
  { oid: '1.2.840.113549.1.9.99', critical: true, value: new Uint8Array(0) },
];

const algorithms: readonly SignatureAlgorithm[] = ['ecdsa-sha256', 'ecdsa-sha384', 'ed25519'];
const times = fc.oneof(
  fc.integer({ min: noon - 400 * 86_400_000, max: noon + 400 * 86_400_000 }),
  fc.constantFrom(
    -1,
    Date.UTC(1950, 0) - 1,
    Date.UTC(2050, 0),
    Date.UTC(2050, 0) - 1,
    Date.UTC(9999, 11, 31),
  ),
);
const serials = fc
  .uint8Array({ minLength: 1, maxLength: 20 })
  .filter((serial) => serial.some((octet) => octet > 0) && (serial.length < 20 || serial[0]! < 0x80));
const templates = fc.record({
  serial: serials,
  signatureAlgorithm: fc.constantFrom(...algorithms),
  issuer: fc.constantFrom(root.name, ...names),
  notBefore: times,
  notAfter: times,
  subject: fc.constantFrom(...names),
  key: fc.constantFrom(...keys),
  extensions: fc.array(fc.constantFrom(...extensions), { maxLength: 12 }),
});
const issuers = fc.constantFrom(issuer, undefined);

const sound: CertificateTemplate = {
  serial: Uint8Array.of(0x40, 1, 2, 3, 4, 5, 6, 7, 8),
  signatureAlgorithm: 'ecdsa-sha256',
  issuer: root.name,
  notBefore: noon,
  notAfter: noon + 86_400_000,
  subject: device.name,
  spki: keys[0]!.spki,
  extensions: [
    basicConstraintsExtension({ ca: false }),
    keyUsageExtension(['digitalSignature']),
    subjectKeyIdentifierExtension(device.key.identifier),
    authorityKeyIdentifierExtension(root.key.identifier),
  ],
};

describe('lint of a certificate from the builder', () => {
  test('gives the same findings as lint of the parsed certificate', () => {
    let clean = 0;
    fc.assert(
      fc.property(templates, issuers, ({ key, ...random }, below) => {
        for (const template of [random, { ...sound, notAfter: random.notAfter }]) {
          const whole = { ...template, spki: key.spki };
          const tbs = buildTbsCertificate(whole);
          const found = lintBuilt(tbs, whole, key, below);
          expect(found).toEqual(lint(tbs, below));
          if (found.length === 0) clean++;
        }
      }),
      runs(150),
    );
    expect(clean).toBeGreaterThan(0);
  });

  test('returns the values of the certificate', () => {
    fc.assert(
      fc.property(templates, ({ key, extensions: several, ...random }) => {
        const once = new Map(several.map((one) => [one.oid, one]));
        const template = { ...random, spki: key.spki, extensions: [...once.values()] };
        const tbs = buildTbsCertificate(template);
        const { subject, issuer: by, ...outlined } = outlineTbsCertificate(tbs, template);
        const { subject: readSubject, issuer: readBy, serialNumber, ...read } = parseTbsCertificate(tbs);
        expect(outlined).toEqual(read);
        expect(formatSerial(outlined.serial)).toBe(serialNumber);
        expect([subject.der, by.der]).toEqual([readSubject.der, readBy.der]);
      }),
      runs(300),
    );
  });

  const twice = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...bytes, ...bytes);
  const rows: readonly [string, Partial<CertificateTemplate>][] = [
    ['two names in the place of the subject', { subject: { ...device.name, der: twice(device.name.der) } }],
    ['two names in the place of the issuer', { issuer: { ...root.name, der: twice(root.name.der) } }],
    ['no name', { subject: { ...device.name, der: new Uint8Array(0) } }],
    ['two keys', { spki: twice(keys[0]!.spki) }],
    ['no key', { spki: new Uint8Array(0) }],
    ['something behind the key', { spki: Uint8Array.of(...keys[0]!.spki, 5, 0) }],
    ['a key that is cut off', { spki: keys[0]!.spki.subarray(0, -1) }],
    [
      'too many extensions',
      {
        extensions: Array.from({ length: 65 }, (_, n) => ({
          oid: `1.2.${n}`,
          critical: false,
          value: new Uint8Array(0),
        })),
      },
    ],
    ['an extension that occurs twice', { extensions: [...sound.extensions, sound.extensions[0]!] }],
  ];
  test.each(rows)('rejects a certificate with %s', (_, change) => {
    const template = { ...sound, ...change };
    const tbs = buildTbsCertificate(template);
    for (const found of [
      lint(tbs, issuer),
      lintBuilt(tbs, template, { ...keys[0]!, spki: template.spki }, issuer),
    ]) {
      expect(found).toEqual([expect.stringContaining('it cannot be read: ')]);
    }
    expect(lintBuilt(buildTbsCertificate(sound), sound, keys[0]!, issuer)).toEqual([]);
  });

  test('returns the key of the certificate, not another one', () => {
    const template = { ...sound, spki: Uint8Array.of(...keys[0]!.spki.subarray(0, -3), 0, 0, 0) };
    const tbs = buildTbsCertificate(template);
    expect(lintBuilt(tbs, template, keys[1]!, issuer)).toEqual(lint(tbs, issuer));
    expect(lint(tbs, issuer)).toHaveLength(1);
  });
});
