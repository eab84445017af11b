import { type TSchema, Type } from '@sinclair/typebox';
import { encodePem } from '#adapters/wire/pem.ts';
import type { ApprovalView } from '#core/approvals/approvals.ts';
import type { Obstacle } from '#core/approvals/obstacle.ts';
import {
  type ApprovalContent,
  approvalStates,
  type CertificateContent,
  type CertificateFields,
} from '#core/records/approval.ts';
import { approvalOperations, approvalProtocols } from '#core/records/approval-policy.ts';
import { oid } from '#core/x509/oids.ts';
import { type ExtensionTerm, explainValue, extensionTerm, nameOfOid } from '../certificate-contents.ts';
import { type Description, timestamp } from '../description.ts';
import { dateTime, nullable } from '../fields.ts';
import { equalChoice, equalInteger, from, until } from '../filters.ts';
import { idField } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;
const detailed = { readOnly: true, detailOnly: true } as const;

const object = <T extends Record<string, TSchema>>(properties: T, $id: string) =>
  Type.Object(properties, { $id, additionalProperties: false });
const words = (description: string) => Type.String({ description });

const certificateFields = {
  subject: words('RFC 4514'),
  subject_alternative_names: Type.Array(Type.String()),
  key_type: Type.String(),
  key_fingerprint: nullable(words('SHA-256 of the public key; null: Postern has yet to generate the key')),
  extensions: Type.Array(
    object(
      {
        oid: Type.String(),
        critical: Type.Boolean(),
        value: words('readable for well-known extensions, otherwise hexadecimal'),
        values: Type.Array(extensionTerm, {
          description: 'the same value as a list of terms; empty if it cannot be decoded',
        }),
      },
      'ApprovalExtension',
    ),
  ),
};

const certificateContent = object(
  {
    requested: object(certificateFields, 'ApprovalRequested'),
    outcome: object(
      {
        ...certificateFields,
        issuer: words('RFC 4514'),
        not_before: dateTime('if it had been issued when the request arrived'),
        not_after: dateTime('the same'),
      },
      'ApprovalOutcome',
    ),
    differences: Type.Array(
      object(
        {
          field: words('`subject.CN`, `subjectAltName`, `extensions.2.5.29.15`'),
          requested: Type.Array(Type.String()),
          outcome: Type.Array(Type.String()),
        },
        'ApprovalDifference',
      ),
    ),
    explanations: Type.Array(
      object(
        { field: Type.String(), value: Type.String(), because: words('the reason, from the profile') },
        'ApprovalExplanation',
      ),
    ),
  },
  'ApprovalCertificate',
);

const revocationContent = object(
  {
    certificate: Type.Integer(),
    subject: Type.String(),
    serial_number: Type.String(),
    reason: words('RFC 5280 §5.3.1'),
    invalidity_date: nullable(dateTime('the date since which the key may be compromised')),
  },
  'ApprovalRevocation',
);

const decision = object(
  {
    approver: words('`user:3`, `serviceAccount:2`'),
    approver_name: Type.String(),
    verdict: Type.String({ enum: ['approved', 'rejected'] }),
    comment: Type.String(),
    created_at: dateTime('when'),
  },
  'ApprovalDecision',
);

const obstacleNames: Readonly<Record<Obstacle, string>> = {
  ownRequest: 'own_request',
  decidedAlready: 'decided_already',
  custodian: 'device_custodian',
};

