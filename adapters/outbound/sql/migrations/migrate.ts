import { type Migration, Migrator } from 'kysely';
import type { Builder, Dialect } from '../driver.ts';
import { initial } from './0001-initial.ts';

/** In this order; a name that has been released stays. */
const catalog: Readonly<Record<string, (builder: Builder, dialect: Dialect) => Promise<void>>> = {
  '0001-initial': initial,
};

/**
 * Brings the tables up to date. To be called inside a transaction that keeps other processes out. Throws when a step fails,
 * or when the database is newer than this program.
 */
export async function migrate(builder: Builder, dialect: Dialect): Promise<void> {
  const migrations: Record<string, Migration> = {};
  for (const [name, up] of Object.entries(catalog)) migrations[name] = { up: (open) => up(open, dialect) };
  const provider = { getMigrations: async () => migrations };
  const { error } = await new Migrator({
    db: builder,
    provider,
    disableTransactions: true,
  }).migrateToLatest();
  if (error !== undefined) throw error;
}
