import { type TSchema, Type } from '@sinclair/typebox';
import type { ValueError } from '@sinclair/typebox/value';
import { Value, ValueErrorType } from '@sinclair/typebox/value';
import { hiddenProblem } from '#core/x509/visible.ts';
import { parseJson } from '../http/json.ts';

/** The schema of one line of text: trimmed, without control or invisible characters, `min` to `max` characters long. */
export const text = (max: number, options: { min?: number; description?: string } = {}) =>
  Type.String({
    minLength: options.min ?? 0,
    maxLength: max,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    ...(options.description && { description: options.description }),
  });

/** The schema of a secret, which is not trimmed. */
export const secret = (max: number, description: string) =>
  Type.String({ maxLength: max, description, verbatim: true });

/** The schema of a file: octets in a multipart form, or text, base64 or a `data:` URI in JSON. `readFile` decodes it. */
export const file = (max: number, description: string) =>
  Type.String({ maxLength: max, description, file: true });

/** The schema of another record's id. */
export const reference = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** The schema of an integer that is one of those in `meanings`. */
export const integerEnum = (meanings: Readonly<Record<number, string>>) =>
  Type.Integer({
    enum: Object.keys(meanings).map(Number),
    description: Object.entries(meanings)
      .map(([value, meaning]) => `${value} ${meaning}`)
      .join('; '),
  });

const moment = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}';

/** The schema of a time as `timestamp` formats it. The format `date-time` (RFC 3339) would require a zone. */
export const dateTime = (description: string) =>
  Type.String({
    pattern: `^${moment}$`,
    description: `${description}; ISO 8601, UTC, without a zone suffix`,
  });

/** The schema of a time with the suffix `Z`. */
export const zonedDateTime = (description: string) =>
  Type.String({ format: 'date-time', description: `${description}; ISO 8601, UTC` });

/** Validates a JSON value. Returns it (text trimmed), or messages, which name members inside the value by their path. */
export function checkValue(schema: TSchema, value: unknown): { value: unknown } | { messages: string[] } {
  if (schema.file && value instanceof Uint8Array) {
    if (value.length <= schema.maxLength) return { value };
    return { messages: [`at most ${schema.maxLength} octets are allowed`] };
  }
  const given = typeof value === 'string' && !schema.verbatim ? value.trim() : value;
  // JSON can express half a surrogate pair, but no database can store it.
  if (typeof given === 'string' && !given.isWellFormed())
    return { messages: ['the text is not valid Unicode'] };
  const problem = typeof given === 'string' && isText(schema) ? hiddenProblem(given) : undefined;
  if (problem !== undefined) return { messages: [problem] };
  const allowed: readonly unknown[] | undefined = schema.enum ?? schema.choices;
  if (allowed && !allowed.includes(given)) return { messages: [`one of ${allowed.join(', ')} is expected`] };
  if (Value.Check(schema, given)) return { value: given };
  const messages: string[] = [];
  for (const error of Value.Errors(schema, given)) {
    messages.push(
      `${error.path === '' ? '' : `${error.path.slice(1).replaceAll('/', '.')}: `}${message(error)}`,
    );
    if (messages.length === 5) break;
  }
  return { messages };
}

const isText = (schema: TSchema): boolean =>
  !schema.verbatim &&
  !schema.file &&
  (schema.type === 'string' ||
    (Array.isArray(schema.anyOf) && schema.anyOf.some((s: TSchema) => s.type === 'string')));

function message({ type, schema, value, message: fallback }: ValueError): string {
  switch (type) {
    case ValueErrorType.String:
      return 'a string is expected';
    case ValueErrorType.Integer:
      return 'an integer is expected';
    case ValueErrorType.Boolean:
      return 'true or false is expected';
    case ValueErrorType.Array:
      return 'a list is expected';
    case ValueErrorType.Object:
      return 'an object is expected';
    case ValueErrorType.StringMaxLength:
      return `at most ${schema.maxLength} characters are allowed`;
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1
        ? 'this field may not be blank'
        : `at least ${schema.minLength} characters are needed`;
    case ValueErrorType.StringPattern:
      return schema.verbatim ? 'ASCII without spaces is expected' : 'control characters are not allowed';
    case ValueErrorType.ObjectAdditionalProperties:
      return 'unknown field';
    case ValueErrorType.ObjectRequiredProperty:
      return 'this field is required';
    case ValueErrorType.Union:
      return unionMessage(schema, value);
    default:
      return fallback.toLowerCase();
  }
}

const nouns: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

/** Returns the error of the member with the type of the value, or else a list of all members. */
function unionMessage(schema: TSchema, value: unknown): string {
  const members: TSchema[] = schema.anyOf ?? [];
  const likely = members.find(({ type, const: only }) => only === undefined && isOfType(value, type));
  const error = likely && Value.Errors(likely, value).First();
  if (error?.path === '') return message(error);
  return `${members.map((member) => ('const' in member ? JSON.stringify(member.const) : (nouns[member.type] ?? 'another value'))).join(' or ')} is expected`;
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'string' ? typeof value === 'string' : type === 'integer' && Number.isInteger(value);

/** Marks a field that appears more than once in a form and is not a list. */
export const repeated = Symbol('repeated');

/**
 * Converts the value of a form field to the JSON value that its schema expects. Text that cannot be converted stays text, and
 * validation rejects it. A list is sent as JSON, or item by item as browsers and most clients do.
 */
export function fromForm(schema: TSchema, given: unknown): unknown {
  const list = listIn(schema);
  if (Array.isArray(given)) return list ? given.map((item) => fromForm(list.items, item)) : repeated;
  if (given instanceof Uint8Array && !schema.file) return fromForm(schema, new TextDecoder().decode(given));
  if (typeof given !== 'string') return given;
  const types = new Set<string>([
    schema.type,
    ...((schema.anyOf as TSchema[] | undefined) ?? []).map(({ type }) => type),
  ]);
  if (types.has('null') && given === '') return null;
  if (types.has('integer') && /^-?\d{1,16}$/.test(given.trim())) return Number(given);
  if (types.has('boolean') && (given === 'true' || given === 'false')) return given === 'true';
  if (!types.has('array') && !types.has('object')) return given;
  try {
    return parseJson(given);
  } catch {
    return list && list.items.type !== 'object' && !types.has('string')
      ? [fromForm(list.items, given)]
      : given;
  }
}

/** Returns the array schema in `schema`, if it allows one. */
const listIn = (schema: TSchema): TSchema | undefined =>
  schema.type === 'array'
    ? schema
    : (schema.anyOf as TSchema[] | undefined)?.find(({ type }) => type === 'array');