export const approvals: Description<'approval', never, ApprovalView> = {
  path: '/api/approvals',
  tag: 'approvals',
  kind: 'approval',
  permissions: { read: 'approvals.read' },
  fields: {
    id: idField,
    created_at: { schema: dateTime('when the request first arrived'), record: 'createdAt', ...ordered },
    state: {
      schema: Type.String({
        enum: [...approvalStates],
        description:
          'granted: the requester can collect the result; expired: not decided or not collected in time, or the device was deleted; superseded: the expected outcome changed, so a new approval is required',
      }),
      ...ordered,
    },
    expires_at: {
      schema: dateTime(
        'the end of the current period: to decide, to collect the result, or to answer repeated requests',
      ),
      ...ordered,
    },
    operation: { schema: Type.String({ enum: [...approvalOperations] }), ...ordered },
    protocol: { schema: Type.String({ enum: [...approvalProtocols] }), ...ordered },
    domain: { schema: Type.Integer(), ...ordered },
    domain_name: { schema: Type.String(), ...shown },
    device: { schema: nullable(Type.Integer()), ...ordered },
    device_name: { schema: nullable(Type.String()), ...shown },
    cert_profile: { schema: nullable(Type.Integer()), record: 'profile', ...ordered },
    cert_profile_name: { schema: nullable(Type.String()), ...shown },
    policy: { schema: Type.Integer(), ...ordered },
    policy_name: { schema: Type.String(), ...shown },
    requester: { schema: words('`user:3`, `password device:7`, `certificate:12`'), ...shown },
    requester_name: { schema: Type.String(), ...shown },
    address: { schema: words('source address of the request'), ...shown },
    subject: { schema: words('RFC 4514; of the certificate'), ...ordered },
    request_hash: { schema: words('SHA-256 of the request'), ...shown },
    outcome_hash: { schema: words('SHA-256 of the expected outcome'), ...shown },
    approvers: { schema: Type.Integer({ description: 'number of required approvals' }), ...shown },
    approvals: { schema: Type.Integer({ description: 'number of approvals so far' }), ...shown },
    certificate: { schema: nullable(Type.Integer({ description: 'the issued certificate' })), ...shown },
    content: {
      schema: nullable(certificateContent, 'the certificate to be issued, compared with the request'),
      ...detailed,
    },
    revocations: {
      schema: nullable(Type.Array(revocationContent), 'the certificates to be revoked'),
      ...detailed,
    },
    request: {
      schema: nullable(
        words('PEM of the received PKCS #10, CRMF or whole CMP message'),
        'null: an account requested a certificate by name',
      ),
      ...detailed,
    },
    decisions: { schema: Type.Array(decision, { description: 'oldest first' }), ...detailed },
    obstacle: {
      schema: nullable(
        Type.String({ enum: Object.values(obstacleNames) }),
        'why the calling account cannot approve it; device_custodian: it registered, imported or changed the device, or has read or set its secrets',
      ),
      ...detailed,
    },
  },
  filters: {
    state: equalChoice('state', approvalStates),
    operation: equalChoice('operation', approvalOperations),
    protocol: equalChoice('protocol', approvalProtocols),
    domain: equalInteger('domain'),
    device: equalInteger('device'),
    cert_profile: equalInteger('profile'),
    policy: equalInteger('policy'),
    from: from('createdAt'),
    to: until('createdAt'),
  },
  toJson: (approval) => ({
    id: approval.id,
    created_at: timestamp(approval.createdAt),
    state: approval.state,
    expires_at: timestamp(approval.expiresAt),
    operation: approval.operation,
    protocol: approval.protocol,
    domain: approval.domain,
    domain_name: approval.domainName,
    device: approval.device,
    device_name: approval.deviceName,
    cert_profile: approval.profile,
    cert_profile_name: approval.profileName,
    policy: approval.policy,
    policy_name: approval.policyName,
    requester: approval.requester,
    requester_name: approval.requesterName,
    address: approval.address,
    subject: approval.subject,
    request_hash: approval.requestDigest,
    outcome_hash: approval.outcomeDigest,
    approvers: approval.approvers,
    approvals: approval.approvals,
    certificate: approval.certificate,
    ...(approval.details && details(approval.details, approval.requestKind)),
  }),
  example: {
    id: 12,
    created_at: '2026-03-02T08:15:30.000',
    state: 'waiting',
    expires_at: '2026-03-09T08:15:30.000',
    operation: 'issuance',
    protocol: 'est',
    domain: 1,
    domain_name: 'default',
    device: 7,
    device_name: 'pump-7',
    cert_profile: 3,
    cert_profile_name: 'tls_server',
    policy: 3,
    policy_name: 'servers need four eyes',
    requester: 'password device:7',
    requester_name: 'pump-7',
    address: '10.0.0.7',
    subject: 'CN=pump-7',
    request_hash: '9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08',
    outcome_hash: '60303AE22B998861BCE3B28F33EEC1BE758A213C86C93C076DBE9F558C11C752',
    approvers: 2,
    approvals: 1,
    certificate: null,
    content: {
      requested: {
        subject: 'CN=pump-7',
        subject_alternative_names: [],
        key_type: 'p-256',
        key_fingerprint: 'B5BB9D8014A0F9B1D61E21E796D78DCCDF1352F23CD32812F4850B878AE4944C',
        extensions: [],
      },
      outcome: {
        subject: 'CN=pump-7',
        subject_alternative_names: ['DNS:pump-7'],
        key_type: 'p-256',
        key_fingerprint: 'B5BB9D8014A0F9B1D61E21E796D78DCCDF1352F23CD32812F4850B878AE4944C',
        extensions: [
          {
            oid: '2.5.29.15',
            critical: true,
            value: 'digitalSignature',
            values: [{ term: 'digitalSignature' }],
          },
        ],
        issuer: 'CN=Postern Issuing CA 5F0C2A91,O=Postern',
        not_before: '2026-03-02T07:15:30.000',
        not_after: '2027-03-02T08:15:30.000',
      },
      differences: [
        { field: 'extensions.2.5.29.15', requested: [], outcome: ['digitalSignature'] },
        { field: 'subjectAltName', requested: [], outcome: ['DNS:pump-7'] },
      ],
      explanations: [{ field: 'subject.CN', value: 'pump-7', because: 'requested' }],
    },
    revocations: null,
    request: '-----BEGIN CERTIFICATE REQUEST-----\nMIIB…\n-----END CERTIFICATE REQUEST-----\n',
    decisions: [
      {
        approver: 'user:3',
        approver_name: 'jo',
        verdict: 'approved',
        comment: 'seen on site',
        created_at: '2026-03-02T09:00:00.000',
      },
    ],
    obstacle: null,
  },
  operations: (gateway) => ({
    list: gateway.approvals.list,
    read: gateway.approvals.read,
  }),
};

