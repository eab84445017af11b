import { constants, Database, SQLiteError } from 'bun:sqlite';
import { chmodSync, closeSync, openSync } from 'node:fs';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import { Fault, toFault } from '#core/fault.ts';
import type { Clock, Health } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Driver, Result, Unit } from './driver.ts';
import { load } from './load.ts';
import { LookupBatcher } from './lookup-batcher.ts';
import { migrate } from './migrations/migrate.ts';
import { PendingOperations } from './pending-operations.ts';
import { type Ask, accountReaders, type Builder, reasonOf, type Tables, unavailable } from './queries.ts';
import { isRefusal } from './refusal.ts';
import { Checkpoints } from './sqlite-checkpoints.ts';
import { type Flush, SqliteLog } from './sqlite-log.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { type Outcome, type Prepared, SqliteTransaction } from './sqlite-transaction.ts';
import { Statements } from './statements.ts';
import { createStore } from './store.ts';
import { Witness } from './witness.ts';

export interface SqliteOptions {
  /** The database file, created if it is missing, or `:memory:`. Only the service can access its directory (0700). */
  readonly path: string;
  readonly clock: Clock;
  /** How long to wait while other processes write, in milliseconds. Default 5000. */
  readonly busyTimeout?: number;
  /** Writes a file to the disk. Default: fdatasync. */
  readonly flush?: Flush;
}

/** Opens the store in a file and applies migrations. Faults: unavailable, unsupported (a newer database). */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, clock } = options;
  if (path !== ':memory:') {
    // SQLite gives the files beside it (-wal, -shm) the permissions of this one.
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  }
  const db = new Database(path, { create: true, readwrite: true });
  const witness = new Witness();
  const driver = new SqliteDriver(db, witness, options);
  try {
    await driver.open();
    return createStore(driver, clock, witness);
  } catch (error) {
    // `close` alone would leave the file open until all statements have been garbage-collected.
    if (db.inTransaction) db.run('rollback');
    db.close();
    throw fileError(path, error);
  }
}

/**
 * Fills a missing or empty database file with a snapshot, atomically. Faults: conflict (not empty), unsupported (a
 * snapshot of a later version), unavailable.
 */
export async function restoreSqliteStore(path: string, snapshot: Snapshot): Promise<void> {
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const db = new Database(path, { create: true, readwrite: true });
  try {
    for (const pragma of pragmas) db.run(`pragma ${pragma}`);
    db.run('begin immediate');
    await load(
      new Kysely<Tables>({ dialect: new SqliteDialect({ database: shim(db) }) }),
      'sqlite',
      snapshot,
    );
    db.run('commit');
  } catch (error) {
    throw isCode(error, 'SQLITE_BUSY') ? unavailable(error) : asFault(error);
  } finally {
    if (db.inTransaction) db.run('rollback');
    db.close();
  }
}

const pragmas = [
  // Readers do not wait for the writer.
  'journal_mode = wal',
  // A commit is on the disk when it returns, whatever happens to the power.
  'synchronous = full',
  'foreign_keys = on',
  'trusted_schema = off',
  // 24 MiB, enough for the most used pages of a million certificates. Not more: after an index split SQLite may scan
  // the whole cache, and the operating system caches the file too.
  'cache_size = -24576',
  // A separate thread copies the log back every 32 MiB. If it cannot, a commit does it every 256 MiB. At most 64 MiB of
  // the log file are kept.
  'wal_autocheckpoint = 65536',
  'journal_size_limit = 67108864',
  'temp_store = memory',
];

const mostPrepared = 400;
/** The limit for one query, in milliseconds. */
const mostPatience = 15_000;
/** The octets that an enrolment writes: a disk with less room is not healthy. */
const heartbeatOctets = 16 * 1024;

const reasons = {
  SQLITE_FULL: 'the disk is full',
  // A full disk has this code if a file beside the database cannot be created.
  SQLITE_IOERR_SHMSIZE: 'the disk is full',
  SQLITE_IOERR: 'the disk fails',
  // Of the log's flush.
  EIO: 'the disk fails',
  ENOSPC: 'the disk is full',
  SQLITE_READONLY: 'the database file is read-only',
  SQLITE_BUSY: 'another process keeps the database locked',
};

class SqliteDriver implements Driver {
  readonly dialect = 'sqlite';
  readonly builder: Builder;
  readonly still?: NonNullable<Driver['still']>;
  readonly #db: Database;
  readonly #busyTimeout: number;
  readonly #witness: Witness;
  /** Absent for a database in memory, which has only one connection. */
  readonly #readers:
    | { readonly service: SqliteReader; readonly account: readonly SqliteReader[] }
    | undefined;
  /** Both absent in memory, where there is no log. */
  readonly #checkpoints: Checkpoints | undefined;
  readonly #log: SqliteLog | undefined;
  readonly #statements: Statements;
  readonly #prepared = new Map<string, Prepared>();
  /** Changes whenever another process has committed something. */
  #version: unknown;
  readonly #queries = new PendingOperations();

