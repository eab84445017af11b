import type { Kysely } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';

export type Dialect = 'sqlite' | 'postgres';

/** Tables and columns are named by `schema.ts`, at run time. */
export type Tables = Record<string, Record<string, unknown>>;
export type Builder = Kysely<Tables>;

/** Runs a statement on a connection with a fixed snapshot. */
export type Ask = (sql: string, parameters: readonly SqlValue[]) => Promise<Row[]>;

/** The statements that only read, and what builds them. Failures are Faults: unavailable or internal. */
export interface Queries {
  readonly dialect: Dialect;
  /** Builds and compiles statements; does not run them. */
  readonly builder: Builder;
  /** Runs one statement that only reads and comes again and again. Those that wait together may have one view. */
  look(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
  /** Runs one statement by itself. `reuse`: it will come again, keep it prepared. */
  query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]>;
  /**
   * Runs one statement that reads, and may have much to read. Nothing else waits for it, and what the service asks for itself
   * does not wait for what accounts ask.
   */
  search(sql: string, parameters: readonly SqlValue[], reader?: 'account' | 'service'): Promise<Row[]>;
}

const outOfReach = 'the database is unreachable';

/** How many queries of accounts run at the same time, in addition to those of the service. */
export const accountReaders = 2;

export const unavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', outOfReach, { retryAfter: 1, cause });

/** Returns the detail of the Fault if it is specific, else the entry of `reasons` for the error code of its cause. */
export function reasonOf(fault: Fault, reasons: Readonly<Record<string, string>>, otherwise: string): string {
  if (fault.code === 'unavailable' && fault.detail !== outOfReach) return fault.detail;
  const { cause } = fault;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return Object.entries(reasons).find(([start]) => code.startsWith(start))?.[1] ?? otherwise;
}
