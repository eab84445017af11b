import { isAbsolute, resolve } from 'node:path';
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** Collects the problems of a configuration with their paths. They never contain values, which may be secrets. */
export class Problems {
  readonly #found = new Map<string, string>();

  /** Adds a problem. Only the first one for each path is kept, since others usually result from it. */
  add(path: string, what: string): void {
    if (!this.has(path)) this.#found.set(path, what);
  }

  /** Whether there is a problem with this path or with a table that contains it. */
  has(path: string): boolean {
    return [...this.#found.keys()].some((known) => path === known || path.startsWith(`${known}.`));
  }

  get lines(): readonly string[] {
    return [...this.#found].map(([path, what]) => (path === '' ? what : `${path}: ${what}`));
  }
}

/** Where references in the configuration are resolved. */
export interface Source {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The directory that relative paths are relative to. */
  readonly directory: string;
  /** Reads a file that holds a secret. Throws an Error whose message does not contain the secret. */
  readonly readSecret: (path: string) => string;
}

export type Table = Readonly<Record<string, unknown>>;

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/**
 * Reads a table of the configuration by its schema: replaces `${NAME}` by an environment variable (`$${` is a literal `${`) and, in
 * place of text, `{ file = "…" }` by the content of the file, makes paths absolute and fills in defaults.
 */
export function readTable(
  table: unknown,
  schema: TObject,
  path: string,
  source: Source,
  problems: Problems,
): Table {
  const value = Value.Default(schema, readValue(table, schema, path, source, problems));
  for (const error of Value.Errors(schema, value)) {
    const at = [path, ...error.path.split('/').slice(1)].filter(Boolean).join('.');
    problems.add(at, error.value === undefined ? 'is missing' : `must be ${expected(error.schema)}`);
  }
  return isTable(value) ? value : {};
}

const anything = Type.Any();

function readValue(
  value: unknown,
  schema: TSchema,
  path: string,
  source: Source,
  problems: Problems,
): unknown {
  if (typeof value === 'string') {
    const text = substitute(value, path, source, problems);
    if (schema.pathname === true && text !== '') return absolute(text, source);
    // An environment variable is always text, also where the schema requires a number.
    return text !== value && !isText(schema) ? Value.Convert(schema, text) : text;
  }
  if (Array.isArray(value)) {
    const items: TSchema = schema.items ?? anything;
    return value.map((item, n) => readValue(item, items, `${path}.${n}`, source, problems));
  }
  if (!isTable(value)) return value;
  if (isText(schema) && Object.keys(value).join() === 'file' && typeof value.file === 'string') {
    try {
      return source.readSecret(absolute(substitute(value.file, path, source, problems), source));
    } catch (error) {
      problems.add(path, error instanceof Error ? error.message : 'the file cannot be read');
      return value;
    }
  }
  const properties: Readonly<Record<string, TSchema>> = schema.properties ?? {};
  const known = Object.keys(properties);
  const entries = Object.entries(value).filter(([key]) => {
    if (known.includes(key) || schema.type !== 'object') return true;
    problems.add(join(path, key), `unknown key${suggestion(key, known)}`);
    return false;
  });
  return Object.fromEntries(
    entries.map(([key, member]) => [
      key,
      readValue(member, properties[key] ?? anything, join(path, key), source, problems),
    ]),
  );
}

const absolute = (path: string, { directory }: Source): string =>
  isAbsolute(path) ? path : resolve(directory, path);

const join = (path: string, key: string): string => {
  const shown = /^[\w-]{1,100}$/.test(key) ? key : JSON.stringify(key.slice(0, 100));
  return path === '' ? shown : `${path}.${shown}`;
};

function substitute(text: string, path: string, { environment }: Source, problems: Problems): string {
  return text.replace(/(\$?)\$\{([^}]*)\}/g, (whole, escaped: string, name: string) => {
    if (escaped !== '') return whole.slice(1);
    if (!/^[A-Za-z_]\w*$/.test(name))
      problems.add(path, 'the text between the braces must be the name of an environment variable');
    else if (environment[name] === undefined)
      problems.add(path, `the environment variable ${name} is not set`);
    return environment[name] ?? '';
  });
}

const isText = (schema: TSchema): boolean =>
  schema.type === 'string' || (Array.isArray(schema.anyOf) && schema.anyOf.some(isText));

/** Describes the values that a schema allows. */
function expected(schema: TSchema): string {
  const { minimum: min, maximum: max } = schema;
  const range = min !== undefined && max !== undefined ? ` from ${min} to ${max}` : '';
  if (typeof schema.title === 'string') return schema.title;
  if (Array.isArray(schema.anyOf)) return schema.anyOf.map(expected).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case 'string':
      if (schema.pattern !== undefined) return `text that matches ${schema.pattern}`;
      return schema.minLength > 0 ? 'non-empty text' : 'text';
    case 'integer':
      return `a whole number${range}`;
    case 'number':
      return `a number${range}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'object':
      return 'a table';
    default:
      return 'another value';
  }
}

/** Returns ` (did you mean "…"?)` if a known key is similar to `key`, else ''. */
export function suggestion(key: string, known: readonly string[]): string {
  const close = known
    .map((candidate) => ({ candidate, distance: distance(key.slice(0, 50), candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance)[0];
  return close ? ` (did you mean "${close.candidate}"?)` : '';
}

/** Returns the Levenshtein distance of two texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, substituted));
    }
    row = next;
  }
  return row[b.length]!;
}
