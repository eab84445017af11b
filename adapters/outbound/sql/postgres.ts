import { type DialectAdapter, Kysely, PostgresAdapter, sql } from 'kysely';
import { PostgresJSDialect } from 'kysely-postgres-js';
import postgres from 'postgres';
import { Fault } from '#core/fault.ts';
import type { Clock, Health } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Driver, Result, Unit } from './driver.ts';
import { load } from './load.ts';
import { LookupBatcher } from './lookup-batcher.ts';
import { isUpToDate, migrate } from './migrations/migrate.ts';
import { PendingOperations } from './pending-operations.ts';
import {
  asFault,
  type Client,
  connect,
  demandWrites,
  isLost,
  isPassing,
  isReadOnly,
  type Sight,
  type Timeouts,
  Unreplicated,
  within,
} from './postgres-client.ts';
import { Hosts } from './postgres-hosts.ts';
import { batchedLookup, rowsBySet } from './postgres-lookups.ts';
import { Pool } from './postgres-pool.ts';
import { allotIds, type Outcome, onlyAdd, PostgresTransaction } from './postgres-transaction.ts';
import { type TransactionError, Writer, type WriterOptions } from './postgres-writer.ts';
import { type Ask, accountReaders, type Builder, reasonOf, type Tables } from './queries.ts';
import { isRefusal } from './refusal.ts';
import { Statements } from './statements.ts';
import type { Ids } from './steps.ts';
import { createStore } from './store.ts';
import { Witness } from './witness.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full` */
  readonly url: string;
  readonly clock: Clock;
  /** Connections for reading, default 4. In addition, there are one for writing and two for the lists of accounts. */
  readonly poolSize?: number;
  /** Milliseconds, default 5000. */
  readonly connectTimeout?: number;
  /** Milliseconds that one statement may take, default 10,000. */
  readonly statementTimeout?: number;
  /** Milliseconds that a synchronous standby may take to confirm a commit, default 3000. */
  readonly commitTimeout?: number;
}

/**
 * Opens the store in a PostgreSQL database and applies migrations. Faults: unavailable, unsupported (a newer database).
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, clock, poolSize = 4, connectTimeout = 5000, statementTimeout = 10_000 } = options;
  const { commitTimeout = 3000 } = options;
  const timeouts = { connect: connectTimeout, statement: statementTimeout, commit: commitTimeout };
  const hosts = new Hosts(url);
  await bringUpToDate(hosts, timeouts);
  const witness = new Witness();
  return createStore(new PostgresDriver(hosts, timeouts, poolSize, witness), clock, witness);
}

/**
 * Fills an empty database with a snapshot, atomically. Faults: conflict (not empty), unsupported (a snapshot of a later
 * version), unavailable.
 */
export async function restorePostgresStore(
  { url, connectTimeout = 5000 }: Pick<PostgresOptions, 'url' | 'connectTimeout'>,
  snapshot: Snapshot,
): Promise<void> {
  const timeouts = { connect: connectTimeout, statement: 0, commit: 0 };
  await underLock(new Hosts(url), timeouts, (open) => load(open, 'postgres', snapshot));
}

/** The limit for a snapshot in milliseconds. Its consumer may be slow. */
const patience = 10 * 60_000;
const mostAttempts = 4;
/** The value that the heartbeat of every process writes. */
const heartbeat = ['', 0];
/**
 * How long, and how often, to look for a server that knows whether an interrupted COMMIT took effect, in milliseconds.
 */
const doubtPatience = 4000;
const doubtPause = 100;
/** Load balancers do not wait long. */
const healthPatience = 2000;
/** How long closing waits for running look-ups and queries, in milliseconds. */
const closePatience = 2000;
const readOnlyQuery = `select current_setting('transaction_read_only') as "readOnly"`;
/** Cancels only a wait for a synchronous standby. */
const releaseStatement = `select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'`;

/** Reasons by the beginning of the SQLSTATE. */
const reasons = {
  '53300': 'the database has no free connection (max_connections)',
  '53100': 'the disk of the database is full',
  '25006': 'the database is read-only',
  '28': 'the database rejects the credentials of this gateway',
  '3D000': 'the database does not exist',
};

class PostgresDriver implements Driver {
  readonly dialect = 'postgres';
  readonly builder: Builder;
  readonly #statements: Statements;
  readonly #pool: Pool;
  /** The pool for searches of accounts, separate so that logins never wait for them. */
  readonly #searches: Pool;
  readonly #writer: Writer;
  readonly #writerOptions: WriterOptions;
  readonly #queries = new PendingOperations();

