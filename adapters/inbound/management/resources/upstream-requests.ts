import { Type } from '@sinclair/typebox';
import type { UpstreamRequestView } from '#core/records/upstream-request.ts';
import { type Description, timestamp } from '../description.ts';
import { dateTime, nullable } from '../fields.ts';
import { equalInteger, equalText, from, oneOfTexts, until } from '../filters.ts';
import { idField } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;
const states = ['asked', 'pending', 'received', 'issued', 'failed'] as const;

export const upstreamRequests: Description<'upstreamRequest', never, UpstreamRequestView> = {
  path: '/api/upstream-requests',
  tag: 'upstream-requests',
  kind: 'upstreamRequest',
  permissions: { read: 'certificates.read' },
  fields: {
    id: idField,
    created_at: { schema: dateTime('when it was first requested'), record: 'createdAt', ...ordered },
    issuer: {
      schema: Type.String({ description: 'name of the upstream CA in the configuration' }),
      ...ordered,
    },
    issuing_ca: {
      schema: nullable(Type.Integer(), 'null: the request is for the certificate of a CA here'),
      ...shown,
    },
    state: {
      schema: Type.String({
        enum: [...states],
        description:
          'asked: no response yet; pending: waiting for the decision of the upstream CA; received: the certificate still has to be confirmed',
      }),
      ...ordered,
    },
    subject: { schema: Type.String({ description: 'RFC 4514' }), ...ordered },
    operation: { schema: Type.String({ description: '`enrol` or `renew`' }), ...shown },
    protocol: { schema: Type.String({ description: 'protocol of the original request' }), ...shown },
    attempts: { schema: Type.Integer({ description: 'consecutive failures' }), ...ordered },
    next_at: {
      schema: dateTime('time of the next attempt, while the request is open'),
      record: 'nextAt',
      ...ordered,
    },
    reason: { schema: nullable(Type.String(), 'reason for the last failure'), ...shown },
    device: { schema: nullable(Type.Integer()), ...shown },
    domain: { schema: nullable(Type.Integer()), ...shown },
    certificate: { schema: nullable(Type.Integer()), ...shown },
  },
  filters: {
    issuer: equalText('issuer'),
    state: oneOfTexts('state', states),
    device: equalInteger('device'),
    from: from('createdAt'),
    to: until('createdAt'),
  },
  toJson: ({
    id,
    createdAt,
    issuer,
    ca,
    state,
    subject,
    operation,
    protocol,
    attempts,
    nextAt,
    ...more
  }) => ({
    id,
    created_at: timestamp(createdAt),
    issuer,
    issuing_ca: ca,
    state,
    subject,
    operation,
    protocol,
    attempts,
    next_at: timestamp(nextAt),
    reason: more.reason,
    device: more.device,
    domain: more.domain,
    certificate: more.certificate,
  }),
  example: {
    id: 3,
    created_at: '2026-03-02T08:15:30.000',
    issuer: 'plant',
    issuing_ca: 4,
    state: 'pending',
    subject: 'CN=pump-1',
    operation: 'enrol',
    protocol: 'est',
    attempts: 0,
    next_at: '2026-03-02T08:20:30.000',
    reason: null,
    device: 7,
    domain: 1,
    certificate: null,
  },
  operations: (gateway) => gateway.upstreamRequests,
};
