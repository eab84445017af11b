import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { DamagedRecord, Fault } from '#core/fault.ts';
import {
  type Condition,
  configurationKinds,
  type Kind,
  type Page,
  type Query,
  type Records,
  type Referral,
  type Tally,
} from '#core/ports/store.ts';
import { encode, encodeSought, type Row, type SqlValue, toField, toRecord } from './codec.ts';
import { decodeCursor, encodeCursor, type Order, type Position } from './cursor.ts';
import type { Dialect, Queries, Tables } from './queries.ts';
import { type ColumnType, columnName, columnOf, tableOf } from './schema.ts';
import { selection } from './statements.ts';

const mostRecords = 1000;
const mostWords = 10;
const longestWord = 256;

type Test = RawBuilder<SqlBool>;

/**
 * Lists records without the fields of `without`. Passes damaged records to `damaged`. Faults: malformed with `field`;
 * internal for a damaged record if `damaged` is absent.
 */
export async function list<K extends Kind>(
  driver: Queries,
  kind: K,
  query: Query<K>,
  without: readonly string[] = [],
  damaged: DamagedRecord[] | undefined = query.skipDamaged && [],
): Promise<Page<Records[K]>> {
  const { limit } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > mostRecords) {
    throw new Fault('malformed', `limit must be from 1 to ${mostRecords}`, { field: 'limit' });
  }
  const order = orderOf(kind, query, without);
  const ordered = sql`${sql.join(ordering(order))}`;
  const position = query.cursor === undefined ? undefined : decodeCursor(order, query.cursor);
  const tests = testsOf(driver.dialect, kind, query, order);
  const found = (position ? afterTests(order, position) : [undefined]).map((after) => {
    // Sort only the ids, then fetch the rest: a sort copies all selected columns.
    let ids = driver.builder.selectFrom(tableOf(kind).name).select('id');
    for (const test of after ? [...tests, after] : tests) ids = ids.where(test);
    // One more record than requested shows whether there is a next page.
    return ids.orderBy(ordered).limit(sql.lit(limit + 1));
  });
  const parts = found.map((ids) => sql`select id from (${ids}) as part`);
  const { sql: text, parameters } = driver.builder
    .selectFrom(tableOf(kind).name)
    .select(selection(kind, tableOf(kind).name, without))
    .where('id', 'in', found.length === 1 ? found[0]! : sql<number>`(${sql.join(parts, sql` union all `)})`)
    .orderBy(ordered)
    .limit(sql.lit(limit + 1))
    .compile();
  const rows = await read(driver, kind, text, parameters as SqlValue[]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  // Computed before the rows are decoded, so that a damaged record at the end of a page does not hide the next pages.
  const next =
    rows.length > limit && last
      ? encodeCursor(
          order,
          positionOf(order, { id: Number(last.id), [order.field]: toField(kind, last, order.field) }),
        )
      : undefined;
  const records = shown.flatMap((row) => {
    try {
      return [toRecord(kind, row, without)];
    } catch (error) {
      if (!damaged || !(error instanceof Fault) || !(error.cause instanceof DamagedRecord)) throw error;
      damaged.push(error.cause);
      return [];
    }
  });
  return { records, ...(next !== undefined && { next }), ...(damaged?.length && { damaged }) };
}

/**
 * Like `list`, for an account. Faults: malformed with field `ordering` for an order without an index, unless few
 * records match.
 */
export async function listForAccount<K extends Kind>(
  driver: Queries,
  kind: K,
  query: Query<K>,
  without: readonly string[] = [],
): Promise<Page<Records[K]>> {
  await demandOrder(driver, kind, query, orderOf(kind, query, without));
  return list(driver, kind, query, without, []);
}

/** A query of a small table completes faster than a request to another thread. */
const read = (driver: Queries, kind: Kind, text: string, parameters: readonly SqlValue[]): Promise<Row[]> =>
  tableOf(kind).large ? driver.search(text, parameters) : driver.query(text, parameters, false);

function testsOf<K extends Kind>(dialect: Dialect, kind: K, query: Query<K>, order: Order): Test[] {
  const { where = [], search = [], referral } = query;
  const tests = conditionTests(dialect, kind, where, order);
  if (referral) tests.push(referralTest(dialect, kind, referral));
  tests.push(...searchTests(dialect, kind, search));
  // Always true, but SQLite uses the unique index of a text for the order only with such a condition.
  if (dialect === 'sqlite' && order.column.type === 'text' && !order.column.nullable) {
    tests.push(sql`${orderRef(order)} >= ''`);
  }
  return tests;
}

