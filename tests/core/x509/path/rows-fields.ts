import { generateKeyPairSync } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import {
  authorityKeyIdentifierExtension,
  subjectAltNameExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import { basicConstraintsExtension, extendedKeyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { buildName, emptyName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { certify, ecKey, type Key, keyOf, noon, party } from './certify.ts';
import { device, flipped, four, middle, type Row, row, three } from './row.ts';

const rsa = (modulusLength: number, algorithm: Key['algorithm'] = 'rsa-pkcs1-sha256'): Key => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  return keyOf(privateKey, publicKey, algorithm);
};

/** Returns a chain whose certificates are all signed by keys of this type. */
function signedWith(key: Key) {
  const top = party('CN=Top', key);
  return {
    leaf: certify(device, top),
    intermediates: [],
    anchors: [certify(top, top, { ca: true })],
  };
}

const rsa2048 = rsa(2048);
const algorithmOf = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which)));
const ecdsaWithSha1 = { algorithm: algorithmOf('1.2.840.10045.4.1'), hash: 'sha1' };
const day = 24 * 3600 * 1000;
const critical = (value: { oid: string; value: Uint8Array }) => ({ ...value, critical: true });
const strange = (isCritical: boolean) => ({
  oid: '1.3.6.1.4.1.99999.1',
  critical: isCritical,
  value: Uint8Array.of(5, 0),
});
const altName = (...names: string[]) => subjectAltNameExtension(names.map(parseGeneralName));

const ed25519 = generateKeyPairSync('ed25519');
const small = party('CN=Small', rsa(1024));
/** The generator of secp256k1 (SEC 2 §2.4.1) as a public key. */
const koblitz = der((b) =>
  b.sequence((s) =>
    s
      .sequence((a) => a.oid(oid.ecPublicKey).oid('1.3.132.0.10'))
      .bitString(
        Buffer.from(
          '0479BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8',
          'hex',
        ),
      ),
  ),
);
const impostor = party('CN=Issuing CA,O=Plant');

const signatures: Row[] = [
  row('every signature holds', three(), ['ok', 'ok']),
  row('every signature holds, with two CAs in between', four(), ['ok', 'ok']),
  row('RSA with PKCS #1 signatures', signedWith(rsa2048), ['ok', 'ok']),
  row('RSA with PSS signatures', signedWith({ ...rsa2048, algorithm: 'rsa-pss-sha256' }), ['ok', 'ok']),
  row('P-384', signedWith(ecKey('P-384', 'ecdsa-sha384')), ['ok', 'ok']),
  row('P-521', signedWith(ecKey('P-521', 'ecdsa-sha512')), ['ok', 'ok']),
  row('Ed25519', signedWith(keyOf(ed25519.privateKey, ed25519.publicKey, 'ed25519')), ['ok', 'ok']),
  row('the leaf is changed after signing', { ...three(), leaf: flipped(three().leaf) }, [
    'badSignature',
    'certificate signature failure',
  ]),
  row(
    'the CA in between is changed after signing',
    { ...three(), intermediates: three().intermediates.map(flipped) },
    ['badSignature', 'certificate signature failure'],
  ),
  row(
    'the anchor is changed after signing: its own signature says nothing',
    { ...three(), anchors: three().anchors.map(flipped) },
    ['ok', 'ok'],
  ),
  row(
    'the leaf is signed by another key than the issuer has',
    three({ leaf: {} }) && {
      ...three(),
      leaf: certify(device, {
        name: middle.name,
        key: { ...impostor.key, identifier: middle.key.identifier },
      }),
    },
    ['badSignature', 'certificate signature failure'],
  ),
  row('the leaf is signed with SHA-1', three({ leaf: { raw: ecdsaWithSha1 } }), [
    'weakAlgorithm',
    'CA signature digest algorithm too weak',
  ]),
  row('the CA in between is signed with SHA-1', three({ middle: { raw: ecdsaWithSha1 } }), [
    'weakAlgorithm',
    'CA signature digest algorithm too weak',
  ]),
  row(
    'the anchor is signed with SHA-1: its own signature says nothing',
    three({ root: { raw: ecdsaWithSha1 } }),
    ['ok', 'ok'],
  ),
  row(
    'a signature algorithm that nobody knows',
    three({ leaf: { raw: { algorithm: algorithmOf('1.3.6.1.4.1.99999.2') } } }),
    ['weakAlgorithm', 'unable to get local issuer certificate'],
  ),
  row(
    'the signature algorithm does not fit the key',
    three({ leaf: { raw: { algorithm: algorithmOf(oid.ed25519) } } }),
    ['badSignature', 'unable to get local issuer certificate'],
  ),
  row(
    'two signature algorithms are named',
    three({ leaf: { raw: { outerAlgorithm: algorithmOf(oid.ecdsaWithSha384) } } }),
    ['malformed', 'cert info signature and signature algorithm mismatch'],
  ),
  row('the leaf has an RSA key of 1024 bits', three({ leaf: { spki: small.key.spki } }), [
    'weakAlgorithm',
    'EE certificate key too weak',
  ]),
  row(
    'the CA has an RSA key of 1024 bits',
    { leaf: certify(device, small), intermediates: [], anchors: [certify(small, small, { ca: true })] },
    ['weakAlgorithm', 'CA certificate key too weak'],
  ),
  row('the leaf has a key on a curve that is not accepted', three({ leaf: { spki: koblitz } }), [
    'weakAlgorithm',
    'ok',
    'Postern knows the curves of NIST alone',
  ]),
];

