import { Fault } from '../fault.ts';
import type { Clock } from '../ports/platform.ts';
import type { Store } from '../ports/store.ts';
import type { LoginLimits } from '../settings.ts';

const mostSubjects = 100_000;
const pollEvery = 1000;

/**
 * Counts failed logins by name and by address. A failure is stored, and every instance reads what the others stored
 * within a second, so the way of a good login costs no look-up.
 */
export class Throttle {
  readonly #failures = new Map<string, number[]>();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #limits: LoginLimits;
  #lastSeen = 0;
  #nextPoll = 0;
  #polling: Promise<void> | undefined;

  constructor(store: Store, clock: Clock, limits: LoginLimits) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Faults: tooManyRequests with the seconds to wait, which double with each failure beyond the limit. */
  check(name: string, address: string): void {
    const now = this.#clock.now();
    if (now >= this.#nextPoll && !this.#polling) {
      this.#polling = this.#poll().finally(() => {
        this.#polling = undefined;
      });
    }
    if (this.#failures.size === 0) return;
    const wait = Math.max(
      this.#wait(nameSubject(name), this.#limits.perName, now),
      this.#wait(`address:${address}`, this.#limits.perAddress, now),
    );
    if (wait > 0) {
      throw new Fault('tooManyRequests', 'too many failed logins', { retryAfter: Math.ceil(wait / 1000) });
    }
  }

  /** To be called after each failed login, whether the name exists or not. */
  async failed(name: string, address: string): Promise<void> {
    const at = this.#clock.now();
    const subjects = [nameSubject(name), `address:${address}`];
    for (const subject of subjects) this.#count(subject, at);
    const ids = await this.#store.commit(
      subjects.map((subject) => ({ op: 'insert', kind: 'loginFailure', values: { at, subject } })),
    );
    // What this process stored itself is counted already; others' failures between may be counted late, not lost.
    if (this.#lastSeen === ids[0]! - 1) this.#lastSeen = ids.at(-1)!;
    else for (const id of ids) this.#own.add(id);
  }

  readonly #own = new Set<number>();

  async #poll(): Promise<void> {
    this.#nextPoll = this.#clock.now() + pollEvery;
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'id', is: 'greater', value: this.#lastSeen }],
      order: { field: 'id', descending: false },
      limit: 1000,
    });
    const oldest = this.#clock.now() - this.#limits.window;
    for (const { id, at, subject } of records) {
      this.#lastSeen = Math.max(this.#lastSeen, id);
      if (this.#own.delete(id) || at < oldest) continue;
      this.#count(subject, at);
    }
    for (const [subject, times] of this.#failures) {
      if (times.at(-1)! < oldest) this.#failures.delete(subject);
    }
  }

  #count(subject: string, at: number): void {
    const times = this.#failures.get(subject) ?? [];
    times.push(at);
    if (times.length > 1000) times.shift();
    // Re-inserting keeps the map in order of last failure, so the one dropped is the one longest quiet.
    this.#failures.delete(subject);
    this.#failures.set(subject, times);
    if (this.#failures.size > mostSubjects) this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** Milliseconds to wait still. */
  #wait(subject: string, limit: number, now: number): number {
    const times = this.#failures.get(subject);
    if (!times) return 0;
    const recent = times.filter((at) => at > now - this.#limits.window);
    const beyond = recent.length - limit;
    if (beyond < 0) return 0;
    const last = recent.at(-1)!;
    const penalty = Math.min(this.#limits.window, 30_000 * 2 ** Math.min(beyond, 10));
    return Math.max(0, last + penalty - now);
  }
}

const nameSubject = (name: string): string => `name:${name.slice(0, 100)}`;
