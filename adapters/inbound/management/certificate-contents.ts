import { hash } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { hex } from '#core/der/bytes.ts';
import { formatSerial, parseCertificate } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import {
  decodeAuthorityKeyIdentifier,
  decodeSubjectAltName,
  decodeSubjectKeyIdentifier,
} from '#core/x509/extensions/identity.ts';
import { decodeAuthorityInfoAccess, decodeCrlDistributionPoints } from '#core/x509/extensions/locations.ts';
import { decodeNameConstraints } from '#core/x509/extensions/name-constraints.ts';
import {
  decodeCertificatePolicies,
  decodeInhibitAnyPolicy,
  decodePolicyConstraints,
  decodePolicyMappings,
} from '#core/x509/extensions/policies.ts';
import {
  decodeBasicConstraints,
  decodeExtendedKeyUsage,
  decodeKeyUsage,
} from '#core/x509/extensions/usage.ts';
import { formatGeneralName, type GeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { timestamp } from './description.ts';
import { dateTime, nullable } from './fields.ts';

export const extensionTerm = Type.Object(
  {
    term: Type.String({
      description: 'name in the standard: `digitalSignature`, `dns`, `pathLength`',
    }),
    text: Type.Optional(Type.String({ description: 'the value, if the term has one' })),
  },
  { additionalProperties: false },
);
export type ExtensionTerm = Static<typeof extensionTerm>;

const extensionSchema = Type.Object(
  {
    oid: Type.String(),
    name: nullable(Type.String(), 'name in RFC 5280 §4.2; null if unknown'),
    critical: Type.Boolean(),
    values: Type.Array(extensionTerm, { description: 'empty if the value cannot be decoded' }),
    value: Type.String({ description: 'DER, hexadecimal' }),
  },
  { $id: 'ExplainedExtension', additionalProperties: false },
);

/** The decoded contents of a certificate. */
export const contentsSchema = Type.Object(
  {
    version: Type.Integer(),
    serial_number: Type.String({ description: 'upper-case hexadecimal' }),
    subject: Type.String({ description: 'RFC 4514' }),
    issuer: Type.String({ description: 'RFC 4514' }),
    not_valid_before: dateTime('notBefore'),
    not_valid_after: dateTime('notAfter'),
    signature_algorithm: nullable(Type.String(), 'null if unknown'),
    public_key: Type.Object(
      {
        type: nullable(
          Type.String({ description: '`p-256`, `rsa-3072`, …' }),
          'null if the key type is not supported',
        ),
        sha256: Type.String({ description: 'of the SubjectPublicKeyInfo, upper-case hexadecimal' }),
      },
      { additionalProperties: false },
    ),
    sha256: Type.String({ description: 'of the certificate, upper-case hexadecimal' }),
    sha1: Type.String({
      description: 'SHA-1 of the certificate, which some devices still use as its identifier',
    }),
    extensions: Type.Array(extensionSchema),
  },
  { $id: 'CertificateContents', additionalProperties: false },
);

/** Faults: malformed. */
export function contentsOf(der: Uint8Array): Static<typeof contentsSchema> {
  const certificate = parseCertificate(der);
  const digest = (algorithm: 'sha1' | 'sha256', octets: Uint8Array): string =>
    hash(algorithm, octets, 'hex').toUpperCase();
  return {
    version: certificate.version,
    serial_number: certificate.serialNumber,
    subject: formatDistinguishedName(certificate.subject),
    issuer: formatDistinguishedName(certificate.issuer),
    not_valid_before: timestamp(certificate.notBefore),
    not_valid_after: timestamp(certificate.notAfter),
    signature_algorithm: certificate.signatureAlgorithm ?? null,
    public_key: { type: keyType(certificate.spki), sha256: digest('sha256', certificate.spki) },
    sha256: digest('sha256', der),
    sha1: digest('sha1', der),
    extensions: certificate.extensions.map(explain),
  };
}

function keyType(spki: Uint8Array): string | null {
  try {
    return readPublicKey(spki).type;
  } catch {
    return null;
  }
}

const names: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(oid).map(([name, value]) => [value, name]),
);

const general = (name: GeneralName): ExtensionTerm => ({ term: name.kind, text: formatGeneralName(name) });
const number = (term: string, value: number | undefined): ExtensionTerm[] =>
  value === undefined ? [] : [{ term, text: String(value) }];

