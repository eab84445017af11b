import { type TSchema, Type } from '@sinclair/typebox';
import {
  anyAccount,
  type BodyDocumentation,
  type Operation,
  type PublicRoute,
  type ResponseDocumentation,
  type Route,
} from './route.ts';
import { detail, fieldErrors } from './shared-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

interface Failure {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly example: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

const retryAfter = { 'Retry-After': 'Seconds after which to retry.' };

const errorCodes = {
  'Error-Codes':
    'The code of each field with errors: a Dictionary (RFC 9651), `unique_name=already_taken, password=password_length;shortest=8`.',
};

/** The failures that all operations have in common, see `errors.ts`. */
const failures: Readonly<Record<number, Failure>> = {
  400: {
    name: 'BadRequest',
    description:
      'The body or a query parameter is invalid: the response lists messages by field. A malformed request, for ' +
      'example one with a control character in its path, gets a `detail` instead.',
    schema: Type.Union([fieldErrors, detail]),
    example: { unique_name: ['this field is required'] },
    headers: errorCodes,
  },
  401: {
    name: 'Unauthenticated',
    description: 'The access token is missing, invalid or expired.',
    schema: detail,
    example: { detail: 'the token is not valid or has expired', code: 'token_not_valid' },
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  403: {
    name: 'Forbidden',
    description: 'The account lacks the permission.',
    schema: detail,
    example: {
      detail: 'this requires the permission devices.write',
      code: 'permission_missing',
      values: { permission: 'devices.write' },
    },
  },
  404: {
    name: 'NotFound',
    description: 'The record does not exist.',
    schema: detail,
    example: { detail: 'there is no such device', code: 'not_found' },
  },
  409: {
    name: 'Conflict',
    description: 'The state of the record does not allow the operation.',
    schema: detail,
    example: { detail: 'still used by 2 devices', code: 'still_used', values: { device: 2 } },
  },
  413: {
    name: 'TooLarge',
    description: 'The body is longer than 1 MiB (16 KiB below `/api/token/`).',
    schema: detail,
    example: { detail: 'the body is too long', code: 'content_too_large' },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is neither JSON nor a form.',
    schema: detail,
    example: { detail: 'the media type "text/plain" is not supported', code: 'unsupported_media_type' },
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many failed logins.',
    schema: detail,
    example: { detail: 'too many failed logins', code: 'too_many_failed_logins' },
    headers: retryAfter,
  },
  500: {
    name: 'InternalError',
    description: 'An internal error; the log has the cause.',
    schema: detail,
    example: { detail: 'internal error', code: 'internal' },
  },
  503: {
    name: 'Unavailable',
    description: 'The database, a key store or an upstream CA is unavailable.',
    schema: detail,
    example: { detail: 'the database is unavailable', code: 'unavailable' },
    headers: retryAfter,
  },
};

/** Returns the statuses of the common failures that an operation can have, in addition to `operation.failures`. */
function commonFailures({ path, operation }: Pick<Route | PublicRoute, 'path' | 'operation'>): number[] {
  const guarded = 'permission' in operation;
  return [
    ...(guarded ? [401] : []),
    ...(guarded && operation.permission !== anyAccount ? [403] : []),
    ...(path.includes(':') ? [400, 404] : []),
    ...(operation.body ? [400, 413, 415] : []),
    // A public GET depends on nothing that can fail.
    ...(guarded || operation.body ? [500, 503] : []),
  ];
}

/** Returns the OpenAPI 3.1 document of `routes`. */
export function openApiDocument(routes: readonly (Route | PublicRoute)[]): Json {
  const components = new Components();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = `${route.path.replace(/:(\w+)/g, '{$1}')}/`.replace(/\/\/$/, '/');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = components.operation(route);
  }
  const tags = [...new Set(routes.map(({ operation }) => operation.tag))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern Management API',
      version: '1',
      description:
        'Administers certificate authorities, domains, certificate profiles, devices, certificates and accounts. ' +
        'The trailing slash of a path is optional. A body can also be a form ' +
        '(`application/x-www-form-urlencoded` or `multipart/form-data`) with the same members. In a form, a file is a part of its ' +
        'own, a list is a repeated field or JSON, and an object is JSON.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'The access token of `POST /api/token/`: with user name and password, or for a service account with the ' +
            'client credentials grant (RFC 6749 §4.4).',
        },
        client: {
          type: 'http',
          scheme: 'basic',
          description: 'Client id and secret of a service account, each form-urlencoded (RFC 6749 §2.3.1).',
        },
      },
    },
  };
}

/** Turns a union of literals into an enum, because code generators make a type for each member of a union. */
function withEnum(schema: Omit<TSchema, symbol>): object {
  const { anyOf, ...rest } = schema;
  const texts: readonly TSchema[] = Array.isArray(anyOf) ? anyOf : [];
  const isChoice = texts.length > 0 && texts.every((one) => typeof one.const === 'string');
  return isChoice ? { ...rest, type: 'string', enum: texts.map((one) => one.const) } : schema;
}

