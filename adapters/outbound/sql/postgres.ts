import { type DialectAdapter, Kysely, PostgresAdapter, sql } from 'kysely';
import { PostgresJSDialect } from 'kysely-postgres-js';
import postgres from 'postgres';
import type { Clock, Health } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Builder, Driver, Result, Tables, Unit } from './driver.ts';
import { load } from './load.ts';
import { Looks } from './looks.ts';
import { migrate } from './migrations/migrate.ts';
import { asFault, type Client, connect, type Timeouts } from './postgres-client.ts';
import { apart, together } from './postgres-looks.ts';
import { Pool, type TransactionError, Writer } from './postgres-session.ts';
import { allotIds, type Ids, type Outcome, PostgresTransaction } from './postgres-transaction.ts';
import { isRefusal } from './refusal.ts';
import type { Ask } from './snapshot.ts';
import { Statements } from './statements.ts';
import { createStore } from './store.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full` */
  readonly url: string;
  readonly clock: Clock;
  /** Connections for reading, default 4. Besides, there are one for writing and two for searches. */
  readonly poolSize?: number;
  /** Milliseconds, default 5000. */
  readonly connectTimeout?: number;
  /** Milliseconds that one statement may take, default 10,000. */
  readonly statementTimeout?: number;
}

/** Opens the store in a PostgreSQL database, brings its tables up to date. Faults: unavailable, unsupported (it is newer). */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, clock, poolSize = 4, connectTimeout = 5000, statementTimeout = 10_000 } = options;
  const timeouts = { connect: connectTimeout, statement: statementTimeout };
  await bringUpToDate(url, timeouts);
  return createStore(new PostgresDriver(url, timeouts, poolSize), clock);
}

/**
 * Fills an empty database with a snapshot; all of it or nothing. Faults: conflict (there is something in it), unsupported (a
 * snapshot of a later version), unavailable.
 */
export async function restorePostgresStore(
  { url, connectTimeout = 5000 }: Pick<PostgresOptions, 'url' | 'connectTimeout'>,
  snapshot: Snapshot,
): Promise<void> {
  await bringUpToDate(url, { connect: connectTimeout, statement: 0 }, (open) =>
    load(open, 'postgres', snapshot),
  );
}

/** Of a snapshot, in milliseconds: whoever takes the rows may be slow. */
const patience = 10 * 60_000;
const mostAttempts = 4;

class PostgresDriver implements Driver {
  readonly dialect = 'postgres';
  readonly builder: Builder;
  readonly #statements: Statements;
  readonly #pool: Pool;
  /** Apart, so that no login waits behind them. */
  readonly #searches: Pool;
  readonly #writer: Writer;

  readonly #url: string;
  readonly #timeouts: Timeouts;

  constructor(url: string, timeouts: Timeouts, poolSize: number) {
    this.#url = url;
    this.#timeouts = timeouts;
    this.#pool = new Pool(url, timeouts, poolSize);
    this.#searches = new Pool(url, timeouts, 2);
    this.#writer = new Writer(url, timeouts);
    this.builder = builderOver(() => connect(url, timeouts, { max: 1 }));
    this.#statements = new Statements(this.builder);
  }

  query(text: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    return answered(this.#pool.query(text, parameters, reuse));
  }

  look(text: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return parameters.length === 0 ? this.query(text, [], true) : this.#looks.ask(text, parameters);
  }

  readonly #looks = new Looks(async (text, sets) => {
    if (sets.length === 1) return [await this.query(text, sets[0]!, true)];
    const all = together(text, sets);
    return apart(await this.query(all.sql, all.parameters, true), sets.length);
  });

  search(text: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return answered(this.#searches.query(text, parameters, false));
  }

  async transact(units: readonly Unit[], chain: AuditChain): Promise<readonly Result[]> {
    let apart = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const { results, head } = await this.#writer.pipelined<Ids, Outcome>({
          prelude: (send) => allotIds(units, send),
          work: (ids, send, commit) => {
            const transaction = new PostgresTransaction(send, commit, this.#statements, chain.head);
            return apart ? transaction.apart(units, ids) : transaction.together(units, ids);
          },
        });
        chain.head = head;
        return results;
      } catch (error) {
        const { cause, uncertain } = error as TransactionError;
        if (uncertain) chain.restart();
        if (isRefusal(cause) && units.length === 1) return [cause];
        // A deadlock, or a conflict of serializable transactions, is gone when the other one is through.
        if (uncertain || attempt === mostAttempts || !(isRefusal(cause) || isPassing(cause)))
          throw asFault(cause);
        apart = true;
      }
    }
  }

  async still(work: (ask: Ask) => Promise<void>): Promise<void> {
    const { connect } = this.#timeouts;
    const reader = new Writer(this.#url, { connect, statement: patience });
    let failure: unknown;
    try {
      await reader.transaction(async (send) => {
        try {
          await send('set transaction isolation level repeatable read, read only', []);
          await work(async (text, parameters) => {
            const { rows } = await send(text, parameters).catch((error) => {
              throw asFault(error);
            });
            return rows;
          });
        } catch (error) {
          failure = error;
          throw error;
        }
      });
    } catch (error) {
      throw failure ?? asFault((error as TransactionError).cause);
    } finally {
      await reader.close();
    }
  }

  async health(): Promise<Health> {
    try {
      await this.query('select value from change_counter', [], true);
      return { ok: true };
    } catch {
      return { ok: false, detail: 'the database is out of reach' };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#searches.close(), this.#writer.close()]);
  }
}

const answered = (rows: Promise<Row[]>): Promise<Row[]> =>
  rows.catch((error) => {
    throw asFault(error);
  });

const isPassing = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && (error.code === '40001' || error.code === '40P01');

const builderOver = (client: () => Client): Builder =>
  new Kysely<Tables>({ dialect: new LockedElsewhere({ postgres: client }) });

/**
 * Kysely would lock migrations by a session's advisory lock, which some databases that speak PostgreSQL's language do not
 * have. `bringUpToDate` locks a row instead.
 */
class LockedElsewhere extends PostgresJSDialect {
  override createAdapter(): DialectAdapter {
    return new UnlockedAdapter();
  }
}

class UnlockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** Of gateways that start at once, one makes the tables; the others wait for it and find them made. */
async function bringUpToDate(
  url: string,
  timeouts: Timeouts,
  bring = (open: Builder): Promise<void> => migrate(open, 'postgres'),
): Promise<void> {
  const client = connect(url, { ...timeouts, statement: 0 }, { max: 1 });
  const builder = builderOver(() => client);
  try {
    await client`select 1`;
    await makeLock(builder);
    await builder.connection().execute(async (connection) => {
      await sql`begin`.execute(connection);
      await sql`select id from migration_lock where id = 1 for update`.execute(connection);
      await bring(connection);
      await sql`commit`.execute(connection);
    });
  } catch (error) {
    throw asFault(error);
  } finally {
    // Ends a transaction that is still open, too.
    await client.end({ timeout: 1 });
  }
}

async function makeLock(builder: Builder): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await builder.schema
        .createTable('migration_lock')
        .ifNotExists()
        .addColumn('id', 'integer', (id) => id.primaryKey())
        .execute();
      await builder
        .insertInto('migration_lock')
        .values({ id: 1 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return;
    } catch (error) {
      // PostgreSQL's `if not exists` is no protection from another process that creates the table at the same moment.
      if (!(error instanceof postgres.PostgresError) || attempt === 10) throw error;
      await Bun.sleep(20 * attempt);
    }
  }
}
