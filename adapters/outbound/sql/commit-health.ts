import { type Fault, toFault } from '#core/fault.ts';
import type { Health } from '#core/ports/platform.ts';

/** What a commit shows, holds for so many milliseconds: a success, a failure. */
const fresh = { success: 5000, failure: 1000 } as const;
/** Load balancers do not wait long. Milliseconds. */
const patience = 2000;

/**
 * Knows whether commits work: by the outcome of the last one or, where there was none lately, by a small one made for that purpose.
 * So a busy store pays nothing for it, and an idle one a commit every few seconds while somebody asks.
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

  /** Passes on what becomes of `commit`, and remembers it. */
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

  /** What the last commit says, if it is recent enough. */
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
