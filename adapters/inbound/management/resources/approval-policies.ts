import { Type } from '@sinclair/typebox';
import type { ApprovalPolicyInput } from '#core/administration/approval-policies.ts';
import {
  type ApprovalPolicy,
  approvalDecisions,
  approvalOperations,
  approvalProtocols,
} from '#core/records/approval-policy.ts';
import { type Description, timestamp } from '../description.ts';
import { nullable, reference, text } from '../fields.ts';
import { equalChoice, equalInteger, equalText, isTrue } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

const some = (values: readonly string[], description: string) =>
  Type.Array(Type.Union(values.map((value) => Type.Literal(value))), {
    maxItems: values.length,
    uniqueItems: true,
    description,
  });

const mostPriority = 1_000_000;
const leastSeconds = 60;
const mostSeconds = 366 * 86_400;

export const approvalPolicies: Description<'approvalPolicy', ApprovalPolicyInput, ApprovalPolicy> = {
  path: '/api/approval-policies',
  tag: 'approvals',
  kind: 'approvalPolicy',
  permissions: { read: 'approvals.read', write: 'policies.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    created_at: createdAtField,
    priority: {
      schema: Type.Integer({
        minimum: 0,
        maximum: mostPriority,
        description: 'of all matching policies, the one with the lowest number decides; default: 100',
      }),
      whenMissing: 100,
      orderable: true,
    },
    is_active: { schema: Type.Boolean(), whenMissing: true, orderable: true },
    protocols: {
      schema: some(approvalProtocols, '`management`: certificates that accounts request; empty: all'),
      whenMissing: [],
    },
    operations: { schema: some(approvalOperations, '`revocation`: over CMP; empty: all'), whenMissing: [] },
    domain: { schema: nullable(reference('null: all')), whenMissing: null, orderable: true },
    cert_profile: {
      schema: nullable(reference('null: all')),
      record: 'profile',
      whenMissing: null,
      orderable: true,
    },
    device: { schema: nullable(reference('null: all')), whenMissing: null },
    device_pattern: {
      schema: nullable(
        text(1000, { min: 1, description: 'a regular expression for the whole common name of the device' }),
      ),
      whenMissing: null,
    },
    decision: {
      schema: Type.String({ enum: [...approvalDecisions] }),
      required: true,
      orderable: true,
    },
    approvers: {
      schema: Type.Integer({
        minimum: 1,
        maximum: 16,
        description: 'manual: how many different accounts have to approve; default: 1',
      }),
      whenMissing: 1,
    },
    expires_in: {
      schema: Type.Integer({
        minimum: leastSeconds,
        maximum: mostSeconds,
        description:
          'manual: seconds. It limits two periods: the time approvers have to decide, and then the time the requester has to collect the result; default: a week',
      }),
      whenMissing: 7 * 86_400,
    },
  },
  filters: {
    unique_name: equalText('uniqueName'),
    decision: equalChoice('decision', approvalDecisions),
    domain: equalInteger('domain'),
    is_active: isTrue('isActive'),
  },
  toJson: (policy) => ({
    id: policy.id,
    unique_name: policy.uniqueName,
    created_at: timestamp(policy.createdAt),
    priority: policy.priority,
    is_active: policy.isActive,
    protocols: policy.protocols,
    operations: policy.operations,
    domain: policy.domain,
    cert_profile: policy.profile,
    device: policy.device,
    device_pattern: policy.devicePattern,
    decision: policy.decision,
    approvers: policy.approvers,
    expires_in: policy.expiresIn,
  }),
  example: {
    id: 3,
    unique_name: 'servers need four eyes',
    created_at: '2026-03-02T08:15:30.000',
    priority: 10,
    is_active: true,
    protocols: ['est', 'rest'],
    operations: ['issuance'],
    domain: null,
    cert_profile: null,
    device: null,
    device_pattern: 'pump-.*',
    decision: 'manual',
    approvers: 2,
    expires_in: 86_400,
  },
  operations: (gateway) => gateway.approvalPolicies,
};