const names: Row[] = [
  row(
    'the issuer has another name',
    three({ leaf: { issuer: parseDistinguishedName('CN=Other CA,O=Plant') } }),
    ['unknownIssuer', 'unable to get local issuer certificate'],
  ),
  row(
    'names in other letter case and spacing are the same',
    three({ leaf: { issuer: parseDistinguishedName('CN=ISSUING  ca,O=plant') } }),
    ['ok', 'ok'],
  ),
  row(
    'names in other string types are the same',
    three({
      leaf: { issuer: buildName(middle.name.rdns.map((rdn) => rdn.map((one) => ({ ...one, tag: 0x13 })))) },
    }),
    ['ok', 'ok'],
  ),
  row(
    'RDNs in another order are another name',
    three({ leaf: { issuer: buildName([...middle.name.rdns].reverse()) } }),
    ['unknownIssuer', 'unable to get local issuer certificate'],
  ),
  row(
    'an empty subject with a critical alternative name',
    three({ leaf: { subject: emptyName, with: [critical(altName('DNS:a.example'))] } }),
    ['ok', 'ok'],
  ),
  row(
    'an empty subject with an alternative name that is not critical',
    three({ leaf: { subject: emptyName, with: [altName('DNS:a.example')] } }),
    [
      'ok',
      'Subject empty and Subject Alt Name extension not critical',
      '§4.1.2.6 binds CAs, §6 does not ask for it',
    ],
  ),
  row('a CA with an empty subject', three({ middle: { subject: emptyName }, leaf: { issuer: emptyName } }), [
    'malformed',
    'Issuer name empty',
  ]),
];

const validity: Row[] = (['root', 'middle', 'leaf'] as const).flatMap((which) => [
  row(`${which} has expired`, three({ [which]: { notAfter: noon - day } }), [
    'expired',
    'certificate has expired',
  ]),
  row(`${which} is not valid yet`, three({ [which]: { notBefore: noon + day } }), [
    'notYetValid',
    'certificate is not yet valid',
  ]),
]);
validity.push(
  row('the leaf begins at this second', three({ leaf: { notBefore: noon } }), ['ok', 'ok']),
  row('the leaf ends at this second', three({ leaf: { notAfter: noon } }), [
    'ok',
    'certificate has expired',
    '§4.1.2.5: notAfter belongs to the validity; OpenSSL takes it as the end',
  ]),
  row('the leaf ended a second ago', three({ leaf: { notAfter: noon - 1000 } }), [
    'expired',
    'certificate has expired',
  ]),
  row(
    'an IDevID that never expires (RFC 5280 §4.1.2.5)',
    three({ leaf: { notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) } }),
    ['ok', 'ok'],
  ),
  row('validity beyond 2049, in GeneralizedTime', three({ leaf: { notAfter: Date.UTC(2060, 0, 1) } }), [
    'ok',
    'ok',
  ]),
  row(
    'a time beyond 2049',
    three({
      root: { notAfter: Date.UTC(2070, 0, 1) },
      middle: { notAfter: Date.UTC(2070, 0, 1) },
      leaf: { notAfter: Date.UTC(2060, 0, 1) },
    }),
    ['expired', 'certificate has expired'],
    { time: Date.UTC(2061, 0, 1) },
  ),
  row(
    'validity that ends before it begins',
    three({ leaf: { notBefore: noon + day, notAfter: noon - day } }),
    ['notYetValid', 'certificate is not yet valid'],
  ),
  row('the leaf outlives its CA', three({ middle: { notAfter: noon + day } }), ['ok', 'ok']),
);

