import { unavailable } from './queries.ts';

/** Counts what is under way, so that a store that closes can wait for it. */
export class UnderWay {
  #count = 0;
  /** There from when it closes; resolved once nothing is under way. */
  #end: PromiseWithResolvers<void> | undefined;

  get isClosed(): boolean {
    return this.#end !== undefined;
  }

  begin(): void {
    this.#count++;
  }

  /** `count` of those that have begun are done. */
  done(count: number): void {
    this.#count -= count;
    if (this.#count === 0) this.#end?.resolve();
  }

  /** Faults: unavailable once it is closed; those of `work`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw unavailable();
    this.begin();
    try {
      return await work();
    } finally {
      this.done(1);
    }
  }

  /** Waits for what has begun. */
  close(): Promise<void> {
    this.#end ??= Promise.withResolvers();
    this.done(0);
    return this.#end.promise;
  }
}
