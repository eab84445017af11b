import { Fault } from '../fault.ts';
import type { Log } from '../ports/logs.ts';
import type { Clock } from '../ports/platform.ts';
import type { LoginLimits } from '../ports/settings.ts';
import type { Store } from '../ports/store.ts';

const mostSubjects = 100_000;
const mostTimes = 1000;
/** Milliseconds. */
const pollEvery = 1000;
/** How late another instance's failure may become visible after its time: its commit, and its clock. */
const overlap = 10_000;
const firstPenalty = 30_000;

/**
 * Counts failed logins by name and by address. A failure is stored, and every instance reads what the others stored
 * within a second, so the way of a good login costs no look-up.
 */
export class Throttle {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: LoginLimits;
  /** Times of the failures of each subject, the subject that failed last at the end. */
  readonly #failures = new Map<string, number[]>();
  /** Ids of stored failures that are counted, with their times. */
  readonly #counted = new Map<number, number>();
  #polledAt = Number.NEGATIVE_INFINITY;
  #pollFrom = 0;

  constructor(ports: { store: Store; clock: Clock; log: Log }, limits: LoginLimits) {
    this.#store = ports.store;
    this.#clock = ports.clock;
    this.#log = ports.log;
    this.#limits = limits;
    this.#pollFrom = ports.clock.now() - limits.window;
  }

  /** Faults: tooManyRequests with the seconds to wait, which double with each failure beyond the limit. */
  check(name: string, address: string): void {
    const now = this.#clock.now();
    if (Math.abs(now - this.#polledAt) >= pollEvery) {
      this.#polledAt = now;
      void this.#poll(now);
    }
    if (this.#failures.size === 0) return;
    const wait = Math.max(
      this.#wait(nameSubject(name), this.#limits.perName, now),
      this.#wait(addressSubject(address), this.#limits.perAddress, now),
    );
    if (wait > 0) {
      throw new Fault('tooManyRequests', 'too many failed logins', { retryAfter: Math.ceil(wait / 1000) });
    }
  }

  /** To be called after each failed login, whether the name exists or not. */
  async failed(name: string, address: string): Promise<void> {
    const at = this.#clock.now();
    const subjects = [nameSubject(name), addressSubject(address)];
    for (const subject of subjects) this.#count(subject, at);
    const ids = await this.#store.commit(
      subjects.map((subject) => ({ op: 'insert', kind: 'loginFailure', values: { at, subject } })),
    );
    for (const id of ids) this.#counted.set(id, at);
  }

  /** Forgets what no longer counts, in the store too; one instance does it now and then. */
  async prune(): Promise<void> {
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'at', is: 'less', value: this.#clock.now() - this.#limits.window - overlap }],
      limit: 1000,
    });
    if (records.length === 0) return;
    await this.#store.commit(records.map(({ id }) => ({ op: 'delete', kind: 'loginFailure', id })));
  }

  async #poll(now: number): Promise<void> {
    try {
      await this.#readElsewhere(now);
    } catch (error) {
      this.#log.error('failed logins elsewhere cannot be read', error);
    }
  }

  async #readElsewhere(now: number): Promise<void> {
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'at', is: 'greaterOrEqual', value: this.#pollFrom }],
      limit: 1000,
    });
    for (const { id, at, subject } of records) {
      if (this.#counted.has(id)) continue;
      this.#counted.set(id, at);
      this.#count(subject, at);
    }
    this.#pollFrom = now - overlap;
    for (const [id, at] of this.#counted) if (at < this.#pollFrom) this.#counted.delete(id);
    for (const [subject, times] of this.#failures) {
      if (times.at(-1)! < now - this.#limits.window) this.#failures.delete(subject);
    }
  }

  #count(subject: string, at: number): void {
    const times = this.#failures.get(subject) ?? [];
    times.push(at);
    if (times.length > mostTimes) times.shift();
    this.#failures.delete(subject);
    this.#failures.set(subject, times);
    if (this.#failures.size > mostSubjects) this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** Milliseconds to wait still. */
  #wait(subject: string, limit: number, now: number): number {
    // Those that are yet to come are of a clock that has been put back.
    const isRecent = (at: number): boolean => at > now - this.#limits.window && at <= now + overlap;
    const recent = this.#failures.get(subject)?.filter(isRecent) ?? [];
    const beyond = recent.length - limit;
    if (beyond < 0) return 0;
    const penalty = Math.min(this.#limits.window, firstPenalty * 2 ** Math.min(beyond, 10));
    return Math.max(0, Math.max(...recent) + penalty - now);
  }
}

const nameSubject = (name: string): string => `name:${name.slice(0, 100)}`;

/** Whoever has one IPv6 address has its whole /64. */
const addressSubject = (address: string): string =>
  `address:${address.includes(':') ? network64(address) : address}`;

function network64(address: string): string {
  const [left = '', right = ''] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === '' ? [] : right.split(':');
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - head.length - tail.length)).fill('0') : [];
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}

/** Limits failed logins. */
export interface WithThrottle {
  readonly throttle: Throttle;
}
