import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { fewRows } from '#tests/fixtures/query-plans.ts';

/** A column that refers to another table, and the first columns of the indexes of its table. */
interface ForeignKey {
  readonly table: string;
  readonly column: string;
  readonly indexed: readonly string[];
}

/**
 * Whoever deletes a record has the database look for records that refer to it. EXPLAIN does not show that look-up: without an
 * index that begins with the column, it reads the whole table.
 */
const unindexed = (keys: readonly ForeignKey[]): readonly string[] =>
  keys
    .filter(({ table, column, indexed }) => !fewRows.has(table) && !indexed.includes(column))
    .map(({ table, column }) => `${table}.${column}`);

function foreignKeysOf(db: Database): readonly ForeignKey[] {
  const all = (sql: string): readonly Record<string, string>[] => db.query(sql).all() as never;
  return all("select name from sqlite_master where type = 'table'").flatMap(({ name: table }) => {
    const indexes = all(`pragma index_list(${table})`);
    const indexed = indexes.map(({ name }) => all(`pragma index_info(${name})`)[0]!.name!);
    const keys = all(`pragma foreign_key_list(${table})`);
    return keys.map(({ from: column }) => ({ table: table!, column: column!, indexed }));
  });
}

test('a foreign key without an index is seen, and not one of a small table', () => {
  using db = new Database(':memory:');
  db.run('create table users (id integer primary key, role integer references roles (id))');
  db.run(
    'create table parts (id integer primary key, a integer references users (id), b integer references users (id), c integer)',
  );
  db.run('create index parts_a on parts (a, c)');
  db.run('create index parts_c on parts (c, b)');
  expect(unindexed(foreignKeysOf(db))).toEqual(['parts.b']);
});

test('no deletion on SQLite reads a growing table whole', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  const path = join(directory, 'store.db');
  await (await openSqliteStore({ path, clock: testClock() })).close();
  using db = new Database(path, { readonly: true });
  const keys = foreignKeysOf(db);
  expect(keys.length).toBeGreaterThan(20);
  expect(unindexed(keys)).toEqual([]);
  rmSync(directory, { recursive: true });
});

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  test('no deletion reads a growing table whole', async () => {
    const url = await server.createDatabase();
    await (await openPostgresStore({ url, clock: testClock() })).close();
    const sql = new Bun.SQL(url);
    const rows = await sql`
      select c.conrelid::regclass::text as "table", a.attname::text as "column",
        array(select f.attname::text from pg_index i join pg_attribute f on f.attrelid = i.indrelid and f.attnum = i.indkey[0]
          where i.indrelid = c.conrelid) as "indexed"
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
      where c.contype = 'f'`;
    await sql.close();
    const keys = [...rows] as ForeignKey[];
    expect(keys.length).toBeGreaterThan(20);
    expect(unindexed(keys)).toEqual([]);
  });
});
