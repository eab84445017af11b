import type { Row, SqlValue } from './codec.ts';
import { gathered } from './gather.ts';
import { unavailable } from './queries.ts';
import { UnderWay } from './under-way.ts';

/** What is asked for by one statement: a promise for all of it costs less than one for each. */
interface Together {
  readonly sets: (readonly SqlValue[])[];
  readonly answers: PromiseWithResolvers<readonly Row[][]>;
}

/** The rows for each set of parameters, in order. */
type Answer = (sql: string, parameters: readonly (readonly SqlValue[])[]) => Promise<readonly Row[][]>;

/**
 * Look-ups by the same statement that are asked for in one turn of the event loop, or a few, are answered together. The database is
 * asked once, and what all these requests do next they do one after the other while the processor has it at hand.
 */
export class Looks {
  readonly #answer: Answer;
  readonly #underWay = new UnderWay();
  #waiting = new Map<string, Together>();
  #count = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Faults: unavailable once it is closed. */
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

  /** Takes no more, and waits for those that were taken. */
  close(): Promise<void> {
    return this.#underWay.close();
  }
}
