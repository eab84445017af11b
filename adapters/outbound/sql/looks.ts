import type { Row, SqlValue } from './codec.ts';
import { unavailable } from './driver.ts';
import { gathered } from './gather.ts';
import { UnderWay } from './under-way.ts';

interface Look {
  readonly parameters: readonly SqlValue[];
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
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
  #waiting = new Map<string, Look[]>();
  #count = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Faults: unavailable once it is closed. */
  ask(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    if (this.#underWay.isClosed) return Promise.reject(unavailable());
    this.#underWay.begin();
    return new Promise((resolve, reject) => {
      const look = { parameters, resolve, reject };
      if (this.#count++ === 0) void this.#flush();
      const together = this.#waiting.get(sql);
      if (together) together.push(look);
      else this.#waiting.set(sql, [look]);
    });
  }

  async #flush(): Promise<void> {
    await gathered(() => this.#count, 1);
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#count = 0;
    for (const [sql, looks] of waiting) void this.#settle(sql, looks);
  }

  async #settle(sql: string, looks: readonly Look[]): Promise<void> {
    try {
      const answers = await this.#answer(
        sql,
        looks.map(({ parameters }) => parameters),
      );
      looks.forEach(({ resolve }, n) => void resolve(answers[n]!));
    } catch (error) {
      for (const { reject } of looks) reject(error);
    }
    this.#underWay.done(looks.length);
  }

  /** Takes no more, and waits for those that were taken. */
  close(): Promise<void> {
    return this.#underWay.close();
  }
}
