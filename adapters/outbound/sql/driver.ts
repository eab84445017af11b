import type { Fault } from '#core/fault.ts';
import type { Health } from '#core/ports/platform.ts';
import type { Write } from '#core/ports/store.ts';
import type { AuditChain } from './audit-chain.ts';
import type { Row, SqlValue } from './codec.ts';
import type { Ask, Queries } from './queries.ts';
import type { Refusal } from './refusal.ts';

/** One call of `commit`: all of its writes or none. */
export type Unit = readonly Write[];

/** The ids that a unit's writes touched, or why it was refused. */
export type Result = readonly number[] | Refusal | Fault;

/** What the store asks of a database. Failures are Faults: unavailable or internal, and Refusals where said. */
export interface Driver extends Queries {
  /** Runs one statement that writes, in a durable transaction of its own. It may run twice. */
  change(sql: string, parameters: readonly SqlValue[]): Promise<Row[]>;
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
  /** A small durable commit, at the latest begun when it is called: whatever was read before that is durable too. */
  beat(): Promise<void>;
  /** LookupBatcher whether the database knows what `Witness` has seen, and returns the change counter. Faults: unavailable. */
  sight(): Promise<number>;
  /** Why a commit has failed, in a few words and without secrets. */
  reason(fault: Fault): string;
  /** Whether it can be read. */
  health(): Promise<Health>;
  close(): Promise<void>;
}
