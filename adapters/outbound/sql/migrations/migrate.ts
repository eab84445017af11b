import { type Migration, Migrator, sql } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Builder, Dialect } from '../queries.ts';
import { initial } from './0001-initial.ts';
import { onboarding } from './0002-onboarding.ts';
import { approvals } from './0004-approvals.ts';
import { upstreamRequests } from './0005-upstream-requests.ts';
import { devices } from './0006-devices.ts';
import { webhooks } from './0007-webhooks.ts';
import { crlParts, listOrders, nestedMessages, onboardedWith } from './0008-0014.ts';
import { accounts, custodians, orderedLists, replays, truststoreIndex } from './0017-0024.ts';
import { foreignKeyIndexes } from './0026-foreign-key-indexes.ts';

/** In this order; a name that has been released stays. */
const catalog: Readonly<Record<string, (builder: Builder, dialect: Dialect) => Promise<void>>> = {
  '0001-initial': initial,
  '0002-onboarding': onboarding,
  '0004-approvals': approvals,
  '0005-upstream-requests': upstreamRequests,
  '0006-devices': devices,
  '0007-webhooks': webhooks,
  '0008-nested-messages': nestedMessages,
  '0009-onboarded-with': onboardedWith,
  '0011-list-orders': listOrders,
  '0014-crl-parts': crlParts,
  '0017-replays': replays,
  '0019-ordered-lists': orderedLists,
  '0020-accounts': accounts,
  '0022-truststore-index': truststoreIndex,
  '0024-custodians': custodians,
  '0026-foreign-key-indexes': foreignKeyIndexes,
};

/** In the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(catalog);

/** At the end of the name of a migration that instances of earlier versions cannot live with: they do not start on it. */
const breaking = '-breaking';

/**
 * Those that a later version of this program has made. Migrations only add: as instances of this version that were running go on
 * beside it, so does one that starts again. Fault unsupported unless it is so.
 */
async function later(builder: Builder, dialect: Dialect): Promise<readonly string[]> {
  const last = Object.keys(catalog).at(-1)!;
  const unknown = (await made(builder, dialect)).filter((name) => !Object.hasOwn(catalog, name));
  if (unknown.some((name) => name < last || name.endsWith(breaking))) {
    throw new Fault('unsupported', 'the database was created by another version of Postern');
  }
  return unknown;
}

/** Whether nothing is left to do for `migrate`. Only reads. Fault unsupported when this program cannot live with the database. */
export async function isUpToDate(builder: Builder, dialect: Dialect): Promise<boolean> {
  const done = await made(builder, dialect);
  await later(builder, dialect);
  return Object.keys(catalog).every((name) => done.includes(name));
}

/** The names of the migrations that have been made. */
async function made(builder: Builder, dialect: Dialect): Promise<readonly string[]> {
  const { rows: tables } = await (dialect === 'postgres'
    ? sql`select 1 from pg_tables where schemaname = current_schema() and tablename = 'kysely_migration'`
    : sql`select 1 from sqlite_master where name = 'kysely_migration'`
  ).execute(builder);
  if (tables.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    builder,
  );
  return rows.map(({ name }) => name);
}

/**
 * Brings the tables up to date, or to where the migration `upTo` leaves them (Fault unsupported when there is none). To be called
 * inside a transaction that keeps other processes out. Throws when a step fails; Fault unsupported when this program cannot live
 * with what a later version has made of the database.
 */
export async function migrate(builder: Builder, dialect: Dialect, upTo?: string): Promise<void> {
  const migrations: Record<string, Migration> = {};
  for (const [name, up] of Object.entries(catalog)) migrations[name] = { up: (open) => up(open, dialect) };
  for (const name of await later(builder, dialect)) migrations[name] = { up: async () => {} };
  const provider = { getMigrations: async () => migrations };
  if (upTo !== undefined && !Object.hasOwn(catalog, upTo)) {
    throw new Fault('unsupported', 'the database schema is of a newer version of Postern');
  }
  const migrator = new Migrator({
    db: builder,
    provider,
    disableTransactions: true,
    // Kysely tells their order by the clock, which may have been set back between two upgrades. `later` looks at their names.
    allowUnorderedMigrations: true,
  });
  const { error } = await (upTo === undefined ? migrator.migrateToLatest() : migrator.migrateTo(upTo));
  if (error instanceof Error && error.message.startsWith('corrupted migrations')) {
    throw new Fault('unsupported', 'the database was created by another version of Postern', {
      cause: error,
    });
  }
  if (error !== undefined) throw error;
}