  readonly #hosts: Hosts;
  readonly #timeouts: Timeouts;
  readonly #witness: Witness;

  constructor(hosts: Hosts, timeouts: Timeouts, poolSize: number, witness: Witness) {
    this.#hosts = hosts;
    this.#timeouts = timeouts;
    this.#witness = witness;
    this.builder = builderOver(() => connect(hosts, timeouts, { max: 1 }));
    this.#statements = new Statements(this.builder, 'postgres');
    const sight: Sight = (send) => this.#sight(async (sql, parameters) => (await send(sql, parameters)).rows);
    this.#pool = new Pool(hosts, timeouts, poolSize, sight);
    this.#searches = new Pool(hosts, timeouts, accountReaders, sight);
    this.#writerOptions = {
      sight,
      release: (pid) => this.#pool.query(releaseStatement, [pid], true),
      probe: { sql: this.#statements.heartbeat(), parameters: heartbeat },
    };
    this.#writer = new Writer(hosts, timeouts, this.#writerOptions);
  }

  async #sight(ask: Ask, distrust = (_why: unknown): void => {}): Promise<number> {
    const { known } = this.#witness;
    const [row] = await ask(this.#statements.sighting(), [known.head?.chain ?? '']);
    try {
      return this.#witness.compare(known, row);
    } catch (error) {
      distrust(error);
      throw error;
    }
  }

