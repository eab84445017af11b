import { Type } from '@sinclair/typebox';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { readBody } from './body.ts';
import type { FieldDescription } from './description.ts';
import { json, TokenError } from './errors.ts';
import { secret } from './fields.ts';
import { readInput } from './input.ts';
import { jsonResponse, type PublicRoute } from './route.ts';
import type { Tokens } from './tokens.ts';

const login = {
  username: { schema: Type.String({ minLength: 1, maxLength: 150 }), required: true },
  password: { schema: secret(1024, 'the password'), required: true },
} satisfies Record<string, FieldDescription>;

const refreshToken = {
  refresh: { schema: Type.String({ minLength: 1, maxLength: 4096 }), required: true },
} satisfies Record<string, FieldDescription>;

const jwt = Type.String({ description: 'JWT' });
const pair = Type.Object({ access: jwt, refresh: jwt }, { $id: 'TokenPair', additionalProperties: false });
const tokenExample = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
const pairExample = { access: tokenExample, refresh: tokenExample };

/** `POST /api/token` and `POST /api/token/refresh` (decisions.md §2). */
export const tokenRoutes = (gateway: Gateway, tokens: Tokens): readonly PublicRoute[] => [
  {
    method: 'POST',
    path: '/api/token',
    operation: {
      id: 'signIn',
      tag: 'token',
      summary: 'Sign in',
      description: 'The access token is good for 15 minutes, the refresh token for 24 hours and for one use.',
      body: {
        schema: Type.Object(
          { username: login.username.schema, password: login.password.schema },
          { $id: 'Login', additionalProperties: false },
        ),
        example: { username: 'admin', password: 'correct horse battery staple' },
      },
      failures: {
        401: 'Wrong user name or password.',
        429: 'Too many failed logins for this name or from this address.',
      },
      responses: {
        200: jsonResponse('Tokens.', pair, pairExample),
      },
    },
    handle: (request) => signIn(gateway, tokens, request),
  },
  {
    method: 'POST',
    path: '/api/token/refresh',
    operation: {
      id: 'refreshToken',
      tag: 'token',
      summary: 'Get new tokens for a refresh token',
      description: 'The refresh token is used up: used once more, it ends the session.',
      body: {
        schema: Type.Object(
          { refresh: refreshToken.refresh.schema },
          { $id: 'Refresh', additionalProperties: false },
        ),
        example: { refresh: tokenExample },
      },
      failures: { 401: 'The refresh token is wrong, has expired or was used before.' },
      responses: {
        200: jsonResponse('Tokens.', pair, pairExample),
      },
    },
    handle: (request) => refresh(gateway, tokens, request),
  },
];

async function signIn(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const body = await readBody(request);
  if (body.members.grant_type !== undefined) return json(400, { error: 'unsupported_grant_type' });
  const { username, password } = readInput(login, body, 'create') as { username: string; password: string };
  const grant = await gateway.accounts.signIn(username, password, request.peer.address);
  return json(200, await tokens.pair(grant));
}

/** A new pair for a refresh token, which is used up. */
async function refresh(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const { refresh: token } = readInput(refreshToken, await readBody(request), 'create') as {
    refresh: string;
  };
  const { session, generation } = await tokens.verify(token, 'refresh');
  try {
    return json(
      200,
      await tokens.pair(await gateway.accounts.refresh(session, generation ?? -1, request.peer.address)),
    );
  } catch (error) {
    if (error instanceof Fault && error.code === 'unauthenticated') throw new TokenError(true);
    throw error;
  }
}