/** Faults: malformed, with `field`. */
export async function count<K extends Kind>(
  driver: Queries,
  kind: K,
  where: readonly Condition<K>[],
  atMost: number,
): Promise<number> {
  if (!Number.isSafeInteger(atMost) || atMost < 0) {
    throw new Fault('malformed', 'not a number of records', { field: 'atMost' });
  }
  let matching = driver.builder.selectFrom(tableOf(kind).name).select(sql.lit(1).as('one'));
  for (const test of conditionTests(driver.dialect, kind, where)) matching = matching.where(test);
  return counted(driver, kind, matching, atMost);
}

async function counted(
  driver: Queries,
  kind: Kind,
  matching: SelectQueryBuilder<Tables, string, { one: number }>,
  atMost: number,
): Promise<number> {
  const limited = matching.limit(sql.lit(atMost)).as('matching');
  const counting = driver.builder.selectFrom(limited).select((of) => of.fn.countAll().as('count'));
  const { sql: text, parameters } = counting.compile();
  const [row] = await read(driver, kind, text, parameters as SqlValue[]);
  return Number(row?.count);
}

/** Faults: malformed, with `field`. */
export async function tally<K extends Kind>(
  driver: Queries,
  kind: K,
  where: readonly Condition<K>[],
  by: readonly (keyof Records[K] & string)[],
  atMost: number,
): Promise<readonly Tally[]> {
  if (!Number.isSafeInteger(atMost) || atMost < 0) {
    throw new Fault('malformed', 'not a number of records', { field: 'atMost' });
  }
  const columns = by.map((field) => {
    const column = columnOf(kind, field);
    if (column?.type !== 'integer' && column?.type !== 'text')
      throw new Fault('malformed', 'records cannot be counted by this field', { field });
    return sql.ref(columnName(field));
  });
  const names = by.map((_, n) => sql.ref(`by_${n}`));
  const tests = conditionTests(driver.dialect, kind, where);
  const matching = sql`select ${sql.join(columns.map((column, n) => sql`${column} as ${names[n]}`))}
    from ${sql.table(tableOf(kind).name)} ${tests.length > 0 ? sql`where ${sql.join(tests, sql` and `)}` : sql``}
    limit ${sql.lit(atMost)}`;
  const { sql: text, parameters } = sql`select ${sql.join(names)}, count(*) as "count"
    from (${matching}) as matching group by ${sql.join(names)}`.compile(driver.builder);
  const rows = await read(driver, kind, text, parameters as SqlValue[]);
  return rows.map((row) => ({
    values: by.map((_, n) => row[`by_${n}`] as string | number | null),
    count: Number(row.count),
  }));
}

function orderOf<K extends Kind>(kind: K, { order }: Query<K>, without: readonly string[]): Order {
  const { field, descending, values }: NonNullable<typeof order> = order ?? { field: 'id', descending: true };
  const column = without.includes(field) ? undefined : columnOf(kind, field);
  if (column?.type !== 'integer' && column?.type !== 'text' && column?.type !== 'boolean') {
    throw new Fault('malformed', 'lists cannot be sorted by this field', { field: 'order' });
  }
  return { field, column, descending, ...(values && { values }) };
}

/** Returns the expression by which a list is ordered. */
function orderRef({ field, column, values }: Order): RawBuilder<unknown> {
  if (values) {
    const ranks = values.map((value, rank) => sql`when ${sql.lit(value)} then ${sql.lit(rank)}`);
    return sql`case ${columnRef(field)} ${sql.join(ranks, sql` `)} else ${sql.lit(values.length)} end`;
  }
  if (column.orderedBy === undefined) return columnRef(field);
  return sql`substr(${columnRef(field)}, 1, ${sql.lit(column.orderedBy)})`;
}

/**
 * Sorts NULL first on both databases. Only for nullable columns, because it keeps the databases from using other
 * indexes.
 */
function ordering(order: Order): RawBuilder<unknown>[] {
  const { field, column, descending } = order;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  if (field === 'id') return [sql`id ${direction}`];
  const nulls = sql.raw(!column.nullable ? '' : descending ? ' nulls last' : ' nulls first');
  return [sql`${orderRef(order)} ${direction}${nulls}`, sql`id ${direction}`];
}

