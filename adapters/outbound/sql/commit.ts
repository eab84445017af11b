import { Fault, toFault } from '#core/fault.ts';
import type { Write } from '#core/ports/store.ts';
import { AuditChain } from './audit-chain.ts';
import type { CommitHealth } from './commit-health.ts';
import type { Driver, Result, Unit } from './driver.ts';
import { PendingOperations } from './pending-operations.ts';
import { unavailable } from './queries.ts';
import { Refusal } from './refusal.ts';
import type { Witness } from './witness.ts';

interface Waiting {
  readonly unit: Unit;
  resolve(ids: readonly number[]): void;
  reject(fault: Fault): void;
}

const mostInGroup = 256;
const mostWaiting = 10_000;
/** A request that was read from the network reaches its commit after this many turns of the event loop. */
const turns = 2;

/**
 * Commits that wait together become one durable transaction: its price, a flush to the disk, is paid once for all of
 * them. Groups follow one another, so commits take effect in the order of their calls.
 */
export class GroupCommit {
  readonly #driver: Driver;
  readonly #witness: Witness;
  readonly #health: CommitHealth;
  readonly #chain = new AuditChain();
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  /** The rejected units whose reason is still being queried. */
  readonly #explaining = new PendingOperations();
  #closed = false;

  constructor(driver: Driver, witness: Witness, health: CommitHealth) {
    this.#driver = driver;
    this.#witness = witness;
    this.#health = health;
  }

  commit(writes: readonly Write[]): Promise<readonly number[]> {
    if (this.#closed) return Promise.reject(unavailable());
    if (this.#waiting.length >= mostWaiting) {
      return Promise.reject(new Fault('unavailable', 'too many writes are waiting', { retryAfter: 1 }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit: writes, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      await batchComplete(() => this.#waiting.length, turns);
      const group = this.#waiting.slice(0, mostInGroup);
      this.#waiting = this.#waiting.slice(mostInGroup);
      try {
        const units = group.map(({ unit }) => unit);
        const { read } = this.#witness;
        const { head } = this.#chain;
        this.#witness.demand();
        const results = await this.#health.watched(() => this.#driver.transact(units, this.#chain));
        if (this.#chain.head !== head) this.#witness.confirm(read, this.#chain.head);
        for (let i = 0; i < group.length; i++) this.#settle(group[i]!, results[i]!);
      } catch (error) {
        const fault = toFault(error);
        for (const { reject } of group) reject(fault);
      }
    }
    this.#flushing = undefined;
  }

  #settle({ resolve, reject }: Waiting, result: Result): void {
    if (result instanceof Refusal) {
      void this.#explaining.run(() => result.explain(this.#driver).catch(toFault).then(reject));
    } else if (result instanceof Fault) reject(result);
    else resolve(result);
  }

  /** Rejects new commits and waits for those in progress. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#explaining.close();
  }
}

/** How often a growing batch is checked. */
const patience = 4;

const turn = (): Promise<unknown> => new Promise(setImmediate);

/**
 * Waits until the batch, whose size `count` returns, has not grown for `turns` turns of the event loop. A larger batch is
 * cheaper, because each batch has a fixed cost.
 */
export async function batchComplete(count: () => number, turns: number): Promise<void> {
  for (let times = 0, before = 0; times < patience && count() > before; times++) {
    before = count();
    for (let n = 0; n < turns; n++) await turn();
  }
}
