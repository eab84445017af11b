import { Type } from '@sinclair/typebox';
import type { NamedEvent } from '#core/administration/audit-names.ts';
import type { ChainedEvent, Outcome } from '#core/records/audit-event.ts';
import { type Description, timestamp } from '../description.ts';
import { dateTime, nullable } from '../fields.ts';
import { contains, equalText, from, oneOfTexts, until } from '../filters.ts';
import { idField } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;

const outcomes = ['success', 'refused', 'failed'] as const satisfies readonly Outcome[];

const actor = Type.Object(
  {
    kind: Type.String({ enum: ['user', 'device', 'serviceAccount', 'system', 'unknown'] }),
    id: nullable(Type.Integer()),
    name: Type.String(),
    address: Type.String({ description: 'source address of the request; empty for the service itself' }),
  },
  { additionalProperties: false, description: 'the account, device or service that acted' },
);
const detail = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
);

export const auditEvents: Description<'auditEvent', never, ChainedEvent & Partial<NamedEvent>> = {
  path: '/api/audit-events',
  tag: 'audit',
  exported: true,
  kind: 'auditEvent',
  permissions: { read: 'audit.read' },
  fields: {
    id: idField,
    created_at: { schema: dateTime('when the event happened'), record: 'at', ...ordered },
    actor: { schema: actor, ...shown },
    action: { schema: Type.String({ description: '`certificate.issue`, `device.create`, …' }), ...ordered },
    object: {
      schema: Type.String({ description: '`certificate:17`; empty if the event is about no record' }),
      ...ordered,
    },
    object_name: {
      schema: nullable(
        Type.String(),
        'the current name of that record; null if it is deleted, has no name, or your role does not show it',
      ),
      ...shown,
    },
    outcome: { schema: Type.String({ enum: [...outcomes] }), ...ordered },
    detail: { schema: detail, ...shown },
    chain: { schema: Type.String({ description: 'each writing process has its own chain' }), ...ordered },
    sequence: { schema: Type.Integer({ description: 'position in the chain' }), ...ordered },
    request_id: {
      schema: nullable(
        Type.String(),
        'the `X-Request-Id` of the response to the request that caused the event; null for periodic work',
      ),
      record: 'requestId',
      ...shown,
    },
    hash: {
      schema: Type.String({ description: 'SHA-256 that links the event to the previous one, hexadecimal' }),
      ...shown,
    },
  },
  filters: {
    action: equalText('action'),
    object: equalText('object'),
    object_kind: {
      schema: Type.String({
        pattern: '^[A-Za-z]{1,40}$',
        description: 'the kind of the object: `device`, `issuingCa`',
      }),
      conditions: (text) => [{ field: 'object', is: 'startsWith', value: `${text}:` }],
    },
    outcome: oneOfTexts('outcome', outcomes),
    actor: contains('actor', 'the kind, name or address of the actor', JSON.stringify),
    request_id: {
      schema: Type.String({ pattern: '^[0-9a-f]{32}$', description: 'the `X-Request-Id` of a response' }),
      conditions: (text) => [{ field: 'requestId', is: 'equal', value: text }],
    },
    from: from('at'),
    to: until('at'),
  },
  toJson: ({
    id,
    at,
    actor,
    action,
    object,
    objectName = null,
    outcome,
    detail,
    chain,
    sequence,
    hash,
    requestId,
  }) => ({
    id,
    created_at: timestamp(at),
    actor,
    action,
    object,
    object_name: objectName,
    outcome,
    detail,
    chain,
    sequence,
    request_id: requestId,
    hash: Buffer.from(hash).toString('hex'),
  }),
  example: {
    id: 1207,
    created_at: '2026-03-02T08:15:30.000',
    actor: { kind: 'user', id: 1, name: 'admin', address: '192.0.2.7' },
    action: 'device.create',
    object: 'device:7',
    object_name: 'pump-7',
    outcome: 'success',
    detail: { commonName: 'pump-7' },
    chain: '6a4c1c6e-3f0e-4f5c-9d6b-8c1f6f1f2a11',
    sequence: 88,
    request_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  operations: (gateway) => gateway.auditEvents,
};
