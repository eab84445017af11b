/** Characters. Further lines are dropped and counted, so that a slow disk or reader never blocks the service. */
const mostQueued = 4 * 1024 * 1024;
const mostInBatch = 256 * 1024;
/** Milliseconds that a line waits for others of the same batch. */
const delay = 20;

/** A queue of lines for one sink. Batches are written in order, one at a time. */
export class LogQueue {
  readonly #write: (batch: string) => Promise<void>;
  readonly #report: (dropped: number) => string;
  #lines: string[] = [];
  #queued = 0;
  #dropped = 0;
  #draining: Promise<void> | undefined;

  /** `report` returns the line about dropped lines. */
  constructor(write: (batch: string) => Promise<void>, report: (dropped: number) => string) {
    this.#write = write;
    this.#report = report;
  }

  add(line: string): void {
    if (this.#queued + line.length > mostQueued) {
      this.#dropped++;
      return;
    }
    this.#lines.push(line);
    this.#queued += line.length;
    this.#draining ??= new Promise((resolve) => setTimeout(resolve, delay)).then(() => this.#drain());
  }

  /** Resolves when all lines have been written or dropped. */
  async flush(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#lines.length > 0) {
      const count = this.#nextBatch();
      const batch = this.#lines.splice(0, count).join('');
      const dropped = this.#dropped;
      try {
        await this.#write(dropped > 0 ? this.#report(dropped) + batch : batch);
        this.#dropped -= dropped;
      } catch {
        this.#dropped += count;
      }
      this.#queued -= batch.length;
    }
    this.#draining = undefined;
  }

  #nextBatch(): number {
    let count = 0;
    let length = 0;
    for (const line of this.#lines) {
      length += line.length;
      if (count > 0 && length > mostInBatch) break;
      count++;
    }
    return count;
  }
}