/** Decodes the value of each known extension into terms. */
const readers: Readonly<Record<string, (value: Uint8Array) => ExtensionTerm[]>> = {
  [oid.keyUsage]: (value) => decodeKeyUsage(value).map((term) => ({ term })),
  [oid.extendedKeyUsage]: (value) =>
    decodeExtendedKeyUsage(value).map((purpose) => ({ term: names[purpose] ?? 'purpose', text: purpose })),
  [oid.basicConstraints](value) {
    const { ca, pathLength } = decodeBasicConstraints(value);
    return [{ term: ca ? 'ca' : 'endEntity' }, ...number('pathLength', pathLength)];
  },
  [oid.subjectAltName]: (value) => decodeSubjectAltName(value).map(general),
  [oid.issuerAltName]: (value) => decodeSubjectAltName(value).map(general),
  [oid.subjectKeyIdentifier]: (value) => [
    { term: 'keyIdentifier', text: hex(decodeSubjectKeyIdentifier(value)) },
  ],
  [oid.authorityKeyIdentifier](value) {
    const { keyIdentifier, issuer = [], serial } = decodeAuthorityKeyIdentifier(value);
    return [
      ...(keyIdentifier ? [{ term: 'keyIdentifier', text: hex(keyIdentifier) }] : []),
      ...issuer.map(general),
      ...(serial ? [{ term: 'serialNumber', text: formatSerial(serial) }] : []),
    ];
  },
  [oid.crlDistributionPoints]: (value) =>
    decodeCrlDistributionPoints(value).map((text) => ({ term: 'uri', text })),
  [oid.authorityInfoAccess](value) {
    const { caIssuers, ocsp } = decodeAuthorityInfoAccess(value);
    return [
      ...ocsp.map((text) => ({ term: 'ocsp', text })),
      ...caIssuers.map((text) => ({ term: 'caIssuers', text })),
    ];
  },
  [oid.certificatePolicies]: (value) =>
    decodeCertificatePolicies(value).flatMap((policy) => [
      { term: policy.oid === oid.anyPolicy ? 'anyPolicy' : 'policy', text: policy.oid },
      ...(policy.cps ?? []).map((text) => ({ term: 'cps', text })),
    ]),
  [oid.policyMappings]: (value) =>
    decodePolicyMappings(value).map(({ issuerDomainPolicy, subjectDomainPolicy }) => ({
      term: 'mapping',
      text: `${issuerDomainPolicy} = ${subjectDomainPolicy}`,
    })),
  [oid.policyConstraints](value) {
    const { requireExplicitPolicy, inhibitPolicyMapping } = decodePolicyConstraints(value);
    return [
      ...number('requireExplicitPolicy', requireExplicitPolicy),
      ...number('inhibitPolicyMapping', inhibitPolicyMapping),
    ];
  },
  [oid.inhibitAnyPolicy]: (value) => number('inhibitAnyPolicy', decodeInhibitAnyPolicy(value)),
  [oid.nameConstraints](value) {
    const { permitted, excluded } = decodeNameConstraints(value);
    return [
      ...permitted.map((name) => ({ term: 'permitted', text: formatGeneralName(name) })),
      ...excluded.map((name) => ({ term: 'excluded', text: formatGeneralName(name) })),
    ];
  },
};

/** Returns the terms of an extension value (DER); empty if it cannot be decoded. */
export function explainValue(which: string, value: Uint8Array): ExtensionTerm[] {
  try {
    return readers[which]?.(value) ?? [];
  } catch {
    return [];
  }
}

/** Returns the name of an extension or a key purpose in the standards. */
export const nameOfOid = (which: string): string | undefined => names[which];

const explain = ({ oid: which, critical, value }: Extension): Static<typeof extensionSchema> => ({
  oid: which,
  name: names[which] ?? null,
  critical,
  values: explainValue(which, value),
  value: hex(value),
});

export const contentsExample: Static<typeof contentsSchema> = {
  version: 3,
  serial_number: '4C6F9D0E1B7A3358A1D2C4E60789BB21',
  subject: 'CN=pump-7',
  issuer: 'CN=Postern Issuing CA 5F0C2A91,O=Postern',
  not_valid_before: '2026-03-02T07:15:30.000',
  not_valid_after: '2027-03-02T08:15:30.000',
  signature_algorithm: 'ecdsa-sha256',
  public_key: { type: 'p-256', sha256: 'F0'.repeat(32) },
  sha256: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
  sha1: 'A9993E364706816ABA3E25717850C26C9CD0D89D',
  extensions: [
    {
      oid: '2.5.29.15',
      name: 'keyUsage',
      critical: true,
      values: [{ term: 'digitalSignature' }],
      value: '03020780',
    },
  ],
};
