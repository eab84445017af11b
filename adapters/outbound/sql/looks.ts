import type { Row, SqlValue } from './codec.ts';
import { gathered } from './gather.ts';
import { unavailable } from './queries.ts';
import { UnderWay } from './under-way.ts';

/** The look-ups by one statement. They share a promise, which costs less than a promise each. */
interface Together {
  readonly sets: (readonly SqlValue[])[];
  readonly answers: PromiseWithResolvers<readonly Row[][]>;
}

/** Runs the statement for each set of parameters and returns their rows in the same order. */
type Answer = (sql: string, parameters: readonly (readonly SqlValue[])[]) => Promise<readonly Row[][]>;

/**
 * Batches look-ups by the same statement that begin within a few turns of the event loop: the database runs one statement for
 * all of them. The requests then continue one after the other, while code and data are still in the processor's caches.
 */
export class Looks {
  readonly #answer: Answer;
  readonly #underWay = new UnderWay();
  #waiting = new Map<string, Together>();
  #count = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Returns the rows for one set of parameters. Faults: unavailable once closed. */
  ask(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    if (this.#underWay.isClosed) return Promise.reject(unavailable());
    this.#underWay.begin();
    if (this.#count++ === 0) void this.#flush();
    let together = this.#waiting.get(sql);
    if (!together) {
      together = { sets: [], answers: Promise.withResolvers() };
      this.#waiting.set(sql, together);
    }
    const n = together.sets.push(parameters) - 1;
    return together.answers.promise.then((rows) => rows[n]!);
  }

  async #flush(): Promise<void> {
    await gathered(() => this.#count, 1);
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#count = 0;
    for (const [sql, together] of waiting) void this.#settle(sql, together);
  }

  async #settle(sql: string, { sets, answers }: Together): Promise<void> {
    try {
      answers.resolve(await this.#answer(sql, sets));
    } catch (error) {
      answers.reject(error);
    }
    this.#underWay.done(sets.length);
  }

  /** Rejects new look-ups and waits for those in progress. */
  close(): Promise<void> {
    return this.#underWay.close();
  }
}