const extensions: Row[] = [
  ...(['root', 'middle', 'leaf'] as const).map((which) =>
    row(`${which} has an unknown critical extension`, three({ [which]: { with: [strange(true)] } }), [
      'unknownCriticalExtension',
      'unhandled critical extension',
    ]),
  ),
  row('an unknown extension that is not critical', three({ leaf: { with: [strange(false)] } }), ['ok', 'ok']),
  row('an extension occurs twice', three({ leaf: { raw: { more: [strange(false), strange(false)] } } }), [
    'malformed',
    'ok',
    '§4.2: one of each; OpenSSL looks at those that it knows',
  ]),
  row('a CA has an extension twice', three({ middle: { raw: { more: [strange(false), strange(false)] } } }), [
    'malformed',
    'ok',
    '§4.2: one of each; OpenSSL looks at those that it knows',
  ]),
  row(
    'the CA has basic constraints twice',
    three({ middle: { raw: { more: [basicConstraintsExtension({ ca: true })] } } }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
  row('a leaf without any extension', three({ leaf: { raw: { extensions: [] } } }), [
    'ok',
    'Missing Authority Key Identifier',
    'IDevIDs without authority key identifier are known to exist; §4.2.1.1 binds CAs',
  ]),
  row('a leaf of version 1', three({ leaf: { raw: { version: 0, extensions: [] } } }), ['ok', 'ok']),
  row('a leaf of version 1 with extensions', three({ leaf: { raw: { version: 0 } } }), [
    'malformed',
    'Using cert extension requires at least X509v3',
  ]),
  row(
    'an alternative name that cannot be read',
    three({
      leaf: { with: [{ oid: oid.subjectAltName, critical: false, value: Uint8Array.of(0x30, 2, 0x82, 5) }] },
    }),
    ['malformed', 'unable to get local issuer certificate'],
  ),
  row(
    'an empty alternative name',
    three({ leaf: { with: [{ oid: oid.subjectAltName, critical: false, value: Uint8Array.of(0x30, 0) }] } }),
    ['malformed', 'Empty Subject Alternative Name extension'],
  ),
  row(
    'a critical authority key identifier',
    three({ leaf: { with: [critical(authorityKeyIdentifierExtension(middle.key.identifier))] } }),
    ['unknownCriticalExtension', 'unhandled critical extension'],
  ),
  row(
    'a critical subject key identifier',
    three({ leaf: { with: [critical(subjectKeyIdentifierExtension(device.key.identifier))] } }),
    ['unknownCriticalExtension', 'unhandled critical extension'],
  ),
  row('no authority key identifier', three({ leaf: { without: [oid.authorityKeyIdentifier] } }), [
    'ok',
    'Missing Authority Key Identifier',
    'IDevIDs without it exist; §4.2.1.1 binds CAs, §6 does not ask for it',
  ]),
  row('no subject key identifier in a CA', three({ middle: { without: [oid.subjectKeyIdentifier] } }), [
    'ok',
    'Missing Subject Key Identifier',
    '§4.2.1.2 binds CAs, §6 does not ask for it',
  ]),
  row(
    "an authority key identifier that is not the issuer's",
    three({ leaf: { with: [authorityKeyIdentifierExtension(Uint8Array.of(9, 9, 9))] } }),
    [
      'ok',
      'unable to get local issuer certificate',
      '§4.2.1.1: it helps to find the issuer, the signature proves it',
    ],
  ),
  row('serial number 0', three({ leaf: { raw: { serial: Uint8Array.of(0) } } }), ['ok', 'ok']),
  row('a negative serial number', three({ leaf: { raw: { serial: Uint8Array.of(0x80, 1) } } }), ['ok', 'ok']),
  row('a serial number of 21 octets', three({ middle: { raw: { serial: new Uint8Array(21).fill(0x11) } } }), [
    'ok',
    'ok',
  ]),
  row('a serial number of 20 octets', three({ middle: { raw: { serial: new Uint8Array(20).fill(0x11) } } }), [
    'ok',
    'ok',
  ]),
  row('a root with serial number 0', three({ root: { raw: { serial: Uint8Array.of(0) } } }), ['ok', 'ok']),
];

const client = [extendedKeyUsageExtension([oid.clientAuth])];
const server = [extendedKeyUsageExtension([oid.serverAuth])];
const asClient = { purpose: 'clientAuth' } as const;

const purposes: Row[] = [
  row('no extended key usage allows all purposes', three(), ['ok', 'ok'], asClient),
  row('the purpose is named', three({ leaf: { with: client } }), ['ok', 'ok'], asClient),
  row(
    'another purpose is named',
    three({ leaf: { with: server } }),
    ['purpose', 'unsuitable certificate purpose'],
    asClient,
  ),
  row('another purpose is named, and nobody asks', three({ leaf: { with: server } }), ['ok', 'ok']),
  row(
    'anyExtendedKeyUsage is named',
    three({ leaf: { with: [extendedKeyUsageExtension([oid.anyExtendedKeyUsage])] } }),
    ['ok', 'unsuitable certificate purpose', '§4.2.1.12: it stands for every purpose'],
    asClient,
  ),
  row(
    'the CA may not issue for the purpose',
    three({ middle: { with: server } }),
    ['purpose', 'unsuitable certificate purpose'],
    asClient,
  ),
  row(
    'the anchor may not issue for the purpose',
    three({ root: { with: server } }),
    ['purpose', 'unsuitable certificate purpose'],
    asClient,
  ),
  row(
    'a critical extended key usage',
    three({ leaf: { with: client.map(critical) } }),
    ['ok', 'ok'],
    asClient,
  ),
];

export const rowsOfFields: readonly Row[] = [
  ...signatures,
  ...names,
  ...validity,
  ...extensions,
  ...purposes,
];