  constructor(db: Database, witness: Witness, { busyTimeout = 5000, flush }: SqliteOptions) {
    this.#db = db;
    this.#witness = witness;
    this.#busyTimeout = busyTimeout;
    this.builder = new Kysely<Tables>({ dialect: new SqliteDialect({ database: shim(db) }) });
    this.#statements = new Statements(this.builder, 'sqlite');
    if (db.filename !== ':memory:') {
      const reader = () => new SqliteReader(db.filename, mostPatience);
      this.#readers = { service: reader(), account: Array.from({ length: accountReaders }, reader) };
      const checkpoints = new Checkpoints(db.filename);
      this.#checkpoints = checkpoints;
      this.#log = new SqliteLog(db.filename, () => checkpoints.copyBack(), flush);
      this.still = (work) => this.#still(work);
    }
  }

  async open(): Promise<void> {
    // Keep the files beside the database when it is closed. On a full disk they could not be created again, and without
    // them not even reading works.
    if (this.#readers) this.#db.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
    await this.#whenFree(() => {
      for (const pragma of pragmas) this.#db.run(`pragma ${pragma}`);
    });
    // One of several starting processes creates the tables while the others wait.
    await this.#whenFree(() => this.#db.run('begin immediate'));
    await migrate(this.builder, this.dialect);
    this.#db.run('commit');
    if (!this.#log) return;
    this.#log.open();
    // From now on the log is flushed by `SqliteLog`, after the commit and outside this thread.
    this.#db.run('pragma synchronous = normal');
    await this.#settled();
  }

  look(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#lookups.ask(sql, parameters);
  }

