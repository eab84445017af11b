import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { parse } from 'yaml';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const yaml = 'application/vnd.oai.openapi';
const json = 'application/vnd.oai.openapi+json';

let site: Installation;
let admin: Api;
let anonymous: Api;
beforeAll(async () => {
  site = await installation();
  admin = await apiOf(site);
  anonymous = admin.anonymous;
});
afterAll(() => site[Symbol.asyncDispose]());

test('the document passes two independent validators, with its examples', async () => {
  const { body, text } = await anonymous.get('/api/schema/?format=json');
  expect(body.openapi).toBe('3.1.0');
  expect(await new Validator().validate(body)).toEqual({ valid: true });
  const config = await createConfig({
    rules: {
      struct: 'error',
      spec: 'error',
      'no-unresolved-refs': 'error',
      'no-identical-paths': 'error',
      'no-ambiguous-paths': 'error',
      'path-parameters-defined': 'error',
      'operation-operationId': 'error',
      'operation-operationId-unique': 'error',
      'operation-summary': 'error',
      'operation-parameters-unique': 'error',
      'operation-2xx-response': 'error',
      'security-defined': 'error',
      'no-invalid-schema-examples': 'error',
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: false },
      'no-unused-components': 'error',
    },
  });
  const problems = await lintFromString({ source: text, config });
  expect(problems.map(({ message, location }) => [message, location[0]?.pointer])).toEqual([]);
});

type Schema = Readonly<Record<string, unknown>>;

/** Returns every schema of the document. */
function* schemasIn(value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Schema;
  for (const member of Object.values(value)) yield* schemasIn(member);
}

test('names are unique for generated code, and in one style', async () => {
  const { body } = await anonymous.get('/api/schema/?format=json');
  const ids = Object.values<Record<string, { operationId: string }>>(body.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  const pascalCase = '(?:[A-Z][a-z0-9]+)+';
  expect(ids.filter((id) => !new RegExp(`^[a-z]+${pascalCase}$`).test(id))).toEqual([]);
  const schemas = Object.keys(body.components.schemas);
  expect(schemas.filter((name) => !new RegExp(`^${pascalCase}$`).test(name))).toEqual([]);
  expect(new Set(schemas.map((name) => name.toLowerCase())).size).toBe(schemas.length);
  // One word for one thing.
  expect(ids).toContain('listIssuingCas');
  expect(ids).toContain('createIssuingCa');
  expect(ids).toContain('listCredentials');
});

test('the values of an enum have one type', async () => {
  const { body } = await anonymous.get('/api/schema/?format=json');
  const enums = [...schemasIn(body)].flatMap((schema) => (Array.isArray(schema.enum) ? [schema.enum] : []));
  expect(enums.length).toBeGreaterThan(30);
  expect(enums.filter((values) => new Set(values.map((value) => typeof value)).size > 1)).toEqual([]);
});

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
  readonly style?: string;
  readonly explode?: boolean;
}

interface Described {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

const limits: Readonly<Record<string, readonly string[]>> = {
  string: ['maxLength', 'pattern', 'enum', 'format', 'const'],
  integer: ['minimum', 'maximum', 'enum', 'const'],
  array: ['maxItems', 'minItems'],
};

const isUnlimited = ({ type, ...rest }: Schema): boolean =>
  typeof type === 'string' && limits[type] !== undefined && !limits[type].some((word) => word in rest);

test('everything that a client sends has the limits that the server checks', async () => {
  const { body } = await anonymous.get('/api/schema/?format=json');
  const open: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, Described>>(body.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
      for (const { name, schema } of parameters)
        if (isUnlimited(schema)) open.push(`${method} ${path} ${name}`);
      const sent = [...schemasIn(requestBody?.content['application/json'].schema)];
      if (sent.some(isUnlimited)) open.push(`${method} ${path}`);
    }
  }
  const inputs = Object.entries<Schema>(body.components.schemas).filter(([name]) =>
    /(?:Input|Replacement|Changes)$/.test(name),
  );
  expect(inputs.length).toBeGreaterThan(40);
  for (const [name, schema] of inputs) if ([...schemasIn(schema)].some(isUnlimited)) open.push(name);
  // Cursors belong to the store, names of log files to the list of them, and there is one language.
  expect(open.filter((one) => !/ (?:cursor|file_name|lang)$/.test(one))).toEqual([]);
});

test('a body is required if one of its members is', async () => {
  const { body } = await anonymous.get('/api/schema/?format=json');
  const wrong: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, Described>>(body.paths)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      if (!requestBody) continue;
      const { schema } = requestBody.content['application/json'];
      const { required = [], anyOf } =
        body.components.schemas[String(schema.$ref).split('/').at(-1)!] ?? schema;
      if (requestBody.required !== (required.length > 0 || anyOf !== undefined))
        wrong.push(`${method} ${path}`);
    }
  }
  expect(wrong).toEqual([]);
});

