import type { Clock } from '../ports/platform.ts';

/** Refusals of one address, or of one credential, that are recorded one by one in each window; of what is beyond, the count. */
const mostPerWindow = 60;
const window = 60_000;
const mostKnown = 10_000;

interface Spent {
  readonly since: number;
  recorded: number;
  dropped: number;
}

/**
 * Somebody without any credentials can be refused as fast as it can ask, and so can a device that does not take no for an answer. What it makes this service write is bounded: after
 * `mostPerWindow` refusals in a window the others are only counted, and the next one that is recorded carries their number.
 */
export class RefusalBudget {
  readonly #clock: Clock;
  readonly #spent = new Map<string, Spent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: do not record this one. Else how many were not recorded before it. */
  take(who: string): number | undefined {
    const now = this.#clock.now();
    const spent = this.#spent.get(who);
    // Before that, too: the clock may have been put back.
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

/** Limits how many refusals are audited. */
export interface WithRefusalBudget {
  readonly refusals: RefusalBudget;
}
