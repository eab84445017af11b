import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { Kysely, SqliteDialect } from 'kysely';
import { migrate, migrationNames } from '#adapters/outbound/sql/migrations/migrate.ts';
import type { Tables } from '#adapters/outbound/sql/queries.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly notnull: number;
  readonly dflt_value: string | null;
}

interface Table {
  readonly columns: ReadonlyMap<string, Column>;
  /** Returns the columns of each unique index. */
  readonly unique: readonly (readonly string[])[];
}

function tablesOf(db: Database): Map<string, Table> {
  const all = <T>(sql: string) => db.query(sql).all() as T[];
  const tables = all<{ name: string }>(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'",
  );
  return new Map(
    tables.map(({ name }) => {
      const columns = all<Column>(`pragma table_info(${name})`).map(
        (column) => [column.name, column] as const,
      );
      const unique = all<{ name: string; unique: number }>(`pragma index_list(${name})`)
        .filter((index) => index.unique === 1)
        .map((index) =>
          all<{ name: string }>(`pragma index_info(${index.name})`).map((column) => column.name),
        );
      return [name, { columns: new Map(columns), unique }];
    }),
  );
}

describe('an instance of an earlier version works with the tables of', () => {
  const db = new Database(':memory:');
  const builder = new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        close: () => db.close(),
        prepare: (sql) => {
          const statement = db.prepare(sql);
          return {
            reader: statement.columnNames.length > 0,
            all: (parameters) => statement.all(...(parameters as string[])),
            run: (parameters) => statement.run(...(parameters as string[])),
            iterate: (parameters) => statement.iterate(...(parameters as string[])),
          };
        },
      },
    }),
  });
  let before = new Map<string, Table>();

  test.each([...migrationNames])('%s', async (name) => {
    await migrate(builder, 'sqlite', name);
    const after = tablesOf(db);
    for (const [table, { columns, unique }] of before) {
      const now = after.get(table);
      expect([table, now === undefined]).toEqual([table, false]);
      // It reads and writes the columns it knows as before.
      for (const column of columns.values())
        expect(now!.columns.get(column.name)).toMatchObject({ ...column, cid: expect.any(Number) });
      // Columns that it does not know need no value.
      const added = [...now!.columns.values()].filter((column) => !columns.has(column.name));
      for (const column of added) {
        expect([column.name, column.notnull === 0 || column.dflt_value !== null]).toEqual([
          column.name,
          true,
        ]);
      }
      // Its writes are not rejected because of those of newer instances.
      const known = unique.map((index) => index.join());
      for (const index of now!.unique.filter((columns) => !known.includes(columns.join()))) {
        expect([table, index, index.some((column) => !columns.has(column))]).toEqual([table, index, true]);
      }
    }
    before = after;
  });
});
