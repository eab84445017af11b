import { Type } from '@sinclair/typebox';
import { toFault } from '#core/fault.ts';
import { basicChallenge, readBasicCredentials } from '../http/basic-credentials.ts';
import type { HttpRequest } from '../http/exchange.ts';
import type { Body } from './body.ts';
import type { FieldDescription } from './description.ts';
import { json, ValidationError } from './errors.ts';
import { secret } from './fields.ts';
import { readInput } from './input.ts';

const client = {
  client_id: {
    schema: Type.String({ minLength: 1, maxLength: 100, description: '`sa_<id>`' }),
    required: true,
  },
  client_secret: {
    schema: secret(1024, 'shown once, when the account or the secret was created'),
    required: true,
  },
} satisfies Record<string, FieldDescription>;

/** The fields of the body. A client that authenticates with the Authorization header can omit its credentials here. */
export const grant = {
  grant_type: { schema: Type.String({ enum: ['client_credentials'] }), required: true },
  client_id: { schema: client.client_id.schema },
  client_secret: { schema: client.client_secret.schema },
  scope: {
    schema: Type.String({
      maxLength: 1024,
      description: 'ignored (RFC 6749 §3.3): the role of the account decides',
    }),
  },
} satisfies Record<string, FieldDescription>;

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Whether the client authenticates with Basic in the Authorization field; other schemes are ignored here. */
const usesBasic = ({ authorization = '' }: HttpRequest['headers']): boolean =>
  /^basic(?: |$)/i.test(authorization);

/** Returns 401 with the challenge of the scheme that the client used (RFC 6749 §5.2). */
export const invalidClient = ({ headers }: HttpRequest, error_description: string): Response =>
  json(
    401,
    { error: 'invalid_client', error_description },
    { 'www-authenticate': usesBasic(headers) ? basicChallenge : 'Bearer' },
  );

/**
 * Returns the client's credentials from the Authorization field (RFC 6749 §2.3.1), from the body, or from both if they agree;
 * otherwise the error response. Throws ValidationError for an invalid body.
 */
export function clientOf(request: HttpRequest, body: Body): Client | Response {
  if (!usesBasic(request.headers))
    return readInput({ ...grant, ...client }, body, 'create') as unknown as Client;
  const inHeader = readBasicClient(request.headers.authorization!);
  if (!inHeader)
    return invalidClient(request, 'the Authorization header does not contain a client id and a secret');
  // RFC 6749 §3.2: a parameter without a value counts as omitted.
  const members = Object.fromEntries(Object.entries(body.members).filter(([, value]) => value !== ''));
  const inBody = readInput(grant, { ...body, members }, 'create') as Partial<Client>;
  const { clientId, clientSecret } = { ...inHeader, ...inBody };
  if (clientId !== inHeader.clientId || clientSecret !== inHeader.clientSecret) {
    const error_description = 'the Authorization header and the body have different credentials';
    return json(400, { error: 'invalid_request', error_description });
  }
  return inHeader;
}

/** Reads Basic credentials with both parts form-urlencoded (RFC 6749 §2.3.1). Undefined for anything else. */
function readBasicClient(authorization: string): Client | undefined {
  try {
    const { username, password } = readBasicCredentials(authorization);
    const members = { client_id: formDecoded(username), client_secret: formDecoded(password) };
    return readInput(client, { members, isForm: false }, 'create') as unknown as Client;
  } catch (error) {
    const isWrong = error instanceof ValidationError || error instanceof URIError;
    if (!isWrong && toFault(error).code !== 'unauthenticated') throw error;
    return undefined;
  }
}

/** Throws URIError for a percent sign without two hexadecimal digits, and for octets that are not UTF-8. */
const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
