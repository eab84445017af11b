import { unavailable } from './queries.ts';

/** Counts the operations in progress, so that a store can wait for them when it closes. */
export class PendingOperations {
  #count = 0;
  /** Set by `close`; resolves once no operation is in progress. */
  #end: PromiseWithResolvers<void> | undefined;

  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  begin(): void {
    this.#count++;
  }

  /** Marks `count` operations as complete. */
  done(count: number): void {
    this.#count -= count;
    if (this.#count === 0) this.#end?.resolve();
  }

  /** Runs `work` as one operation. Faults: unavailable once closed; those of `work`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw unavailable();
    this.begin();
    try {
      return await work();
    } finally {
      this.done(1);
    }
  }

  /** Waits for the operations in progress. `run` rejects new ones. */
  close(): Promise<void> {
    this.#end ??= Promise.withResolvers();
    this.done(0);
    return this.#end.promise;
  }
}