/** The lists of the document: the path, and the parameters of the query by name. */
async function lists(): Promise<readonly (readonly [string, Readonly<Record<string, Parameter>>])[]> {
  const { body } = await anonymous.get('/api/schema/?format=json');
  await admin.post('/api/devices/', { common_name: 'pump-1' });
  return Object.entries<Record<string, Described>>(body.paths).flatMap(([path, { get }]) => {
    const query = Object.fromEntries((get?.parameters ?? []).map((one) => [one.name, one]));
    return query.ordering ? [[path.replace('{id}', '1'), query] as const] : [];
  });
}

test('a list names the orders that it takes, and takes no others', async () => {
  const wrong: unknown[] = [];
  const all = await lists();
  expect(all.length).toBeGreaterThan(20);
  for (const [path, { ordering }] of all) {
    const orders = ordering!.schema.enum as readonly string[];
    expect(orders.length).toBeGreaterThan(1);
    for (const order of [...orders, 'password', '-', orders[0]!.toUpperCase()]) {
      const { status } = await admin.get(`${path}?ordering=${order}`);
      if (status !== (orders.includes(order) ? 200 : 400)) wrong.push([path, order, status]);
    }
  }
  expect(wrong).toEqual([]);
});

/** Texts that a schema allows, and texts that it does not. */
function texts({
  type,
  enum: values,
  items,
  minimum,
  maximum,
  pattern,
  maxLength,
}: Schema): [string[], string[]] {
  if (Array.isArray(values)) return [values.map(String), ['nothing']];
  if (type === 'array') {
    const [right, wrong] = texts(items as Schema);
    return [
      [...right, right.join(',')],
      [...wrong, `${right[0]},${wrong[0]}`],
    ];
  }
  if (type === 'boolean') return [['true', 'false'], ['maybe']];
  if (type === 'integer') {
    const beyond = typeof maximum === 'number' ? [String(maximum + (maximum > 1e15 ? 1e3 : 1))] : [];
    return [
      [String(minimum), String(maximum)],
      [String((minimum as number) - 1), '1.5', '1e2', 'x', ...beyond],
    ];
  }
  if (typeof maxLength === 'number') return [['x'.repeat(maxLength)], ['x'.repeat(maxLength + 1)]];
  if (pattern !== undefined) return [[], ['=', 'x'.repeat(101)]];
  return [[], []];
}

test('a filter takes the values that its schema allows, and no others', async () => {
  const wrong: unknown[] = [];
  let asked = 0;
  for (const [path, query] of await lists()) {
    for (const { name, in: where, schema, style, explode } of Object.values(query)) {
      if (where === 'path') continue;
      expect([name, (await admin.get(`${path}?${name}=`)).status]).toEqual([name, 200]);
      if (schema.type === 'array') expect([style, explode]).toEqual(['form', false]);
      for (const [n, values] of texts(schema).entries()) {
        for (const value of values) {
          // What is no time is also no hexadecimal number, but it may be a word to search for.
          if (name === 'search' && value === '=') continue;
          const { status } = await admin.get(`${path}?${name}=${encodeURIComponent(value)}`);
          asked++;
          if (status !== [200, 400][n]) wrong.push([path, name, value, status]);
        }
      }
    }
  }
  expect(asked).toBeGreaterThan(500);
  expect(wrong).toEqual([]);
});

/** Reading it takes longer than all other tests. */
const documents = new Map<string, { readonly paths: object }>();
function parsed(text: string): { readonly paths: object } {
  const document = documents.get(text) ?? parse(text);
  documents.set(text, document);
  return document;
}

test.each([
  ['/schema/', {}, yaml],
  ['/schema', {}, yaml],
  ['/api/schema/', { accept: '*/*' }, yaml],
  ['/schema/?format=json', {}, json],
  ['/schema/?format=yaml&lang=de', { accept: 'application/json' }, yaml],
  ['/schema/', { accept: 'application/json' }, json],
  ['/schema/', { accept: json }, json],
  ['/schema/', { accept: 'text/html, application/json;q=0.5, application/vnd.oai.openapi' }, yaml],
  ['/schema/', { accept: 'application/*;q=0.1, application/json;q=0.5' }, json],
])('%s with %j is %s', async (path, headers, contentType) => {
  const answer = await anonymous.get(path, headers);
  expect([answer.status, answer.headers['content-type']]).toEqual([200, contentType]);
  const document = contentType === json ? answer.body : parsed(answer.text);
  expect(Object.keys(document.paths)).toContain('/api/devices/{id}/');
});

test('an unknown format is rejected', async () => {
  const { status, body } = await anonymous.get('/schema/?format=xml');
  expect([status, body]).toEqual([400, { format: ['one of yaml, json is expected'] }]);
});

test('the page and its files come from the gateway, and nothing else may be loaded', async () => {
  const page = await anonymous.get('/api/schema/swagger-ui/');
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(page.text).not.toMatch(/https?:|<script>/);
  for (const [, path] of page.text.matchAll(/(?:src|href)="([^"]*)"/g)) {
    const { status, bytes } = await anonymous.get(path!);
    expect([path, status, bytes.length > 50]).toEqual([path, 200, true]);
  }
  expect((await anonymous.get('/api/schema/swagger-ui/package.json')).status).toBe(404);
});