  sight(): Promise<number> {
    return this.#sight(
      (sql, parameters) => this.query(sql, parameters, true),
      (why) => {
        // A proxy has connected working connections to another server.
        for (const pool of [this.#pool, this.#searches]) pool.distrust(why);
        this.#writer.distrust();
      },
    );
  }

  async beat(): Promise<void> {
    await this.change(this.#statements.heartbeat(), heartbeat);
  }

  reason(fault: Fault): string {
    return reasonOf(fault, reasons, 'the database is unreachable');
  }

  change(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#queries.run(() => this.#change(sql, parameters));
  }

  async #change(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#writer.statement(sql, parameters)).rows;
      } catch (error) {
        const { cause } = error as TransactionError;
        const again = isPassing(cause) ? attempt < mostAttempts : this.#mayMove(cause, attempt);
        if (!again) throw asFault(cause);
      }
    }
  }

  query(text: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    return this.#queries.run(() => this.#answer(text, parameters, reuse));
  }

  #answer(text: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    return answered(this.#pool.query(text, parameters, reuse));
  }

  look(text: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return parameters.length === 0 ? this.query(text, [], true) : this.#lookups.ask(text, parameters);
  }

  readonly #lookups = new LookupBatcher(async (text, sets) => {
    if (sets.length === 1) return [await this.#answer(text, sets[0]!, true)];
    const all = batchedLookup(text, sets);
    return rowsBySet(await this.#answer(all.sql, all.parameters, true), sets.length);
  });

  search(text: string, parameters: readonly SqlValue[], reader = 'service'): Promise<Row[]> {
    if (reader === 'service') return this.query(text, parameters, false);
    return answered(this.#searches.query(text, parameters, false));
  }

  async transact(units: readonly Unit[], chain: AuditChain): Promise<readonly Result[]> {
    const adds = onlyAdd(units);
    let apart = false;
    let ids: Ids | undefined;
    /** The outcomes of attempts whose COMMIT may have taken effect, and the time of the first one. */
    const possible: Outcome[] = [];
    let since = Number.POSITIVE_INFINITY;
    for (let attempt = 1; ; attempt++) {
      let transaction: PostgresTransaction | undefined;
      const isOne = adds && !apart && possible.length === 0;
      try {
        const { results, head } = await this.#writer.pipelined<Ids, Outcome>({
          isOne,
          prelude: async (send) => {
            ids ??= await allotIds(units, send);
            return ids;
          },
          work: async (ids, send, commit) => {
            transaction = new PostgresTransaction(send, commit, this.#statements, chain.head);
            if (isOne) return transaction.atOnce(units, ids);
            return (
              (possible.length > 0 && (await transaction.already(possible))) ||
              (apart ? transaction.apart(units, ids) : transaction.together(units, ids))
            );
          },
        });
        chain.head = head;
        return results;
      } catch (error) {
        const { cause, uncertain } = error as TransactionError;
        if (uncertain && transaction?.outcome) {
          possible.push(transaction.outcome);
          since = Math.min(since, performance.now());
        }
        if (cause instanceof Unreplicated) {
          // Another attempt would wait again, and a commit on the primary alone may still be lost.
          if (possible.length > 0) chain.restart();
          throw cause;
        }
        if (isRefusal(cause) && units.length === 1) return [cause];
        if (isRefusal(cause)) apart = true;
        if (possible.length > 0) {
          const canTell = possible.every(({ head }) => head !== chain.head);
          if (canTell && performance.now() - since < doubtPatience) {
            await Bun.sleep(doubtPause);
            continue;
          }
          chain.restart();
          throw asFault(cause);
        }
        if (isRefusal(cause) || isPassing(cause) ? attempt < mostAttempts : this.#mayMove(cause, attempt))
          continue;
        throw asFault(cause);
      }
    }
  }

  /**
   * Returns whether another connection or server may succeed, because nothing has been written. A Fault means a
   * timeout.
   */
  #mayMove(cause: unknown, attempt: number): boolean {
    const moves = isReadOnly(cause) ? this.#hosts.count > 1 : isLost(cause) && !(cause instanceof Fault);
    return moves && attempt <= this.#hosts.count;
  }

  async still(work: (ask: Ask) => Promise<void>): Promise<void> {
    const { connect, commit } = this.#timeouts;
    const reader = new Writer(this.#hosts, { connect, statement: patience, commit }, this.#writerOptions);
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
      const asked = Promise.all([this.query(readOnlyQuery, [], true), this.sight()]);
      const [[row]] = await within(healthPatience, asked, () => {});
      if (row?.readOnly === 'off') return { ok: true };
      return { ok: false, detail: reasons['25006'] };
    } catch (error) {
      return { ok: false, detail: this.reason(asFault(error)) };
    }
  }

  async close(): Promise<void> {
    const asked = Promise.all([this.#lookups.close(), this.#queries.close()]);
    // Operations without a response fail when their connections are closed.
    await within(closePatience, asked, () => {}).catch(() => {});
    await Promise.all([this.#pool.close(), this.#searches.close(), this.#writer.close()]);
  }
}

const answered = (rows: Promise<Row[]>): Promise<Row[]> =>
  rows.catch((error) => {
    throw asFault(error);
  });

const builderOver = (client: () => Client): Builder =>
  new Kysely<Tables>({ dialect: new LockedElsewhere({ postgres: client }) });

/**
 * Disables the lock of Kysely for migrations, an advisory lock that some databases with the PostgreSQL protocol lack.
 * `bringUpToDate` locks a row instead.
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

/**
 * Applies migrations. Writes nothing if there are none, so that a gateway can start while the database is read-only.
 */
async function bringUpToDate(hosts: Hosts, timeouts: Timeouts): Promise<void> {
  const client = await reach(hosts, timeouts);
  try {
    if (
      await isUpToDate(
        builderOver(() => client),
        'postgres',
      )
    )
      return;
  } catch (error) {
    throw asFault(error);
  } finally {
    await client.end({ timeout: 1 });
  }
  await underLock(hosts, timeouts, (open) => migrate(open, 'postgres'));
}

/** Lets one of several starting gateways create the tables while the others wait. */
async function underLock(
  hosts: Hosts,
  timeouts: Timeouts,
  bring: (open: Builder) => Promise<void>,
): Promise<void> {
  const client = await reach(hosts, { ...timeouts, statement: 0 });
  const builder = builderOver(() => client);
  try {
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
    // This also ends an open transaction.
    await client.end({ timeout: 1 });
  }
}

/** Opens one connection to the first server that accepts it. */
async function reach(hosts: Hosts, timeouts: Timeouts): Promise<Client> {
  for (let left = hosts.count; ; left--) {
    const { url } = hosts;
    const client = connect(hosts, timeouts, { max: 1 });
    try {
      await demandWrites(client, hosts);
      return client;
    } catch (error) {
      await client.end({ timeout: 1 });
      if (left <= 1) throw asFault(error);
      hosts.failed(url);
    }
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
      // `if not exists` of PostgreSQL does not prevent a conflict with a process that creates the table at the same
      // time.
      if (!(error instanceof postgres.PostgresError) || attempt === 10) throw error;
      await Bun.sleep(20 * attempt);
    }
  }
}