/** Returns the conditions for the records after a position: one index range, or two if one of them contains NULLs. */
function afterTests(order: Order, { value, id }: Position): readonly Test[] {
  const { field, column, descending } = order;
  const beyond = sql.raw(descending ? '<' : '>');
  if (field === 'id') return [sql`id ${beyond} ${id}`];
  const at = orderRef(order);
  if (column.nullable && value === null) {
    const sameNull = sql<SqlBool>`${at} is null and id ${beyond} ${id}`;
    return descending ? [sameNull] : [sameNull, sql`${at} is not null`];
  }
  const after = sql<SqlBool>`(${at}, id) ${beyond} (${value}, ${id})`;
  return column.nullable && descending ? [after, sql`${at} is null`] : [after];
}

/** The most records of a large table that are sorted for a list, which takes a fraction of a second. */
const mostSorted = 10_000;

async function demandOrder<K extends Kind>(
  driver: Queries,
  kind: K,
  { where = [], search = [], referral }: Query<K>,
  { field }: Order,
): Promise<void> {
  const { large, orders = [], name } = tableOf(kind);
  if (!large || field === 'id' || orders.includes(field)) return;
  let matching = driver.builder.selectFrom(name).select(sql.lit(1).as('one'));
  for (const test of conditionTests(driver.dialect, kind, where)) matching = matching.where(test);
  if (referral) matching = matching.where(referralTest(driver.dialect, kind, referral));
  for (const test of searchTests(driver.dialect, kind, search)) matching = matching.where(test);
  if ((await counted(driver, kind, matching, mostSorted + 1)) <= mostSorted) return;
  const possible = ['id', ...orders].map(columnName).join(', ');
  throw new Fault(
    'malformed',
    `more than ${mostSorted} records match: narrow the list with filters, or order it by ${possible}`,
    { field: 'ordering' },
  );
}

function positionOf({ field, column, values }: Order, record: { readonly id: number }): Position {
  const value = encode(column, field, Reflect.get(record, field));
  const { id } = record;
  if (values)
    return { value: values.includes(Number(value)) ? values.indexOf(Number(value)) : values.length, id };
  return { value: typeof value === 'string' ? value.slice(0, column.orderedBy) : value, id };
}

/** Only the columns of `by` are unqualified, because its table is the innermost. */
function referralTest(dialect: Dialect, kind: Kind, { by, in: field, where, exists }: Referral): Test {
  const target = sql.ref(`${tableOf(kind).name}.id`);
  const tests = [sql<SqlBool>`${columnRef(field)} = ${target}`, ...conditionTests(dialect, by, where)];
  const found = sql<SqlBool>`exists (select 1 from ${sql.table(tableOf(by).name)} where ${sql.join(tests, sql` and `)})`;
  return exists ? found : sql<SqlBool>`not ${found}`;
}

const columnRef = (field: string): RawBuilder<unknown> => sql`${sql.ref(columnName(field))}`;

const isConfiguration: ReadonlySet<Kind> = new Set(configurationKinds);
const operators = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' } as const;
const never: Test = sql`1 = 0`;

/**
 * Returns the tests for conditions. SQLite does not know that most records may refer to one configuration record, such
 * as a domain or CA, and would search by it. The unary plus prevents that if there is a better way: the order of the
 * list, or a condition on a device.
 */
function conditionTests<K extends Kind>(
  dialect: Dialect,
  kind: K,
  where: readonly Condition<K>[],
  order?: Order,
): Test[] {
  const targets = where.map(({ field }) => columnOf(kind, field)?.references);
  const isNarrow = targets.some((target) => target !== undefined && !isConfiguration.has(target));
  const isOrdered = order !== undefined && order.field !== 'id';
  const avoids = dialect === 'sqlite' && (isNarrow || isOrdered);
  return where.map((condition, n) => {
    const target = targets[n];
    const isVague = avoids && target !== undefined && isConfiguration.has(target);
    return conditionTest(dialect, kind, condition, isVague);
  });
}

