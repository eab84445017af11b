import type { Row, SqlValue } from './codec.ts';

interface Look {
  readonly parameters: readonly SqlValue[];
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
}

/** The rows for each set of parameters, in order. */
type Answer = (sql: string, parameters: readonly (readonly SqlValue[])[]) => Promise<readonly Row[][]>;

/**
 * Look-ups by the same statement that are asked for in one turn of the event loop are answered together. The database is
 * asked once, and what all these requests do next they do one after the other while the processor has it at hand.
 */
export class Looks {
  readonly #answer: Answer;
  #waiting = new Map<string, Look[]>();

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  ask(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const look = { parameters, resolve, reject };
      if (this.#waiting.size === 0) setImmediate(this.#flush);
      const together = this.#waiting.get(sql);
      if (together) together.push(look);
      else this.#waiting.set(sql, [look]);
    });
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [sql, looks] of waiting) void this.#settle(sql, looks);
  };

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
  }
}
