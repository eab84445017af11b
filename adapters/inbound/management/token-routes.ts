import { Type } from '@sinclair/typebox';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { readBody } from './body.ts';
import type { FieldDescription } from './description.ts';
import { json, TokenError } from './errors.ts';
import { secret } from './fields.ts';
import { readInput } from './input.ts';
import type { Tokens } from './tokens.ts';

const login = {
  username: { schema: Type.String({ minLength: 1, maxLength: 150 }), required: true },
  password: { schema: secret(1024, 'the password'), required: true },
} satisfies Record<string, FieldDescription>;

const refreshToken = {
  refresh: { schema: Type.String({ minLength: 1, maxLength: 4096 }), required: true },
} satisfies Record<string, FieldDescription>;

/** `POST /api/token/`: a user's name and password (decisions.md §2). */
export async function signIn(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
  const body = await readBody(request);
  if (body.members.grant_type !== undefined) return json(400, { error: 'unsupported_grant_type' });
  const { username, password } = readInput(login, body, 'create') as { username: string; password: string };
  const grant = await gateway.accounts.signIn(username, password, request.peer.address);
  return json(200, await tokens.pair(grant));
}

/** `POST /api/token/refresh/`: a new pair for a refresh token, which is used up. */
export async function refresh(gateway: Gateway, tokens: Tokens, request: HttpRequest): Promise<Response> {
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
