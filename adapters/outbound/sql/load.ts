import { sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import { type Snapshot, type SnapshotTable, unsettledRestore } from '#core/ports/snapshot.ts';
import { migrate } from './migrations/migrate.ts';
import type { Builder, Dialect } from './queries.ts';

/**
 * Fills an empty database with a snapshot of either database. The caller runs it in a transaction and commits. The
 * tables of a snapshot from an older version are created as they were then and migrated afterwards. Faults: conflict if
 * the database is not empty, unsupported for a snapshot of a later version.
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

/** Ensures that ids up to `last` are never assigned again, even if their records were deleted. */
async function continueAfter(open: Builder, dialect: Dialect, table: string, last: number): Promise<void> {
  if (dialect === 'postgres') {
    await sql`select setval(${`${table}_id_seq`}::text::regclass, ${last}::bigint)`.execute(open);
    return;
  }
  // A table from which nothing is deleted continues after its highest id and has no entry in sqlite_sequence.
  await sql`insert into sqlite_sequence (name, seq) select ${table}, ${last} where exists
    (select 1 from sqlite_master where name = ${table} and sql like '%autoincrement%')`.execute(open);
}
