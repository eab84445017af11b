import type { Clock } from '../ports/platform.ts';

/**
 * The number of refusals per address or credential that are recorded in each window; further refusals are only counted.
 */
const mostPerWindow = 60;
const window = 60_000;
const mostKnown = 10_000;

interface Spent {
  readonly since: number;
  recorded: number;
  dropped: number;
}

/**
 * Limits how many audit events refused requests can cause. An unauthenticated client, or a device that keeps retrying,
 * can be refused as fast as it sends requests. After `mostPerWindow` refusals in a window, further ones are only
 * counted, and the next recorded refusal carries their number.
 */
export class RefusalBudget {
  readonly #clock: Clock;
  readonly #spent = new Map<string, Spent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns undefined if this refusal must not be recorded, else how many unrecorded refusals preceded it. */
  take(who: string): number | undefined {
    const now = this.#clock.now();
    const spent = this.#spent.get(who);
    // A large difference in the other direction means that the clock was set back.
    if (!spent || Math.abs(now - spent.since) >= window) {
      this.#spent.delete(who);
      this.#spent.set(who, { since: now, recorded: 1, dropped: 0 });
      if (this.#spent.size > mostKnown) this.#spent.delete(this.#spent.keys().next().value!);
      return spent?.dropped ?? 0;
    }
    if (spent.recorded < mostPerWindow) {
      spent.recorded++;
      return 0;
    }
    spent.dropped++;
    return undefined;
  }
}

export interface WithRefusalBudget {
  readonly refusals: RefusalBudget;
}
