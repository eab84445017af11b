import { Type } from '@sinclair/typebox';
import type { ServiceAccountInput, ServiceAccountView } from '#core/accounts/service-accounts.ts';
import type { Gateway } from '#core/gateway.ts';
import { recordId } from '../collection.ts';
import { recordSchema } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { nullable, reference, text } from '../fields.ts';
import { equalInteger, equalText, isTrue } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';

export const serviceAccounts: Description<'serviceAccount', ServiceAccountInput, ServiceAccountView> = {
  path: '/api/service-accounts',
  tag: 'accounts',
  kind: 'serviceAccount',
  permissions: { read: 'accounts.read', write: 'accounts.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    role: { schema: reference('the role of the account'), required: true, orderable: true },
    is_active: { schema: Type.Boolean(), whenMissing: true, orderable: true },
    client_id: { schema: Type.String({ description: '`sa_<id>`, for `POST /api/token/`' }), readOnly: true },
    client_secret: {
      schema: nullable(Type.String(), 'shown only in the response that creates it, otherwise null'),
      readOnly: true,
    },
    created_at: createdAtField,
  },
  filters: {
    unique_name: equalText('uniqueName'),
    role: equalInteger('role'),
    is_active: isTrue('isActive'),
  },
  toJson: (account) => ({
    id: account.id,
    unique_name: account.uniqueName,
    role: account.role,
    is_active: account.isActive,
    client_id: account.clientId,
    client_secret: account.clientSecret,
    created_at: timestamp(account.createdAt),
  }),
  example: {
    id: 4,
    unique_name: 'line-controller',
    role: 4,
    is_active: true,
    client_id: 'sa_4',
    client_secret: 'nq0Yw5rPpXv9m3kUe2sTz8hJb1cLd7fGa6iKoQxRyM4',
    created_at: '2026-03-02T08:15:30.000',
  },
  operations: (gateway) => gateway.serviceAccounts,
};

/** `POST /api/service-accounts/{id}/rotate/`. */
export const rotateServiceAccount = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${serviceAccounts.path}/:id/rotate`,
  operation: {
    id: 'rotateServiceAccount',
    tag: 'accounts',
    summary: 'Rotate the secret of a service account',
    description: 'The old secret and all tokens issued for it become invalid immediately.',
    permission: 'accounts.write',
    responses: {
      200: jsonResponse(
        'The account with its new secret, which is shown only once.',
        recordSchema(serviceAccounts.fields, true, 'ServiceAccount'),
        serviceAccounts.example,
      ),
    },
  },
  handle: async (principal, _request, { id }) =>
    json(200, serviceAccounts.toJson(await gateway.serviceAccounts.rotate(principal, recordId(id)), true)),
});
