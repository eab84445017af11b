import { Type } from '@sinclair/typebox';
import type { TransactionView } from '#core/enrolment/transactions.ts';
import { type Description, timestamp } from '../description.ts';
import { dateTime, nullable } from '../fields.ts';
import { equalChoice, equalInteger, equalText, from, until } from '../filters.ts';
import { idField } from './common-fields.ts';

const shown = { readOnly: true } as const;
const ordered = { readOnly: true, orderable: true } as const;
const states = ['pending', 'waiting', 'done', 'rejected', 'expired'] as const;

export const transactions: Description<'transaction', never, TransactionView> = {
  path: '/api/transactions',
  tag: 'transactions',
  kind: 'transaction',
  permissions: { read: 'certificates.read' },
  fields: {
    id: idField,
    created_at: { schema: dateTime('when its first message arrived'), record: 'createdAt', ...ordered },
    transaction_id: {
      schema: Type.String({ description: 'transactionID, hexadecimal' }),
      record: 'name',
      ...ordered,
    },
    operation: { schema: Type.String({ description: '`ir`, `cr`, `kur`, `p10cr` or `rr`' }), ...ordered },
    state: {
      schema: Type.String({
        enum: [...states],
        description: 'pending: waits for a decision; waiting: waits for the certificate confirmation',
      }),
      ...ordered,
    },
    expires_at: {
      schema: dateTime('deadline for the next message; after the end, how long the record is kept'),
      record: 'expiresAt',
      ...ordered,
    },
    device: { schema: nullable(Type.Integer()), ...shown },
    domain: { schema: Type.Integer(), ...shown },
    cert_profile: {
      schema: nullable(Type.String({ description: 'certificate profile in the request' })),
      record: 'profile',
      ...shown,
    },
    certificate: { schema: nullable(Type.Integer()), ...shown },
  },
  filters: {
    operation: equalText('operation'),
    state: equalChoice('state', states),
    device: equalInteger('device'),
    from: from('createdAt'),
    to: until('createdAt'),
  },
  toJson: ({ id, createdAt, name, operation, state, expiresAt, device, domain, profile, certificate }) => ({
    id,
    created_at: timestamp(createdAt),
    transaction_id: name,
    operation,
    state,
    expires_at: timestamp(expiresAt),
    device,
    domain,
    cert_profile: profile,
    certificate,
  }),
  example: {
    id: 12,
    created_at: '2026-03-02T08:15:30.000',
    transaction_id: '0F1E2D3C4B5A69788796A5B4C3D2E1F0',
    operation: 'ir',
    state: 'waiting',
    expires_at: '2026-03-02T08:25:30.000',
    device: 7,
    domain: 1,
    cert_profile: null,
    certificate: 31,
  },
  operations: (gateway) => gateway.transactions,
};
