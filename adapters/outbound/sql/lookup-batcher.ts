import type { Row, SqlValue } from './codec.ts';
import { batchComplete } from './commit.ts';
import { PendingOperations } from './pending-operations.ts';
import { unavailable } from './queries.ts';

/** The look-ups by one statement. They share a promise, which costs less than a promise each. */
interface Batch {
  readonly sets: (readonly SqlValue[])[];
  readonly answers: PromiseWithResolvers<readonly Row[][]>;
}

/** Runs the statement for each set of parameters and returns their rows in the same order. */
type Answer = (sql: string, parameters: readonly (readonly SqlValue[])[]) => Promise<readonly Row[][]>;

/**
 * Batches look-ups by the same statement that begin within a few turns of the event loop: the database runs one statement for
 * all of them. The requests then continue one after the other, while code and data are still in the processor's caches.
 */
export class LookupBatcher {
  readonly #answer: Answer;
  readonly #pending = new PendingOperations();
  #waiting = new Map<string, Batch>();
  #count = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Returns the rows for one set of parameters. Faults: unavailable once closed. */
  ask(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    if (this.#pending.isClosed) return Promise.reject(unavailable());
    this.#pending.begin();
    if (this.#count++ === 0) void this.#flush();
    let batch = this.#waiting.get(sql);
    if (!batch) {
      batch = { sets: [], answers: Promise.withResolvers() };
      this.#waiting.set(sql, batch);
    }
    const n = batch.sets.push(parameters) - 1;
    return batch.answers.promise.then((rows) => rows[n]!);
  }

  async #flush(): Promise<void> {
    await batchComplete(() => this.#count, 1);
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#count = 0;
    for (const [sql, batch] of waiting) void this.#settle(sql, batch);
  }

  async #settle(sql: string, { sets, answers }: Batch): Promise<void> {
    try {
      answers.resolve(await this.#answer(sql, sets));
    } catch (error) {
      answers.reject(error);
    }
    this.#pending.done(sets.length);
  }

  /** Rejects new look-ups and waits for those in progress. */
  close(): Promise<void> {
    return this.#pending.close();
  }
}
