const mostSubjects = 100_000;
const mostTimes = 1000;
/** Milliseconds of the first wait. It doubles with each failure beyond the limit, up to the window. */
const firstPenalty = 30_000;

/** Counts recent failures by subject, in memory and bounded. */
export class FailureCounters {
  readonly #window: number;
  /** The subject with the latest failure comes last. */
  readonly #times = new Map<string, number[]>();

  /** `window`: milliseconds after which a failure no longer counts. */
  constructor(window: number) {
    this.#window = window;
  }

  get isEmpty(): boolean {
    return this.#times.size === 0;
  }

  count(subject: string, at: number): void {
    const times = this.#times.get(subject) ?? [];
    times.push(at);
    if (times.length > mostTimes) times.shift();
    this.#times.delete(subject);
    this.#times.set(subject, times);
    if (this.#times.size > mostSubjects) this.#times.delete(this.#times.keys().next().value!);
  }

  /** Removes one failure that was counted at this time. */
  discount(subject: string, at: number): void {
    const times = this.#times.get(subject);
    const index = times?.lastIndexOf(at) ?? -1;
    if (index < 0) return;
    times!.splice(index, 1);
    if (times!.length === 0) this.#times.delete(subject);
  }

  /**
   * Returns the milliseconds that a subject has to wait. Failures later than `latest` were counted before the clock was
   * set back.
   */
  wait(subject: string, limit: number, now: number, latest: number): number {
    const times = this.#times.get(subject);
    if (!times) return 0;
    const recent = times.filter((at) => at > now - this.#window && at <= latest);
    const beyond = recent.length - limit;
    if (beyond < 0) return 0;
    const penalty = Math.min(this.#window, firstPenalty * 2 ** Math.min(beyond, 10));
    return Math.max(0, Math.max(...recent) + penalty - now);
  }

  /** Removes subjects whose failures are all outside of the window. */
  prune(now: number): void {
    for (const [subject, times] of this.#times) {
      if (times.at(-1)! < now - this.#window) this.#times.delete(subject);
    }
  }
}
