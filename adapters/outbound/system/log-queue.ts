/** Characters. What does not fit is dropped and counted: a slow disk or reader never holds up the service. */
const mostQueued = 4 * 1024 * 1024;
const mostInBatch = 256 * 1024;
/** Lines wait this long for others to be written with. */
const delay = 20;

/** Lines on their way to one sink, written in batches, one at a time and in order. */
export class LogQueue {
  readonly #write: (batch: string) => Promise<void>;
  readonly #report: (dropped: number) => string;
  #lines: string[] = [];
  #queued = 0;
  #dropped = 0;
  #draining: Promise<void> | undefined;

  /** `report` gives the line that says how many were dropped. */
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

  /** When everything that was added has been written or dropped. */
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