function details(
  { content, request, decisions, obstacle }: NonNullable<ApprovalView['details']>,
  requestKind: ApprovalView['requestKind'],
) {
  return {
    content: content.kind === 'certificate' ? certificateJson(content.certificate) : null,
    revocations: content.kind === 'revocation' ? content.entries.map(revocationJson) : null,
    request: request && requestKind && encodePem(labels[requestKind], request),
    decisions: decisions.map(({ approver, approverName, verdict, comment, createdAt }) => ({
      approver,
      approver_name: approverName,
      verdict,
      comment,
      created_at: timestamp(createdAt),
    })),
    obstacle: obstacle && obstacleNames[obstacle],
  };
}

/** RFC 7468 defines a label only for PKCS#10. */
const labels = {
  pkcs10: 'CERTIFICATE REQUEST',
  crmf: 'CRMF REQUEST',
  revocation: 'CMP MESSAGE',
} as const;

function certificateJson({ requested, outcome, differences, explanations }: CertificateContent) {
  return {
    requested: fieldsJson(requested),
    outcome: {
      ...fieldsJson(outcome),
      issuer: outcome.issuer,
      not_before: timestamp(outcome.notBefore),
      not_after: timestamp(outcome.notAfter),
    },
    differences,
    explanations,
  };
}

const fieldsJson = ({
  subject,
  subjectAltNames,
  keyType,
  keyFingerprint,
  extensions,
}: CertificateFields) => ({
  subject,
  subject_alternative_names: subjectAltNames,
  key_type: keyType,
  key_fingerprint: keyFingerprint,
  extensions: extensions.map((one) => ({ ...one, values: explained(one) })),
});

/** Approvals store the values of extensions as text, or in hexadecimal if they have no text. */
function explained({ oid: which, value }: CertificateFields['extensions'][number]): readonly ExtensionTerm[] {
  if (which === oid.keyUsage || which === oid.extendedKeyUsage) {
    const terms = value.split(', ').filter((one) => one !== '');
    return terms.map((one) =>
      which === oid.keyUsage ? { term: one } : { term: nameOfOid(one) ?? 'purpose', text: one },
    );
  }
  return /^(?:[0-9a-f]{2})+$/.test(value) ? explainValue(which, Buffer.from(value, 'hex')) : [];
}

type Revocations = Extract<ApprovalContent, { kind: 'revocation' }>['entries'];

const revocationJson = ({
  certificate,
  subject,
  serialNumber,
  reason,
  invalidityDate,
}: Revocations[number]) => ({
  certificate,
  subject,
  serial_number: serialNumber,
  reason,
  invalidity_date: invalidityDate === null ? null : timestamp(invalidityDate),
});
