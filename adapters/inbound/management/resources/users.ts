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
      schema: secret(
        1024,
        '8 characters at least, and none of the most common passwords. All sessions of the user end, and the user has to choose ' +
          'another one at the next sign-in',
      ),
      required: 'create',
      writeOnly: true,
    },
    role: { schema: reference('what the user may do'), required: true, orderable: true },
    is_active: { schema: Type.Boolean(), whenMissing: true, orderable: true },
    must_change_password: {
      schema: Type.Boolean({
        description:
          'an administrator has set the password: the user has to choose another one before anything else',
      }),
      readOnly: true,
    },
    created_at: createdAtField,
  },
  filters: { username: equalText('username'), role: equalInteger('role'), is_active: isTrue('isActive') },
  toJson: ({ id, username, role, isActive, mustChangePassword, createdAt }) => ({
    id,
    username,
    role,
    is_active: isActive,
    must_change_password: mustChangePassword,
    created_at: timestamp(createdAt),
  }),
  example: {
    id: 3,
    username: 'jo',
    password: 'correct horse battery staple',
    role: 2,
    is_active: true,
    must_change_password: true,
    created_at: '2026-03-02T08:15:30.000',
  },
  conflicts: {
    update: 'It is the last active administrator.',
    remove: 'It is the last active administrator.',
  },
  operations: (gateway) => gateway.users,
};
