import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { json } from './errors.ts';
import { anyAccount, jsonResponse, type Route } from './route.ts';

/** `GET /api/me`. */
export const meRoute = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/me',
  operation: {
    id: 'readMe',
    tag: 'accounts',
    summary: 'Whose token this is, and what may be done with it',
    permission: anyAccount,
    responses: {
      200: jsonResponse(
        'The account.',
        Type.Object(
          {
            kind: Type.String({ enum: ['user', 'serviceAccount'] }),
            id: Type.Integer(),
            name: Type.String(),
            role: Type.Object(
              { id: Type.Integer(), unique_name: Type.String() },
              { additionalProperties: false },
            ),
            permissions: Type.Array(Type.String()),
          },
          { $id: 'Me', additionalProperties: false },
        ),
        {
          kind: 'user',
          id: 3,
          name: 'jo',
          role: { id: 4, unique_name: 'Default' },
          permissions: ['devices.read'],
        },
      ),
    },
  },
  async handle(principal) {
    const { kind, id, name, role } = await gateway.accounts.self(principal);
    const { uniqueName, permissions } = role;
    return json(200, { kind, id, name, role: { id: role.id, unique_name: uniqueName }, permissions });
  },
});
