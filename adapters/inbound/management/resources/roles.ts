import { Type } from '@sinclair/typebox';
import { permissions } from '#core/access/permissions.ts';
import type { RoleInput } from '#core/accounts/roles.ts';
import type { Role } from '#core/records/account.ts';
import { type Description, timestamp } from '../description.ts';
import { text } from '../fields.ts';
import { equalText } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

export const roles: Description<'role', RoleInput, Role> = {
  path: '/api/roles',
  tag: 'accounts',
  kind: 'role',
  permissions: { read: 'accounts.read', write: 'accounts.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    permissions: {
      schema: Type.Array(Type.Union(permissions.map((name) => Type.Literal(name))), {
        uniqueItems: true,
        maxItems: permissions.length,
        description: 'permissions of the role; you cannot grant a permission that you do not have',
      }),
      required: true,
    },
    is_protected: {
      schema: Type.Boolean({ description: 'true if the role cannot be changed or deleted' }),
      readOnly: true,
      orderable: true,
    },
    created_at: createdAtField,
  },
  filters: { unique_name: equalText('uniqueName') },
  toJson: ({ id, uniqueName, permissions, isProtected, createdAt }) => ({
    id,
    unique_name: uniqueName,
    permissions,
    is_protected: isProtected,
    created_at: timestamp(createdAt),
  }),
  example: {
    id: 5,
    unique_name: 'Line operators',
    permissions: ['devices.read', 'devices.write'],
    is_protected: false,
    created_at: '2026-03-02T08:15:30.000',
  },
  conflicts: {
    update: 'The role is protected.',
    remove: 'The role is protected, or accounts still use it.',
  },
  operations: (gateway) => gateway.roles,
};
