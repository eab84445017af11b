import type { Kysely } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Health } from '#core/ports/platform.ts';
import type { Write } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Refusal } from './refusal.ts';
import type { Ask } from './snapshot.ts';

export type Dialect = 'sqlite' | 'postgres';

/** Tables and columns are named by `schema.ts`, at run time. */
export type Tables = Record<string, Record<string, unknown>>;
export type Builder = Kysely<Tables>;

/** One call of `commit`: all of its writes or none. */
export type Unit = readonly Write[];

/** The ids that a unit's writes touched, or why it was refused. */
export type Result = readonly number[] | Refusal | Fault;

/** What the store asks of a database. Failures are Faults: unavailable or internal, and Refusals where said. */
export interface Driver {
  readonly dialect: Dialect;
  /** Builds and compiles statements; does not run them. */
  readonly builder: Builder;
  /** Runs one statement that only reads and comes again and again. Those that wait together may have one view. */
  look(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
  /** Runs one statement by itself. `reuse`: it will come again, keep it prepared. */
  query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]>;
  /** Runs one statement that reads, and may have much to read. Nothing else waits for it. */
  search(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
  /**
   * All units in one durable transaction, in order, and advances the chain. A unit that is refused has no effect and
   * harms no other. A failure of the whole is thrown.
   */
  transact(units: readonly Unit[], chain: AuditChain): Promise<readonly Result[]>;
  /**
   * Runs `work` with a connection of its own on which the database stands still; others go on. Absent where there can be no
   * second connection.
   */
  still?(work: (ask: Ask) => Promise<void>): Promise<void>;
  health(): Promise<Health>;
  close(): Promise<void>;
}

export const unavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', 'the database is out of reach', { retryAfter: 1, cause });
