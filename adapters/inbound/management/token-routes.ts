import { Type } from '@sinclair/typebox';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { type Body, readBody } from './body.ts';
import { clientOf, grant, invalidClient } from './client-credentials.ts';
import type { FieldDescription } from './description.ts';
import { json, TokenError } from './errors.ts';
import { secret } from './fields.ts';
import { readInput } from './input.ts';
import { jsonResponse, type PublicRoute } from './route.ts';
import {
  detail,
  fieldErrors,
  jwt,
  objectOf,
  tokenExample,
  tokenPair,
  tokenPairExample,
} from './shared-schemas.ts';
import { isFromBrowser, type Tokens } from './tokens.ts';

const login = {
  username: { schema: Type.String({ minLength: 1, maxLength: 150 }), required: true },
  password: { schema: secret(1024, 'the password'), required: true },
} satisfies Record<string, FieldDescription>;

const refreshToken = {
  refresh: { schema: Type.String({ minLength: 1, maxLength: 4096 }), required: true },
} satisfies Record<string, FieldDescription>;

const serviceToken = Type.Object(
  { access: jwt, token_type: Type.Literal('Bearer'), expires_in: Type.Integer({ description: 'seconds' }) },
  { $id: 'ServiceAccountToken', additionalProperties: false },
);
const grantError = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { $id: 'GrantError', additionalProperties: false, description: 'RFC 6749 §5.2' },
);
const loginExample = { username: 'admin', password: 'correct horse battery staple' };

/** `POST /api/token` and `POST /api/token/refresh` (decisions.md §2). */
export const tokenRoutes = (gateway: Gateway, tokens: Tokens): readonly PublicRoute[] => [
  {
    method: 'POST',
    path: '/api/token',
    operation: {
      id: 'signIn',
      tag: 'token',
      summary: 'Sign in as a user or as a service account',
      description:
        'A user signs in with `username` and `password`. The access token is valid for 15 minutes and the refresh token for 24 hours, ' +
        'unless the settings say otherwise; a refresh token can be used once. A service account signs in with `grant_type`, ' +
        '`client_id` and `client_secret` in the body, or with id and secret form-urlencoded in `Authorization: Basic` ' +
        '(RFC 6749 §2.3.1). Its access token is valid for one hour.',
      clientAuthentication: true,
      body: {
        schema: Type.Union([objectOf(login, 'Login'), objectOf(grant, 'ClientCredentials')]),
        example: loginExample,
      },
      failures: { 429: 'Too many failed logins for this name or from this address.' },
      responses: {
        200: jsonResponse('Tokens.', Type.Union([tokenPair, serviceToken]), tokenPairExample),
        400: jsonResponse('The body is invalid.', Type.Union([fieldErrors, grantError]), {
          error: 'unsupported_grant_type',
        }),
        401: {
          ...jsonResponse('Wrong credentials.', Type.Union([detail, grantError]), {
            detail: 'wrong user name or password',
            code: 'wrong_credentials',
          }),
          headers: { 'WWW-Authenticate': '`Bearer`, or `Basic` if the client used Basic authentication.' },
        },
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
      summary: 'Get new tokens with a refresh token',
      description: 'A refresh token can be used once. If it is used again, the session ends.',
      body: {
        schema: objectOf(refreshToken, 'Refresh'),
        example: { refresh: tokenExample },
      },
      failures: { 401: 'The refresh token is wrong, has expired or was used before.' },
      responses: {
        200: jsonResponse('Tokens.', tokenPair, tokenPairExample),
      },
    },
    handle: (request) => refresh(gateway, tokens, request),
  },
  {
    method: 'POST',
    path: '/api/token/revoke',
    operation: {
      id: 'revokeToken',
      tag: 'token',
      summary: 'Sign out',
      description:
        'Ends the session of a refresh token. The refresh token and all access tokens of the session become invalid.',
      body: {
        schema: objectOf(refreshToken, 'Refresh'),
        example: { refresh: tokenExample },
      },
      failures: { 401: 'The refresh token is wrong or has expired.' },
      responses: { 204: { description: 'The session has ended.' } },
    },
    handle: (request) => revoke(gateway, tokens, request),
  },
];

async function signIn(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const body = await readBody(request);
  const grantType = body.members.grant_type;
  if (grantType === 'client_credentials') return signInService(gateway, tokens, request, body);
  if (grantType !== undefined) return json(400, { error: 'unsupported_grant_type' });
  const { username, password } = readInput(login, body, 'create') as { username: string; password: string };
  const grant = await gateway.accounts.signIn(username, password, request.peer.address);
  return json(200, await tokens.pair(grant));
}

/** Signs in a service account (RFC 6749 §4.4), with the errors of §5.2. */
async function signInService(
  gateway: Gateway,
  tokens: Tokens,
  request: HttpRequest,
  body: Body,
): Promise<Response> {
  const client = clientOf(request, body);
  if (client instanceof Response) return client;
  if (isFromBrowser(request.headers)) {
    const error_description = 'service accounts cannot be used in a browser';
    return json(400, { error: 'unauthorized_client', error_description });
  }
  try {
    const { clientId, clientSecret } = client;
    const granted = await gateway.accounts.signInService(clientId, clientSecret, request.peer.address);
    return json(200, await tokens.forService(granted));
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'unauthenticated') throw error;
    return invalidClient(request, error.detail);
  }
}

/** Exchanges a refresh token for a new pair of tokens. */
async function refresh(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const { refresh: token } = readInput(refreshToken, await readBody(request), 'create') as {
    refresh: string;
  };
  const { session, generation } = await tokens.verifyRefresh(token);
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

async function revoke(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const { refresh: token } = readInput(refreshToken, await readBody(request), 'create') as {
    refresh: string;
  };
  const { session } = await tokens.verifyRefresh(token);
  await gateway.accounts.signOut(session, request.peer.address);
  return new Response(null, { status: 204 });
}
