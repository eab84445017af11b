import type { TSchema } from '@sinclair/typebox';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import type { HttpRequest } from '../http/exchange.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Parameters = Readonly<Record<string, string>>;

/** In place of a permission: a good token is enough. */
export const anyAccount = 'any account';

/** One route: a method on a path, for whoever has a token and the operation's permission. */
export interface Route {
  readonly method: Method;
  /** With `:id` where a record is named; without a trailing slash. */
  readonly path: string;
  readonly operation: Operation & {
    readonly permission: Permission | typeof anyAccount;
    /** Also for a user who has to choose a password before anything else. */
    readonly beforePasswordChange?: true;
  };
  /** Called only for those who have the permission; the core demands it once more. */
  readonly handle: (
    principal: Principal,
    request: HttpRequest,
    parameters: Parameters,
  ) => Response | Promise<Response>;
}

/** A route that needs no authentication. */
export interface PublicRoute extends Pick<Route, 'method' | 'path'> {
  readonly operation: Operation;
  readonly handle: (request: HttpRequest, parameters: Parameters) => Response | Promise<Response>;
}

/** What the OpenAPI document says of a route, beyond its method and path. */
export interface Operation {
  /** `operationId`: verb and noun, `listDevices`. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Without a token; clients may authenticate themselves by `Authorization: Basic`. */
  readonly clientAuthentication?: true;
  /** Query parameters by name; none of them is required. Their schemas have descriptions. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Schemas of path parameters other than `:id`, which is an integer. */
  readonly path?: Readonly<Record<string, TSchema>>;
  readonly body?: BodyDocumentation;
  /**
   * The answers by status: those of success, and failures whose body is not the usual one. The usual failures come by
   * themselves: 401, 403; 404 where the path names something; 400, 413, 415 where there is a body; 500, 503.
   */
  readonly responses: Readonly<Record<number, ResponseDocumentation>>;
  /** Further failures with the usual body, each with its reason. */
  readonly failures?: Readonly<Partial<Record<400 | 401 | 404 | 409 | 429, string>>>;
}

/** JSON; a form with the same members is taken too. */
export interface BodyDocumentation {
  readonly schema: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
  /** Nothing has to be sent. */
  readonly optional?: true;
}

export interface ResponseDocumentation {
  readonly description: string;
  /** The body's media types; none where there is no body. */
  readonly content?: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  /** Header name → what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The usual: a body of JSON. */
export const jsonResponse = (
  description: string,
  schema: TSchema,
  example: unknown,
): ResponseDocumentation => ({ description, content: { 'application/json': { schema, example } } });
