import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { readBody } from './body.ts';
import type { FieldDescription } from './description.ts';
import { json } from './errors.ts';
import { secret } from './fields.ts';
import { readInput } from './input.ts';
import { anyAccount, jsonResponse, type Route } from './route.ts';
import { detail, objectOf, tokenPair, tokenPairExample } from './shared-schemas.ts';
import type { Tokens } from './tokens.ts';

const passwordChange = {
  current_password: { schema: secret(1024, 'the current password'), required: true },
  new_password: {
    schema: secret(1024, 'at least 8 characters, and not a common password'),
    required: true,
  },
} satisfies Record<string, FieldDescription>;

/** `GET /api/me` and `POST /api/me/password`. */
export const meRoutes = (gateway: Gateway, tokens: Tokens): readonly Route[] => [
  readMe(gateway),
  changePassword(gateway, tokens),
];

const readMe = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/me',
  operation: {
    id: 'readMe',
    tag: 'accounts',
    summary: 'Show the account of the token and its permissions',
    permission: anyAccount,
    beforePasswordChange: true,
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
            must_change_password: Type.Boolean({
              description: 'true until the user changes the password; all other operations return 403',
            }),
          },
          { $id: 'Me', additionalProperties: false },
        ),
        {
          kind: 'user',
          id: 3,
          name: 'jo',
          role: { id: 4, unique_name: 'Default' },
          permissions: ['devices.read'],
          must_change_password: false,
        },
      ),
    },
  },
  async handle(principal) {
    const { kind, id, name, role, mustChangePassword } = await gateway.accounts.self(principal);
    const { uniqueName, permissions } = role;
    return json(200, {
      kind,
      id,
      name,
      role: { id: role.id, unique_name: uniqueName },
      permissions,
      must_change_password: mustChangePassword,
    });
  },
});

const changePassword = (gateway: Gateway, tokens: Tokens): Route => ({
  method: 'POST',
  path: '/api/me/password',
  operation: {
    id: 'changeMyPassword',
    tag: 'accounts',
    summary: "Change the user's own password",
    description:
      'Ends all sessions of the user; the tokens in the response start a new session. A wrong current password counts as a failed login.',
    permission: anyAccount,
    beforePasswordChange: true,
    body: {
      schema: objectOf(passwordChange, 'PasswordChange'),
      example: { current_password: 'correct horse battery', new_password: 'staple correct horse' },
    },
    failures: { 429: 'Too many failed logins for this name or from this address.' },
    responses: {
      200: jsonResponse('Tokens.', tokenPair, tokenPairExample),
      403: jsonResponse('A service account has no password.', detail, {
        detail: 'only a user has a password',
        code: 'forbidden',
      }),
    },
  },
  async handle(principal, request) {
    const input = readInput(passwordChange, await readBody(request), 'create');
    const { currentPassword, newPassword } = input as { currentPassword: string; newPassword: string };
    const grant = await gateway.accounts.changePassword(principal, currentPassword, newPassword);
    return json(200, await tokens.pair(grant));
  },
});