function conditionTest<K extends Kind>(
  dialect: Dialect,
  kind: K,
  condition: Condition<K>,
  isVague: boolean,
): Test {
  const { field, is, value } = withoutNul(condition);
  if (is === 'contains') return containsTest(dialect, kind, field, value);
  if (is === 'startsWith') return prefixTest(kind, field, value);
  const values = Array.isArray(value) ? value : [value];
  const encoded = values
    .map((one: unknown) => encodeSought(kind, field, one))
    .filter((one) => one !== undefined);
  const [sought] = encoded;
  const at = isVague ? sql`+${columnRef(field)}` : columnRef(field);
  if (sought === undefined) return never;
  if (is !== 'equal' && is !== 'oneOf') {
    return sought === null ? never : sql`${at} ${sql.raw(operators[is])} ${sought}`;
  }
  if (sought === null) return sql`${at} is null`;
  const test = sql<SqlBool>`${at} in (${sql.join(encoded)})`;
  const usual = columnOf(kind, field)?.usual;
  // Redundant, but shows the databases that the partial index contains all matching rows.
  return usual === undefined || encoded.includes(usual) ? test : sql`${test} and ${at} <> ${sql.lit(usual)}`;
}

/** Replaces a value with U+0000, which no stored text contains, by the part before it and an equivalent condition. */
function withoutNul<K extends Kind>(condition: Condition<K>): Condition<K> {
  const { field, is, value } = condition;
  if (typeof value !== 'string' || !value.includes('\0')) return condition;
  const before = value.slice(0, value.indexOf('\0'));
  if (is === 'less' || is === 'lessOrEqual') return { field, is: 'lessOrEqual', value: before };
  if (is === 'greater' || is === 'greaterOrEqual') return { field, is: 'greater', value: before };
  return condition;
}

const asText: ReadonlySet<ColumnType> = new Set(['text', 'json', 'actor']);

function containsTest(dialect: Dialect, kind: Kind, field: string, text: unknown): Test {
  const column = columnOf(kind, field);
  if (typeof text !== 'string' || !column || !asText.has(column.type)) {
    throw new Fault('malformed', 'this field does not support the contains filter', { field });
  }
  return like(dialect, [field], text);
}

/** Tests for a prefix by a range, for which both databases use an index. Text is compared by its octets. */
function prefixTest(kind: Kind, field: string, prefix: unknown): Test {
  const column = columnOf(kind, field);
  if (typeof prefix !== 'string' || !column || !asText.has(column.type)) {
    throw new Fault('malformed', 'this field does not support the prefix filter', { field });
  }
  const at = columnRef(field);
  if (prefix.includes('\0')) return never;
  if (prefix === '') return sql`${at} >= ''`;
  const last = prefix.codePointAt(prefix.length - 1)!;
  if (!/^[\u0000-\u007e]$/.test(String.fromCodePoint(last))) {
    throw new Fault('malformed', 'a prefix must end with an ASCII character', { field });
  }
  const beyond = prefix.slice(0, -1) + String.fromCodePoint(last + 1);
  return sql`${at} >= ${prefix} and ${at} < ${beyond}`;
}

/** Returns the conditions of a search: each word must occur in one of the searchable fields. */
function searchTests(dialect: Dialect, kind: Kind, words: readonly string[]): Test[] {
  const sought = words.filter((word) => word !== '');
  if (sought.length > mostWords || sought.some((word) => word.length > longestWord)) {
    const detail = `a search must have at most ${mostWords} words of ${longestWord} characters`;
    throw new Fault('malformed', detail, { field: 'search' });
  }
  return sought.map((word) => like(dialect, tableOf(kind).searchable, word));
}

/** Tests whether one of the fields contains `text`. */
function like(dialect: Dialect, fields: readonly string[], text: string): Test {
  if (text.includes('\0') || fields.length === 0) return never;
  // Both ignore the case of A to Z. With collation "C", PostgreSQL does not ignore that of other letters.
  const operator = sql.raw(dialect === 'sqlite' ? 'like' : 'ilike');
  const found = fields.flatMap((field) =>
    spellings(text).map(
      (spelling) => sql<SqlBool>`${columnRef(field)} ${operator} ${pattern(spelling)} escape '\\'`,
    ),
  );
  return sql`(${sql.join(found, sql` or `)})`;
}

const pattern = (word: string): string => `%${word.replace(/[\\%_]/g, '\\$&')}%`;

/** Returns the case variants of a word with letters beyond A to Z, because the databases do not ignore their case. */
const spellings = (word: string): string[] =>
  /^\p{ASCII}*$/u.test(word) ? [word] : [...new Set([word, word.toLowerCase(), word.toUpperCase()])];