/** Collects the schemas and responses that the document defines once and references. */
class Components {
  readonly schemas: Record<string, Json> = {};
  readonly responses: Record<string, Json> = {};

  operation({ path, operation, ...route }: Route | PublicRoute): Json {
    const guarded = 'permission' in operation;
    const permission = guarded && operation.permission !== anyAccount ? operation.permission : undefined;
    const { id, summary, tag, description, clientAuthentication, body } = operation;
    const notes = [description, permission && `Needs the permission \`${permission}\`.`].filter(Boolean);
    const parameters = [...this.#pathParameters(path, operation), ...this.#queryParameters(operation)];
    return {
      operationId: id,
      summary,
      tags: [tag],
      ...(notes.length > 0 && { description: notes.join('\n\n') }),
      ...(permission && { 'x-permission': permission }),
      security: guarded ? [{ bearer: [] }] : clientAuthentication ? [{}, { client: [] }] : [],
      ...(parameters.length > 0 && { parameters }),
      ...(body && { requestBody: this.#requestBody(body) }),
      responses: this.#responses({ ...route, path, operation } as Route | PublicRoute),
    };
  }

  #pathParameters(path: string, operation: Operation): Json[] {
    return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
      const given = operation.path?.[name!];
      const schema = given ?? Type.Integer({ minimum: 1, description: 'id of the record' });
      return this.#parameter(name!, 'path', schema);
    });
  }

  #queryParameters({ query = {} }: Operation): Json[] {
    return Object.entries(query).map(([name, schema]) => this.#parameter(name, 'query', schema));
  }

  #parameter(name: string, where: 'path' | 'query', schema: TSchema): Json {
    const { description, ...rest } = this.#schema(schema);
    return {
      name,
      in: where,
      required: where === 'path',
      ...(description ? { description } : {}),
      // As if it were not there.
      ...(where === 'query' && { allowEmptyValue: true }),
      // Several values of a list stand in one parameter, with commas between.
      ...(rest.type === 'array' && { style: 'form', explode: false }),
      schema: rest,
    };
  }

  #requestBody({ schema, example, optional }: BodyDocumentation): Json {
    // Only JSON: of several media types with one schema, code generators make calls that send all of them at once.
    return {
      required: optional !== true,
      content: { 'application/json': { schema: this.#schema(schema), example } },
    };
  }

  #responses(route: Route | PublicRoute): Json {
    const { responses, failures: further = {} } = route.operation;
    const all: Record<number, Json> = {};
    for (const status of commonFailures(route)) all[status] = this.#failure(status);
    for (const [status, why] of Object.entries(further))
      all[Number(status)] = this.#failure(Number(status), why);
    for (const [status, response] of Object.entries(responses))
      all[Number(status)] = this.#response(response);
    return all;
  }

  #failure(status: number, why?: string): Json {
    const { name, description, schema, example, headers } = failures[status]!;
    const content = { 'application/json': { schema, example } };
    const response = { description: why ?? description, content, ...(headers && { headers }) };
    if (why !== undefined) return this.#response(response);
    this.responses[name] ??= this.#response(response);
    return { $ref: `#/components/responses/${name}` };
  }

  #response({ description, content, headers }: ResponseDocumentation): Json {
    const header = (text: string) => ({ description: text, schema: { type: 'string' } });
    return {
      description,
      ...(headers && {
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text)])),
      }),
      ...(content && {
        content: Object.fromEntries(
          Object.entries(content).map(([type, { schema, example }]) => [
            type,
            { schema: this.#schema(schema), example },
          ]),
        ),
      }),
    };
  }

  /** Returns the JSON Schema. A schema with an `$id` is defined once among the components and referenced. */
  #schema(schema: TSchema): Json {
    const { $id, verbatim, file, choices, ...rest } = schema;
    const own = this.#members(withEnum(rest));
    // The names of properties are not keywords of JSON Schema, even if they look like one.
    if (schema.properties) own.properties = this.#members(schema.properties);
    if (verbatim === true) own.format = 'password';
    if ($id === undefined) return own;
    // The description belongs to the member that uses the component, so it is put beside the reference.
    const { description, ...component } = own;
    const known = this.schemas[$id];
    if (known && JSON.stringify(known) !== JSON.stringify(component))
      throw new Error(`two schemas are called ${$id}`);
    this.schemas[$id] = component;
    return { $ref: `#/components/schemas/${$id}`, ...(description !== undefined && { description }) };
  }

  #members(members: object): Record<string, unknown> {
    return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, this.#value(value)]));
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((member) => this.#value(member));
    return typeof value === 'object' && value !== null ? this.#schema(value as TSchema) : value;
  }
}
