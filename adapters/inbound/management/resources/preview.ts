import { Type } from '@sinclair/typebox';
import type { Preview } from '#core/enrolment/preview.ts';
import { faultCodes } from '#core/fault.ts';
import { securityLevels } from '#core/security/levels.ts';
import { extension } from '#core/x509/certificate.ts';
import type { Extension } from '#core/x509/extension.ts';
import { decodeSubjectAltName } from '#core/x509/extensions/identity.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { extensionInWords } from '#core/x509/words.ts';
import { timestamp } from '../description.ts';
import { dateTime, nullable } from '../fields.ts';

const closed = { additionalProperties: false };
const texts = (description: string) => Type.Array(Type.String(), { description });
const named = (description: string) =>
  Type.Object({ id: Type.Integer(), unique_name: Type.String() }, { ...closed, description });

const extensions = Type.Array(
  Type.Object(
    {
      oid: Type.String(),
      name: Type.String({ description: 'name in the standard, or the OID' }),
      critical: Type.Boolean(),
      value: Type.String({ description: 'readable, or `#` and the DER in hexadecimal' }),
    },
    closed,
  ),
);

const asked = Type.Object(
  {
    subject: Type.String({ description: 'RFC 4514' }),
    subject_alternative_names: texts('`DNS:…`, `IP:…`, `URI:…`'),
    key_type: Type.String(),
    extensions,
  },
  { ...closed, description: 'the request' },
);

const made = Type.Object(
  {
    subject: Type.String({ description: 'RFC 4514' }),
    subject_alternative_names: texts('`DNS:…`, `IP:…`, `URI:…`'),
    issuer: Type.String({ description: 'RFC 4514' }),
    not_valid_before: dateTime('notBefore'),
    not_valid_after: dateTime('notAfter'),
    key_type: Type.String(),
    signature_algorithm: Type.String({ description: 'signature algorithm of the CA' }),
    extensions,
  },
  { ...closed, description: 'the certificate to be issued' },
);

const explanation = Type.Object(
  {
    field: Type.String({ description: '`subject.CN`, `extensions.keyUsage`, `notAfter`' }),
    value: Type.String({ description: 'the resulting value; empty if the field is omitted' }),
    because: Type.String(),
  },
  closed,
);

const objection = Type.Object(
  {
    by: Type.String({
      enum: ['rules', 'domain', 'issuingCa', 'request', 'profile', 'names', 'lint', 'securityLevel'],
      description:
        'rules: not valid; domain: does not offer the profile, or has no such device; issuingCa: cannot sign; request: malformed or without proof of possession; profile: does not allow the request; names: belong to this service; lint: violates RFC 5280; securityLevel: not met',
    }),
    code: Type.String({ enum: [...faultCodes] }),
    where: nullable(
      Type.String(),
      'for `rules` a JSON pointer, for `profile` a field as in `explanations`; null if it concerns no particular field',
    ),
    detail: Type.String(),
  },
  closed,
);

export const previewSchema = Type.Object(
  {
    would_be_issued: Type.Boolean({
      description: 'true if there are no objections; an approval may still be required',
    }),
    profile: nullable(named('the stored profile')),
    domain: named('the domain that the request is addressed to'),
    offered_as: texts('the names of the profile in paths of the domain'),
    device: nullable(
      Type.Object(
        { id: Type.Integer(), common_name: Type.String(), serial_number: Type.String() },
        { ...closed, description: 'the device to issue for' },
      ),
    ),
    issuing_ca: nullable(named('the CA that would sign')),
    security_level: Type.String({ enum: [...securityLevels] }),
    request: nullable(asked),
    certificate: nullable(made),
    explanations: Type.Array(explanation, { description: 'where the value of each field comes from' }),
    lint_passes: nullable(Type.Boolean(), 'null if there is no certificate to check'),
    objections: Type.Array(objection, { description: 'reasons for a rejection' }),
  },
  { ...closed, $id: 'ProfilePreview' },
);

type Extended = { readonly extensions: readonly Extension[] };

const extensionsToJson = ({ extensions }: Extended) =>
  extensions.map((one) => ({ oid: one.oid, critical: one.critical, ...extensionInWords(one) }));

const namesOf = (extended: Extended): string[] => {
  const found = extension(extended, oid.subjectAltName);
  return found ? decodeSubjectAltName(found.value).map(formatGeneralName) : [];
};

const nameOf = (record: { readonly id: number; readonly uniqueName: string } | undefined) =>
  record ? { id: record.id, unique_name: record.uniqueName } : null;

export function previewToJson(preview: Preview) {
  const { profile, domain, device, issuingCa, request, certificate, explanations, objections } = preview;
  return {
    would_be_issued: objections.length === 0,
    profile: nameOf(profile),
    domain: nameOf(domain),
    offered_as: preview.offeredAs,
    device: device
      ? { id: device.id, common_name: device.commonName, serial_number: device.serialNumber }
      : null,
    issuing_ca: nameOf(issuingCa),
    security_level: preview.securityLevel,
    request: request
      ? {
          subject: formatDistinguishedName(request.subject),
          subject_alternative_names: request.subjectAltNames.map(formatGeneralName),
          key_type: request.publicKey.type,
          extensions: extensionsToJson(request),
        }
      : null,
    certificate:
      certificate && request
        ? {
            subject: formatDistinguishedName(certificate.subject),
            subject_alternative_names: namesOf(certificate),
            issuer: formatDistinguishedName(certificate.issuer),
            not_valid_before: timestamp(certificate.notBefore),
            not_valid_after: timestamp(certificate.notAfter),
            key_type: request.publicKey.type,
            signature_algorithm: certificate.signatureAlgorithm,
            extensions: extensionsToJson(certificate),
          }
        : null,
    explanations,
    lint_passes: certificate ? !objections.some(({ by }) => by === 'lint') : null,
    objections,
  };
}

const keyUsage = { oid: oid.keyUsage, name: 'keyUsage', critical: true, value: 'digitalSignature' };

export const previewExample = {
  would_be_issued: false,
  profile: { id: 12, unique_name: 'pump_tls' },
  domain: { id: 1, unique_name: 'default' },
  offered_as: [],
  device: { id: 7, common_name: 'pump-7', serial_number: 'SN-7' },
  issuing_ca: { id: 2, unique_name: 'issuing' },
  security_level: 'brownfield',
  request: { subject: 'CN=pump-7', subject_alternative_names: [], key_type: 'p-256', extensions: [] },
  certificate: {
    subject: 'CN=pump-7',
    subject_alternative_names: [],
    issuer: 'CN=Postern Issuing CA 5F0C2A91,O=Postern',
    not_valid_before: '2026-03-02T07:15:30.000',
    not_valid_after: '2026-05-31T08:15:30.000',
    key_type: 'p-256',
    signature_algorithm: 'ecdsa-sha256',
    extensions: [keyUsage],
  },
  explanations: [
    { field: 'subject.CN', value: 'pump-7', because: 'requested, and fixed by the profile' },
    { field: 'extensions.keyUsage', value: 'digitalSignature', because: 'fixed by the profile' },
    { field: 'notAfter', value: '2026-05-31T08:15:30Z', because: 'P90D' },
  ],
  lint_passes: true,
  objections: [
    {
      by: 'domain',
      code: 'forbidden',
      where: null,
      detail: 'the domain default does not offer this profile',
    },
  ],
};
