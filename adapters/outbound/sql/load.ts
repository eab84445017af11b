import { sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import { type Snapshot, type SnapshotTable, unsettledRestore } from '#core/ports/snapshot.ts';
import { migrate } from './migrations/migrate.ts';
import type { Builder, Dialect } from './queries.ts';

/**
 * Fills an empty database with a snapshot, whichever database that was taken from. To be called inside a transaction: the caller
 * commits it, or nothing has happened. A snapshot of an older version gets its tables as they were then, and is brought up to
 * date. Faults: conflict when the database is not empty, unsupported for a snapshot of a later version.
 */
export async function load(open: Builder, dialect: Dialect, snapshot: Snapshot): Promise<void> {
  if (!(await isEmpty(open, dialect))) {
    throw new Fault('conflict', 'the database is not empty: choose an empty database');
  }
  await migrate(open, dialect, snapshot.schema);
  let table: SnapshotTable | undefined;
  for await (const item of snapshot.items) {
    if ('table' in item) {
      table = item.table;
      if (table.lastId) await continueAfter(open, dialect, table.name, table.lastId);
    } else {
      if (!table) throw new Fault('malformed', 'the backup contains invalid data');
      const names = table.columns.map(({ name }) => name);
      if (item.rows.some((row) => row.length !== names.length)) {
        throw new Fault('malformed', 'the backup contains invalid data');
      }
      const rows = item.rows.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n]])));
      await open.insertInto(table.name).values(rows).execute();
    }
  }
  await migrate(open, dialect);
  if (snapshot.isCopy) return;
  await open
    .insertInto('settings')
    .values({ name: unsettledRestore, value: new Uint8Array(0) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function isEmpty(open: Builder, dialect: Dialect): Promise<boolean> {
  const { rows } = await (dialect === 'postgres'
    ? sql`select 1 from pg_tables where schemaname = current_schema() and tablename <> 'migration_lock' limit 1`
    : sql`select 1 from sqlite_master where name not like 'sqlite\\_%' escape '\\' limit 1`
  ).execute(open);
  return rows.length === 0;
}

/** Ids up to `last` are not given again, whether or not their records are still there. */
async function continueAfter(open: Builder, dialect: Dialect, table: string, last: number): Promise<void> {
  if (dialect === 'postgres') {
    await sql`select setval(${`${table}_id_seq`}::text::regclass, ${last}::bigint)`.execute(open);
    return;
  }
  // A table from which nothing is deleted takes the highest id that there is; it is in no list.
  await sql`insert into sqlite_sequence (name, seq) select ${table}, ${last} where exists
    (select 1 from sqlite_master where name = ${table} and sql like '%autoincrement%')`.execute(open);
}
