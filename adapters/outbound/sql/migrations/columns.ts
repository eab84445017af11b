import { type ColumnDataType, type CreateTableBuilder, type RawBuilder, sql } from 'kysely';
import type { Builder, Dialect } from '../queries.ts';

type DataType = ColumnDataType | RawBuilder<unknown>;

/** The names of the column types of `schema.ts` in a database. */
export interface DataTypes {
  readonly integer: DataType;
  readonly text: DataType;
  readonly boolean: DataType;
  readonly bytes: DataType;
}

// Collation "C" makes PostgreSQL compare text by its octets, as SQLite does, whatever the locale of the database.
export const dataTypes: { readonly [D in Dialect]: DataTypes } = {
  sqlite: { integer: 'integer', text: 'text', boolean: 'boolean', bytes: 'blob' },
  postgres: { integer: 'bigint', text: sql`text collate "C"`, boolean: 'boolean', bytes: 'bytea' },
};

/**
 * Creates a table with its `id`. `neverReused`: the id of a deleted record is not assigned again. On SQLite that costs
 * a write, so tables from which nothing is deleted do without it; sequences of PostgreSQL never go back.
 */
export function createTable(
  builder: Builder,
  dialect: Dialect,
  name: string,
  { neverReused }: { readonly neverReused: boolean },
): CreateTableBuilder<string> {
  const table = builder.schema.createTable(name);
  if (dialect === 'postgres') {
    return table.addColumn('id', 'bigint', (id) => id.primaryKey().generatedByDefaultAsIdentity());
  }
  return table.addColumn('id', 'integer', (id) =>
    neverReused ? id.primaryKey().autoIncrement() : id.primaryKey(),
  );
}

/** Creates an index for a filter, ordered by id within each value. SQLite adds the id itself. */
export async function createIndex(
  builder: Builder,
  dialect: Dialect,
  table: string,
  ...columns: readonly string[]
): Promise<void> {
  await builder.schema
    .createIndex(`${table}_${columns.join('_')}_index`)
    .on(table)
    .columns(dialect === 'postgres' ? [...columns, 'id'] : [...columns])
    .execute();
}
