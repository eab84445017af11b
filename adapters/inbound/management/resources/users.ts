import { Type } from '@sinclair/typebox';
import type { UserInput, UserView } from '#core/accounts/users.ts';
import { type Description, timestamp } from '../description.ts';
import { reference, secret, text } from '../fields.ts';
import { equalInteger, equalText, isTrue } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

export const users: Description<'user', UserInput, UserView> = {
  path: '/api/users',
  tag: 'accounts',
  kind: 'user',
  permissions: { read: 'accounts.read', write: 'accounts.write' },
  fields: {
    id: idField,
    username: { schema: text(150, { min: 1 }), required: true, orderable: true },
    password: {
      schema: secret(
        1024,
        'at least 8 characters, and not a common password. All sessions of the user end, and the user has to choose ' +
          'a new one at the next sign-in',
      ),
      required: 'create',
      writeOnly: true,
    },
    role: { schema: reference('the role of the user'), required: true, orderable: true },
    is_active: { schema: Type.Boolean(), whenMissing: true, orderable: true },
    must_change_password: {
      schema: Type.Boolean({
        description:
          'true if an administrator has set the password: the user must choose a new one before anything else',
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
    update: 'The user is the last active administrator.',
    remove: 'The user is the last active administrator.',
  },
  operations: (gateway) => gateway.users,
};
