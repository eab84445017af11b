import { Type } from '@sinclair/typebox';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { wholeSecond } from '#core/der/time.ts';
import type { CertificateInput } from '#core/enrolment/issue-by-name.ts';
import { atField } from '#core/fault.ts';
import type { Condition } from '#core/ports/store.ts';
import type { CertificateStatus, StoredCertificate } from '#core/records/certificate.ts';
import { parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { type Description, type Filter, timestamp } from '../description.ts';
import { dateTime, file, nullable, reference, text } from '../fields.ts';
import { equalChoice, equalInteger, equalSerialNumber, equalText, from, until, within } from '../filters.ts';
import { createdAtField, idField, keyType } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;

const day = 24 * 3_600_000;
const statuses = ['good', 'hold', 'revoked'] as const satisfies readonly CertificateStatus[];

const endsWithin: Filter<'certificate'> = {
  schema: Type.Integer({
    minimum: 0,
    maximum: 36_500,
    description: 'number of days: the valid certificates that expire within it',
  }),
  conditions: (text, now) => [
    { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
    { field: 'notValidAfter', is: 'less', value: now + Number(text) * day },
    { field: 'status', is: 'equal', value: 'good' },
  ],
};

/** The state of a certificate now. Unlike `status`, it takes the validity period into account. */
const states = {
  active: (now) => [
    { field: 'status', is: 'equal', value: 'good' },
    { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
  ],
  expired: (now) => [
    { field: 'status', is: 'oneOf', value: ['good', 'hold'] },
    { field: 'notValidAfter', is: 'less', value: wholeSecond(now) },
  ],
  hold: (now) => [
    { field: 'status', is: 'equal', value: 'hold' },
    { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
  ],
  revoked: () => [{ field: 'status', is: 'equal', value: 'revoked' }],
  on_crl: (now) => [
    { field: 'status', is: 'oneOf', value: ['revoked', 'hold'] },
    { field: 'notValidAfter', is: 'greaterOrEqual', value: wholeSecond(now) },
  ],
} as const satisfies Record<string, (now: number) => readonly Condition<'certificate'>[]>;

const stateFilter: Filter<'certificate'> = {
  schema: Type.String({
    enum: Object.keys(states),
    description:
      'active: good and not expired; expired: good or on hold, and past notAfter; hold: on hold and not expired; revoked; on_crl: revoked or on hold, and not expired',
  }),
  conditions: (text, now) => states[text as keyof typeof states](now),
};

type Input = Omit<CertificateInput, 'csr'> & { readonly csr?: string | Uint8Array };

export const certificates: Description<'certificate', Input, StoredCertificate> = {
  path: '/api/certificates',
  tag: 'certificates',
  exported: true,
  kind: 'certificate',
  permissions: { read: 'certificates.read', write: 'certificates.write', create: 'certificates.issue' },
  fields: {
    id: idField,
    common_name: {
      schema: text(256, {
        min: 1,
        description:
          'the inventory name. Without `csr` it is also the common name, which holds at most 64 characters: a longer name is shortened to its first 47 characters, `-`, and 16 hexadecimal digits of its SHA-256. For a longer host name send a `csr` with the name as subjectAltName',
      }),
      required: true,
      orderable: true,
    },
    created_at: createdAtField,
    serial_number: { schema: Type.String({ description: 'upper-case hexadecimal' }), ...ordered },
    subject: { schema: Type.String({ description: 'RFC 4514' }), ...ordered },
    not_valid_before: { schema: dateTime('notBefore'), ...ordered },
    not_valid_after: { schema: dateTime('notAfter'), ...ordered },
    fingerprint: { schema: Type.String({ description: 'SHA-256, upper-case hexadecimal' }), ...shown },
    status: { schema: Type.String({ enum: [...statuses] }), ...ordered },
    revoked_at: { schema: nullable(dateTime('when it was revoked')), ...ordered },
    revocation_reason: { schema: nullable(Type.String({ description: 'RFC 5280 §5.3.1' })), ...shown },
    issuing_ca: { schema: Type.Integer(), record: 'ca', ...ordered },
    device: { schema: nullable(Type.Integer()), ...ordered },
    domain: {
      schema: nullable(reference('the domain whose CA signs it; default: the default domain')),
      toInput: (value) => value ?? undefined,
      createOnly: true,
      orderable: true,
    },
    cert_profile: {
      schema: nullable(reference('a profile that the domain offers; default: tls_client')),
      record: 'profile',
      toInput: (value) => value ?? undefined,
      createOnly: true,
      orderable: true,
    },
    csr: {
      schema: file(
        64 * 1024,
        'a PKCS #10 request, PEM, DER or base64; without it Postern generates the key, which can be downloaded once as PKCS #12',
      ),
      createOnly: true,
      writeOnly: true,
    },
    key_type: {
      schema: keyType('type of the generated key; default: p-256'),
      createOnly: true,
      writeOnly: true,
    },
    protocol: { schema: Type.String({ description: 'protocol of the request' }), ...ordered },
    issuer: { schema: Type.String({ description: 'RFC 4514' }), ...shown, detailOnly: true },
    subject_alternative_names: { schema: Type.Array(Type.String()), ...shown, detailOnly: true },
    pem: { schema: Type.String({ description: 'the certificate, PEM' }), ...shown, detailOnly: true },
  },
  filters: {
    not_valid_before: within('notValidBefore'),
    serial_number: equalSerialNumber('serialNumber'),
    status: equalChoice('status', statuses),
    state: stateFilter,
    expires_within: endsWithin,
    expires_from: from('notValidAfter'),
    expires_to: until('notValidAfter'),
    created_from: from('createdAt'),
    created_to: until('createdAt'),
    device: equalInteger('device'),
    domain: equalInteger('domain'),
    issuing_ca: equalInteger('ca'),
    cert_profile: equalInteger('profile'),
    protocol: equalText('protocol'),
  },
  toJson: (record, detail) => ({
    id: record.id,
    common_name: record.commonName,
    created_at: timestamp(record.createdAt),
    serial_number: record.serialNumber,
    subject: record.subject,
    not_valid_before: timestamp(record.notValidBefore),
    not_valid_after: timestamp(record.notValidAfter),
    fingerprint: record.fingerprint,
    status: record.status,
    revoked_at: record.revokedAt === null ? null : timestamp(record.revokedAt),
    revocation_reason: record.revocationReason,
    issuing_ca: record.ca,
    device: record.device,
    domain: record.domain,
    cert_profile: record.profile,
    protocol: record.protocol,
    ...(detail && contents(record.der)),
  }),
  example: {
    id: 31,
    common_name: 'pump-7',
    created_at: '2026-03-02T08:15:30.000',
    serial_number: '4C6F9D0E1B7A3358A1D2C4E60789BB21',
    subject: 'CN=pump-7',
    not_valid_before: '2026-03-02T07:15:30.000',
    not_valid_after: '2027-03-02T08:15:30.000',
    fingerprint: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
    status: 'good',
    revoked_at: null,
    revocation_reason: null,
    issuing_ca: 2,
    device: 7,
    domain: 1,
    cert_profile: 1,
    protocol: 'est',
    issuer: 'CN=Postern Issuing CA 5F0C2A91,O=Postern',
    subject_alternative_names: ['DNS:pump-7.plant.example'],
    pem: '-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----\n',
    key_type: 'p-256',
  },
  deferred:
    'The request is pending approval. Send the same request again from the same account to get the certificate.',
  operations: ({ certificates: { list, read, create, update, remove } }) => ({
    list,
    read,
    update,
    remove,
    create: (principal, { csr, ...input }) =>
      create(principal, { ...input, ...(csr !== undefined && { csr: readCsr(csr) }) }),
  }),
};

function readCsr(csr: string | Uint8Array): Uint8Array {
  try {
    return decodeCertificationRequest(csr);
  } catch (error) {
    throw atField(error, 'csr');
  }
}

/** Fields that are decoded from the certificate itself. */
function contents(der: Uint8Array): Record<string, unknown> {
  const certificate = parseCertificate(der);
  return {
    issuer: formatDistinguishedName(certificate.issuer),
    subject_alternative_names: subjectAltNamesOf(certificate).map(formatGeneralName),
    pem: encodePem('CERTIFICATE', der),
  };
}
