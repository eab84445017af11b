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
import { foreignKeyIndexes, requestIds } from './0026-0030.ts';

/** All migrations in their order. A released name must not change. */
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
  '0030-request-ids': requestIds,
};

/** In the order in which they run. */
export const migrationNames: readonly string[] = Object.keys(catalog);

/** The suffix of a migration that is incompatible with earlier versions: their instances refuse to start on it. */
const breaking = '-breaking';

/**
 * Returns the migrations that a later version has applied. Migrations usually only add, so instances of this version
 * keep running beside it and can restart. Faults: unsupported for an incompatible migration.
 */
async function later(builder: Builder, dialect: Dialect): Promise<readonly string[]> {
  const last = Object.keys(catalog).at(-1)!;
  const unknown = (await made(builder, dialect)).filter((name) => !Object.hasOwn(catalog, name));
  if (unknown.some((name) => name < last || name.endsWith(breaking))) {
    throw new Fault('unsupported', 'the database was created by another version of Postern');
  }
  return unknown;
}

/**
 * Returns whether all migrations have been applied. Only reads. Faults: unsupported if this version is incompatible
 * with the database.
 */
export async function isUpToDate(builder: Builder, dialect: Dialect): Promise<boolean> {
  const done = await made(builder, dialect);
  await later(builder, dialect);
  return Object.keys(catalog).every((name) => done.includes(name));
}

/** Returns the names of the applied migrations. */
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
 * Applies all migrations, or those up to `upTo`. The caller runs it in a transaction that excludes other processes.
 * Throws if a step fails. Faults: unsupported for an unknown `upTo`, and if this version is incompatible with the
 * database.
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
    // Kysely orders them by the clock, which may have been set back between two upgrades. `later` compares their names
    // instead.
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
