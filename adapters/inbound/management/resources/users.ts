import { Type } from '@sinclair/typebox';
import type { UserInput, UserView } from '#core/accounts/users.ts';
import { type Description, timestamp } from '../description.ts';
import { reference, secret, text } from '../fields.ts';
import { equalInteger, equalText, isTrue } from '../filters.ts';
import { createdAtField, idField } from './common.ts';

export const users: Description<'user', UserInput, UserView> = {
  path: '/api/users',
  tag: 'accounts',
  kind: 'user',
  permissions: { read: 'accounts.read', write: 'accounts.write' },
  fields: {
    id: idField,
    username: { schema: text(150, { least: 1 }), required: true, orderable: true },
    password: {
      schema: secret(1024, '8 characters at least; where it is changed, all sessions of the user end'),
      required: 'create',
      writeOnly: true,
    },
    role: { schema: reference('what the user may do'), required: true, orderable: true },
    is_active: { schema: Type.Boolean(), whenMissing: true, orderable: true },
    created_at: createdAtField,
  },
  filters: { username: equalText('username'), role: equalInteger('role'), is_active: isTrue('isActive') },
  toJson: ({ id, username, role, isActive, createdAt }) => ({
    id,
    username,
    role,
    is_active: isActive,
    created_at: timestamp(createdAt),
  }),
  example: {
    id: 3,
    username: 'jo',
    password: 'correct horse battery staple',
    role: 2,
    is_active: true,
    created_at: '2026-03-02T08:15:30.000',
  },
  conflicts: {
    update: 'It is the last active administrator.',
    remove: 'It is the last active administrator.',
  },
  operations: (gateway) => gateway.users,
};
