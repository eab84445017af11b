import type { Fault } from '#core/fault.ts';
import type { Health } from '#core/ports/platform.ts';
import type { Write } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Ask, Queries } from './queries.ts';
import type { Refusal } from './refusal.ts';

/** One call of `commit`: all of its writes or none. */
export type Unit = readonly Write[];

/** The ids of the records that the unit wrote, or the reason for its rejection. */
export type Result = readonly number[] | Refusal | Fault;

/** The operations that the store needs from a database. Faults: unavailable or internal; also Refusals where stated. */
export interface Driver extends Queries {
  /** Runs one writing statement in a durable transaction. It may run twice. */
  change(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
  /**
   * Writes all units in one durable transaction, in order, and advances the chain. A rejected unit has no effect and
   * does not affect the others. Throws if the whole transaction fails.
   */
  transact(units: readonly Unit[], chain: AuditChain): Promise<readonly Result[]>;
  /**
   * Runs `work` with a separate connection that has a fixed snapshot of the database. Absent if a second connection is
   * impossible.
   */
  still?(work: (ask: Ask) => Promise<void>): Promise<void>;
  /**
   * Makes a small durable commit that begins after everything that was read so far, and so proves that to be durable.
   */
  beat(): Promise<void>;
  /**
   * Checks that the database contains everything that `Witness` has seen, and returns the change counter. Faults:
   * unavailable.
   */
  sight(): Promise<number>;
  /** Returns a short reason for a failed commit, without secrets. */
  reason(fault: Fault): string;
  /** Checks that the database can be read. */
  health(): Promise<Health>;
  close(): Promise<void>;
}
