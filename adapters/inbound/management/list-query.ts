import type { Condition, Kind, Query, Referral } from '#core/ports/store.ts';
import { camelCase, type Description, type Ordering } from './description.ts';
import { ValidationError } from './errors.ts';

const mostRecords = 1000;
const mostWords = 10;

/** `ordering`, `search`, `limit`, `cursor` and the resource's filters. Parameters that nobody knows are ignored. */
export function readListQuery<K extends Kind, Input, View>(
  { fields, filters = {} }: Pick<Description<K, Input, View>, 'fields' | 'filters'>,
  parameters: URLSearchParams,
  now: number,
): Query<K> {
  const errors: Record<string, string[]> = {};
  const where: Condition<K>[] = [];
  let referral: Referral | undefined;
  for (const [name, filter] of Object.entries(filters)) {
    const text = parameters.get(name);
    if (text === null || text === '') continue;
    const conditions = text.length > 300 ? undefined : filter.conditions(text, now);
    if (conditions) {
      where.push(...conditions);
      referral = filter.referral?.(text, now) ?? referral;
    } else errors[name] = ['invalid value for this field'];
  }
  const order = readOrdering<K>(fields, parameters.get('ordering'));
  if (order === 'unknown') errors.ordering = ['records cannot be ordered by this field'];
  const limitText = parameters.get('limit');
  const limit = limitText === null ? mostRecords : Number(limitText);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= mostRecords))
    errors.limit = [`1 to ${mostRecords} is expected`];
  const search = (parameters.get('search') ?? '').split(/\s+/).filter((word) => word !== '');
  if (search.length > mostWords || search.some((word) => word.length > 100)) {
    errors.search = [`at most ${mostWords} words of 100 characters are allowed`];
  }
  if (Object.keys(errors).length > 0) throw new ValidationError(errors);
  const cursor = parameters.get('cursor');
  return {
    where,
    ...(referral && { referral }),
    search,
    limit,
    ...(order !== undefined && order !== 'unknown' && { order }),
    ...(cursor && { cursor }),
  };
}

function readOrdering<K extends Kind>(
  fields: Description<K, unknown, unknown>['fields'],
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
