import { type Fault, toFault } from '#core/fault.ts';
import type { Health } from '#core/ports/platform.ts';

/** How long the result of a commit counts as current, in milliseconds. */
const fresh = { success: 5000, failure: 1000 } as const;
/** Load balancers do not wait long. Milliseconds. */
const patience = 2000;

/**
 * Reports whether commits work: by the result of the last commit or, if there was none recently, by a small test commit. A busy
 * store needs no test commits, an idle store one every few seconds while its health is being queried.
 */
export class CommitHealth {
  readonly #attempt: () => Promise<void>;
  readonly #reason: (fault: Fault) => string;
  #last: { readonly at: number; readonly failure?: unknown } | undefined;
  #running: Promise<void> | undefined;

  /** `attempt` makes a small durable commit; `reason` says in a few words why a commit has failed. */
  constructor(attempt: () => Promise<void>, reason: (fault: Fault) => string) {
    this.#attempt = attempt;
    this.#reason = reason;
  }

  /** Runs `commit`, records whether it succeeded, and returns or throws its result. */
  async watched<T>(commit: () => Promise<T>): Promise<T> {
    try {
      const result = await commit();
      this.#last = { at: performance.now() };
      return result;
    } catch (failure) {
      this.#last = { at: performance.now(), failure };
      throw failure;
    }
  }

  async health(): Promise<Health> {
    const known = this.#known();
    if (known) return known;
    this.#running ??= this.watched(this.#attempt)
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, patience, 'late');
    });
    const how = await Promise.race([this.#running, late]);
    clearTimeout(timer);
    if (how === 'late')
      return { ok: false, detail: `no commit is confirmed within ${patience / 1000} seconds` };
    return this.#said();
  }

  /** Returns the result of the last commit if it is recent enough. */
  #known(): Health | undefined {
    if (!this.#last) return undefined;
    const holds = 'failure' in this.#last ? fresh.failure : fresh.success;
    return performance.now() - this.#last.at < holds ? this.#said() : undefined;
  }

  #said(): Health {
    if (!this.#last || !('failure' in this.#last)) return { ok: true };
    return { ok: false, detail: this.#reason(toFault(this.#last.failure)) };
  }
}
