import { sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Snapshot, SnapshotItem, SnapshotTable, SnapshotValue } from '#core/ports/snapshot.ts';
import type { Kind } from '#core/ports/store.ts';
import type { SqlValue } from './codec.ts';
import type { Ask, Builder, Dialect } from './queries.ts';
import { type ColumnType, columnName, columnsOf, kinds, tableOf } from './schema.ts';

/** Kinds that a backup leaves out, because they expire soon or are issued again: sign-ins and CRLs. */
const passing: ReadonlySet<Kind> = new Set(['session', 'loginFailure', 'knownAddress', 'crl', 'crlPart']);

/** The number of rows that the driver and the reader hold at a time; rows of long octets are read in smaller pages. */
const pageRows = 250;
const longPageRows = 8;
const long: ReadonlySet<Kind> = new Set(['crl', 'crlPart']);

const types: { readonly [T in ColumnType]: SnapshotTable['columns'][number]['type'] } = {
  integer: 'integer',
  text: 'text',
  boolean: 'boolean',
  bytes: 'bytes',
  bytesList: 'text',
  json: 'text',
  actor: 'text',
};

/** Returns the contents of the database, read through a connection with a fixed snapshot. See `Store.snapshot`. */
export async function snapshotOf(
  builder: Builder,
  dialect: Dialect,
  ask: Ask,
  isCopy: boolean,
): Promise<Snapshot> {
  const [migration] = await ask('select name from kysely_migration order by name desc limit 1', []);
  const contents = inOrder(isCopy ? kinds : kinds.filter((kind) => !passing.has(kind)));
  return { schema: String(migration?.name), isCopy, items: items(builder, dialect, ask, contents) };
}

async function* items(
  builder: Builder,
  dialect: Dialect,
  ask: Ask,
  contents: readonly Kind[],
): AsyncGenerator<SnapshotItem> {
  for (const kind of contents) {
    const { name } = tableOf(kind);
    const columns = columnsOf(kind).map(([field, { type }]) => ({
      name: columnName(field),
      type: types[type],
    }));
    const table: SnapshotTable = {
      name,
      columns: [{ name: 'id', type: 'integer' }, ...columns],
      lastId: await lastId(dialect, name, ask),
    };
    yield { table };
    yield* rows(builder, table, 'id', 0, ask, long.has(kind) ? longPageRows : pageRows);
  }
  const heads: SnapshotTable = {
    name: 'audit_heads',
    columns: [
      { name: 'chain', type: 'text' },
      { name: 'sequence', type: 'integer' },
      { name: 'hash', type: 'bytes' },
    ],
    lastId: null,
  };
  yield { table: heads };
  yield* rows(builder, heads, 'chain', '', ask, pageRows);
}

/** What others refer to comes before them. */
function inOrder(contents: readonly Kind[]): readonly Kind[] {
  const ordered: Kind[] = [];
  const left = new Set(contents);
  while (left.size > 0) {
    const next = [...left].find((kind) =>
      columnsOf(kind).every(([, { references }]) => references === undefined || !left.has(references)),
    );
    if (next === undefined) throw new Fault('internal', 'the references between tables form a cycle');
    left.delete(next);
    ordered.push(next);
  }
  return ordered;
}

/** Yields rows page by page in the order of the unique `key`. `before`: a value below all keys. */
async function* rows(
  builder: Builder,
  { name, columns }: SnapshotTable,
  key: string,
  before: SqlValue,
  ask: Ask,
  limit: number,
): AsyncGenerator<SnapshotItem> {
  const { sql: text } = builder
    .selectFrom(name)
    .select(columns.map((column) => column.name))
    .where(key, '>', before)
    .orderBy(key)
    .limit(sql.lit(limit))
    .compile();
  for (let after = before, found = limit; found === limit; ) {
    const page = await ask(text, [after]);
    found = page.length;
    if (found === 0) return;
    after = page[found - 1]![key] as SqlValue;
    yield { rows: page.map((row) => columns.map((column) => asValue(row[column.name], column.type))) };
  }
}

/** SQLite has no booleans, only 0 and 1. */
const asValue = (stored: unknown, type: string): SnapshotValue =>
  type === 'boolean' ? stored === true || stored === 1 : (stored as SnapshotValue);

async function lastId(dialect: Dialect, table: string, ask: Ask): Promise<number> {
  if (dialect === 'postgres') {
    // Sequences are not transactional, so this one may be ahead of the snapshot, but not behind it.
    const [row] = await ask(`select last_value, is_called from "${table}_id_seq"`, []);
    return row?.is_called === true ? Number(row.last_value) : 0;
  }
  const [row] = await ask(
    `select max(coalesce((select seq from sqlite_sequence where name = ?), 0),
      coalesce((select max(id) from "${table}"), 0)) as last`,
    [table],
  );
  return Number(row?.last);
}