  readonly #lookups = new LookupBatcher((sql, sets) =>
    this.#read(() => {
      // The locks of a transaction are more expensive than a single look-up.
      if (sets.length > 1) this.#prepare('begin').run();
      try {
        const statement = this.#prepare(sql);
        return sets.map((parameters) => statement.all(...parameters) as Row[]);
      } finally {
        if (this.#db.inTransaction) this.#prepare('commit').run();
      }
    }),
  );

  query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    return this.#queries.run(() => this.#answer(sql, parameters, reuse));
  }

  #answer(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    return this.#read(() => {
      if (reuse) return this.#prepare(sql).all(...parameters) as Row[];
      using statement = this.#db.prepare<Row, SqlValue[]>(sql);
      return statement.all(...parameters);
    });
  }

  change(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return this.#queries.run(async () => {
      const rows = await this.#whenFree(() => this.#prepare(sql).all(...parameters) as Row[]);
      await this.#log?.committed();
      return rows;
    });
  }

  /** Runs `read`, and returns what it read once that is durable: a certificate must not leave before. */
  async #read<T>(read: () => T): Promise<T> {
    const value = await this.#whenFree(read);
    await this.#settled();
    return value;
  }

  /** Resolves when all commits that a read may have seen are durable, those of other processes included. */
  #settled(): Promise<void> | undefined {
    if (!this.#log) return undefined;
    const [[version] = []] = this.#prepare('pragma data_version').values();
    if (version !== this.#version) {
      this.#version = version;
      return this.#log.committed();
    }
    return this.#log.isSettled ? undefined : this.#log.settled();
  }

  async beat(): Promise<void> {
    // Use new octets each time, because SQLite does not write unchanged pages.
    const padding = `${crypto.randomUUID()} `.repeat(heartbeatOctets / 37);
    await this.change(this.#statements.heartbeat(), [padding, 0]);
  }

  async sight(): Promise<number> {
    const { known } = this.#witness;
    const [row] = await this.query(this.#statements.sighting(), [known.head?.chain ?? ''], true);
    return this.#witness.compare(known, row);
  }

  reason(fault: Fault): string {
    return reasonOf(fault, reasons, 'the database cannot be written');
  }

  async search(sql: string, parameters: readonly SqlValue[], reader = 'service'): Promise<Row[]> {
    if (!this.#readers) return this.query(sql, parameters, false);
    const { service, account } = this.#readers;
    const free = reader === 'service' ? service : (account.find(({ isIdle }) => isIdle) ?? account[0]!);
    const rows = await free.query(sql, parameters);
    await this.#settled();
    return rows;
  }

  async transact(units: readonly Unit[], chain: AuditChain): Promise<readonly Result[]> {
    try {
      return await this.#durably(chain, (open) => open.together(units));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (units.length === 1) return [error];
    }
    return this.#durably(chain, (open) => open.apart(units));
  }

  async #durably(chain: AuditChain, write: (open: SqliteTransaction) => Outcome): Promise<readonly Result[]> {
    // After a failed flush nothing is written until the disk works again.
    if (this.#log?.hasFailed) await this.#log.settled();
    const results = await this.#whenFree(() => this.#transaction(chain, write));
    try {
      await this.#log?.committed();
    } catch (error) {
      chain.restart();
      throw error;
    }
    return results;
  }

  /** Begins, writes and commits synchronously, so nothing else of this process uses the connection meanwhile. */
  #transaction(chain: AuditChain, write: (open: SqliteTransaction) => Outcome): readonly Result[] {
    this.#prepare('begin immediate').run();
    let committing = false;
    try {
      const prepare = (sql: string) => this.#prepare(sql);
      const { results, head } = write(new SqliteTransaction(this.#db, this.#statements, prepare, chain.head));
      committing = true;
      this.#prepare('commit').run();
      this.#checkpoints?.committed();
      chain.head = head;
      return results;
    } catch (error) {
      if (committing) chain.restart();
      // Some failures, such as a full disk, have already ended the transaction.
      if (this.#db.inTransaction) this.#db.run('rollback');
      throw error;
    }
  }

  /**
   * Runs `action` once no other process holds the lock. The busy_timeout of SQLite would block the whole process.
   * `action` must fail as busy only before it has had any effect.
   */
  async #whenFree<T>(action: () => T): Promise<T> {
    const end = performance.now() + this.#busyTimeout;
    for (;;) {
      try {
        return action();
      } catch (error) {
        if (!isCode(error, 'SQLITE_BUSY')) throw asFault(error);
        if (performance.now() >= end) throw unavailable(error);
      }
      await Bun.sleep(1 + 4 * Math.random());
    }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    if (this.#prepared.size >= mostPrepared) {
      const [oldest] = this.#prepared;
      oldest?.[1].finalize();
      this.#prepared.delete(oldest?.[0] ?? '');
    }
    const statement: Prepared = this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  async #still(work: (ask: Ask) => Promise<void>): Promise<void> {
    const db = await this.#whenFree(() => {
      const opened = new Database(this.#db.filename, { readonly: true });
      try {
        opened.run('begin');
        // The snapshot begins with the first read.
        opened.run('select value from change_counter');
        return opened;
      } catch (error) {
        opened.close();
        throw error;
      }
    });
    try {
      await this.#settled();
      await work(async (sql, parameters) => {
        // Yield to other work between two pages.
        await new Promise(setImmediate);
        try {
          return db.query<Row, SqlValue[]>(sql).all(...parameters);
        } catch (error) {
          throw asFault(error);
        }
      });
    } finally {
      db.close();
    }
  }

  async health(): Promise<Health> {
    try {
      await this.sight();
      return { ok: true };
    } catch (error) {
      return { ok: false, detail: reasonOf(toFault(error), reasons, 'the database cannot be read') };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#lookups.close(), this.#queries.close()]);
    const { service, account } = this.#readers ?? { service: undefined, account: [] };
    await this.#log?.close();
    await Promise.all([service, ...account, this.#checkpoints].map((thread) => thread?.close()));
    this.#prepared.clear();
    this.#db.close(true);
  }
}

const isCode = (error: unknown, ...prefixes: readonly string[]): boolean =>
  error instanceof SQLiteError && prefixes.some((prefix) => error.code?.startsWith(prefix) === true);

/** Returns unavailable for a full or failing disk, Refusals unchanged, and internal for everything else. */
function asFault(error: unknown): unknown {
  if (isRefusal(error)) return error;
  const outside = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'];
  return isCode(error, ...outside) ? unavailable(error) : toFault(error);
}

/** Adds the path of the file and advice to an error about the file. */
function fileError(path: string, error: unknown): unknown {
  const fault = asFault(error);
  const cause = fault instanceof Fault ? fault.cause : undefined;
  const [, advice] = Object.entries(remedies).find(([code]) => isCode(cause, code)) ?? [];
  if (advice === undefined) return fault;
  return new Error(`${path}: ${(cause as Error).message}; ${advice}`, { cause });
}

const damaged = 'the file is damaged: restore a backup into an empty data directory';
const remedies: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: damaged,
  SQLITE_CORRUPT: damaged,
  SQLITE_READONLY: 'make the file and its directory writable for this account',
};

/** Returns the part of the SQLite interface that Kysely needs for migrations. */
function shim(db: Database): SqliteDatabase {
  return {
    close: () => db.close(),
    prepare(sql) {
      const statement: Prepared = db.prepare(sql);
      return {
        reader: statement.columnNames.length > 0,
        all: (parameters) => statement.all(...(parameters as SqlValue[])),
        run: (parameters) => statement.run(...(parameters as SqlValue[])),
        iterate: (parameters) => statement.iterate(...(parameters as SqlValue[])),
      };
    },
  };
}
