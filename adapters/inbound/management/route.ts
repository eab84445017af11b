import type { TSchema } from '@sinclair/typebox';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import type { HttpRequest } from '../http/exchange.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Parameters = Readonly<Record<string, string>>;

/** In place of a permission: any valid token is enough. */
export const anyAccount = 'any account';

/** A method on a path, for accounts with a token and the permission of the operation. */
export interface Route {
  readonly method: Method;
  /** Without a trailing slash; `:id` stands for the id of a record. */
  readonly path: string;
  readonly operation: Operation & {
    readonly permission: Permission | typeof anyAccount;
    /** Allowed also for a user who must change the password first. */
    readonly beforePasswordChange?: true;
  };
  /** Called only if the principal has the permission, which the core checks again. */
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

/** The documentation of a route in the OpenAPI document. */
export interface Operation {
  /** `operationId`: verb and noun, `listDevices`. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Needs no token; clients may authenticate with `Authorization: Basic`. */
  readonly clientAuthentication?: true;
  /** Query parameters by name, all optional. Their schemas have descriptions. */
  readonly query?: Readonly<Record<string, TSchema>>;
  /** Schemas of path parameters other than `:id`, which is an integer. */
  readonly path?: Readonly<Record<string, TSchema>>;
  readonly body?: BodyDocumentation;
  /**
   * The responses by status: those of success, and failures with a body of their own. The common failures are added
   * automatically: 401, 403; 404 if the path has a parameter; 400, 413, 415 if there is a body; 500, 503.
   */
  readonly responses: Readonly<Record<number, ResponseDocumentation>>;
  /** Further failures with the common error body, each with its description. */
  readonly failures?: Readonly<Partial<Record<400 | 401 | 404 | 409 | 429, string>>>;
}

/** A JSON body; a form with the same members is accepted too. */
export interface BodyDocumentation {
  readonly schema: TSchema;
  readonly example: Readonly<Record<string, unknown>>;
  /** The body can be omitted. */
  readonly optional?: true;
}

export interface ResponseDocumentation {
  readonly description: string;
  /** The body's media types; none where there is no body. */
  readonly content?: Readonly<Record<string, { readonly schema: TSchema; readonly example: unknown }>>;
  /** The description of each header field by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Documents a response with a JSON body. */
export const jsonResponse = (
  description: string,
  schema: TSchema,
  example: unknown,
): ResponseDocumentation => ({ description, content: { 'application/json': { schema, example } } });
