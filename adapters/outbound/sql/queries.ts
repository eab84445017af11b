import type { Kysely } from 'kysely';
import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';

export type Dialect = 'sqlite' | 'postgres';

/** `schema.ts` determines the names of tables and columns at run time. */
export type Tables = Record<string, Record<string, unknown>>;
export type Builder = Kysely<Tables>;

/** Runs a statement on a connection with a fixed snapshot. */
export type Ask = (sql: string, parameters: readonly SqlValue[]) => Promise<Row[]>;

/** Read-only statements and the builder for them. Faults: unavailable or internal. */
export interface Queries {
  readonly dialect: Dialect;
  /** Builds and compiles statements without running them. */
  readonly builder: Builder;
  /** Runs a frequent read-only statement. Concurrent ones may share a snapshot. */
  look(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
  /** Runs one statement. `reuse`: keep it prepared for the next time. */
  query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]>;
  /**
   * Runs a read-only statement that may take long. It does not delay other statements, and queries of the service do
   * not wait for those of accounts.
   */
  search(sql: string, parameters: readonly SqlValue[], reader?: 'account' | 'service'): Promise<Row[]>;
}

const unreachable = 'the database is unreachable';

/** How many queries of accounts run at the same time, in addition to those of the service. */
export const accountReaders = 2;

export const unavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', unreachable, { retryAfter: 1, cause });

/** Returns the detail of the Fault if it is specific, else the entry of `reasons` for the error code of its cause. */
export function reasonOf(fault: Fault, reasons: Readonly<Record<string, string>>, otherwise: string): string {
  if (fault.code === 'unavailable' && fault.detail !== unreachable) return fault.detail;
  const { cause } = fault;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return Object.entries(reasons).find(([start]) => code.startsWith(start))?.[1] ?? otherwise;
}
