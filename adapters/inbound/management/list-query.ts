import { Type } from '@sinclair/typebox';
import type { Condition, Kind, Query, Referral } from '#core/ports/store.ts';
import { camelCase, type Description, type Ordering } from './description.ts';
import { ValidationError } from './errors.ts';
import { fitsParameter } from './query-parameter.ts';

type Fields = Description<Kind, unknown, unknown>['fields'];

const mostRecords = 1000;
const mostWords = 10;
const longestWord = 100;

const limitSchema = Type.Integer({
  minimum: 1,
  maximum: mostRecords,
  description: `Maximum number of records in a page; default ${mostRecords}`,
});
const searchSchema = Type.String({
  pattern: `^\\s*(?:\\S{1,${longestWord}}\\s+){0,${mostWords - 1}}(?:\\S{1,${longestWord}}\\s*)?$`,
  description: `Words that a record must all contain, case-insensitive; at most ${mostWords} of at most ${longestWord} characters`,
});
const cursorSchema = Type.String({
  description: 'Start of the page, from the `Link` header of the previous page',
});

/** The parameters of a list that can only be read page by page. */
export const pageParameters = { limit: limitSchema, cursor: cursorSchema };

/** Returns the parameters of every list of a collection, except its filters. */
export const listParameters = (fields: Fields) => ({
  ordering: Type.String({
    enum: Object.entries(fields).flatMap(([name, { orderable }]) => (orderable ? [name, `-${name}`] : [])),
    description: 'The field to order by; prefix `-` for descending order',
  }),
  search: searchSchema,
  ...pageParameters,
});

/**
 * Reads `ordering`, `search`, `limit`, `cursor` and the filters of the resource. Unknown parameters are ignored. `now`: milliseconds
 * since 1970. Throws ValidationError.
 */
export function readListQuery<K extends Kind, Input, View>(
  { fields, filters = {} }: Pick<Description<K, Input, View>, 'fields' | 'filters'>,
  parameters: URLSearchParams,
  now: number,
): Query<K> {
  const errors: Record<string, string[]> = {};
  const where: Condition<K>[] = [];
  let referral: Referral | undefined;
  for (const name of ['ordering', 'search', 'limit', 'cursor', ...Object.keys(filters)]) {
    if (parameters.getAll(name).length > 1) errors[name] = ['given more than once'];
  }
  for (const [name, filter] of Object.entries(filters)) {
    const given = parameters.get(name);
    if (given === null || given === '') continue;
    const text = given.trim();
    const conditions = fitsParameter(filter.schema, text) ? filter.conditions(text, now) : undefined;
    if (conditions) {
      where.push(...conditions);
      referral = filter.referral?.(text, now) ?? referral;
    } else errors[name] = ['invalid value for this field'];
  }
  const order = readOrdering<K>(fields, parameters.get('ordering'));
  if (order === 'unknown') errors.ordering = ['records cannot be ordered by this field'];
  const limit = parameters.get('limit') || String(mostRecords);
  if (!fitsParameter(limitSchema, limit)) errors.limit = [`1 to ${mostRecords} is expected`];
  const search = parameters.get('search') ?? '';
  if (!fitsParameter(searchSchema, search)) {
    errors.search = [`at most ${mostWords} words of ${longestWord} characters are allowed`];
  }
  if (Object.keys(errors).length > 0) throw new ValidationError(errors);
  const cursor = parameters.get('cursor');
  return {
    where,
    ...(referral && { referral }),
    search: search.split(/\s+/).filter((word) => word !== ''),
    limit: Number(limit),
    ...(order !== undefined && order !== 'unknown' && { order }),
    ...(cursor && { cursor }),
  };
}

function readOrdering<K extends Kind>(
  fields: Fields,
  ordering: string | null,
): Query<K>['order'] | 'unknown' {
  if (ordering === null || ordering === '') return undefined;
  const descending = ordering.startsWith('-');
  const name = descending ? ordering.slice(1) : ordering;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field?.orderable) return 'unknown';
  const { by = field.record ?? camelCase(name), values } =
    field.orderable === true ? ({} as Partial<Ordering>) : field.orderable;
  return {
    field: by as NonNullable<Query<K>['order']>['field'],
    descending,
    ...(values && { values }),
  };
}
