import { Fault } from '../fault.ts';
import type { Clock, Log } from '../ports/platform.ts';
import type { LoginLimits } from '../ports/settings.ts';
import type { Store } from '../ports/store.ts';
import { FailureCounters } from './failure-counters.ts';
import { KnownAddresses } from './known-addresses.ts';
import {
  type Attempt,
  counted,
  failureText,
  readFailure,
  type Subjects,
  subjectsOf,
} from './throttle-subjects.ts';

/** Milliseconds. */
const pollEvery = 1000;
/**
 * How late a failure on another instance may become visible: the duration of its commit, and the difference of the
 * clocks.
 */
const overlap = 10_000;
/** Addresses with successful sign-ins may have this many times more failures, because many people may share them. */
const sharedAddressFactor = 10;

/** What the store knows of an attempt; read only if a counter is over its limit. */
export interface ThrottleState {
  readonly knownPair: boolean;
  readonly knownAddress: boolean;
}

const stranger: ThrottleState = { knownPair: false, knownAddress: false };

/**
 * Limits guesses of passwords: by name and address, by name over all addresses from which the name has not signed in,
 * and by address. Every failure is stored, and every instance reads the failures of the others within a second, so a
 * successful login needs no read.
 */
export class Throttle {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: LoginLimits;
  readonly #counters: FailureCounters;
  readonly #known: KnownAddresses;
  /** The ids of stored failures that are counted, with their times. */
  readonly #stored = new Map<number, number>();
  #polledAt = Number.NEGATIVE_INFINITY;
  #pollFrom = 0;

  constructor(ports: { store: Store; clock: Clock; log: Log }, limits: LoginLimits) {
    this.#store = ports.store;
    this.#clock = ports.clock;
    this.#log = ports.log;
    this.#limits = limits;
    this.#counters = new FailureCounters(limits.window);
    this.#known = new KnownAddresses(ports);
    this.#pollFrom = ports.clock.now() - limits.window;
  }

  /**
   * Call it before a secret is verified; `recheck` gets the result. Faults: tooManyRequests with the seconds to wait,
   * which double with each failure beyond the limit.
   */
  check(attempt: Attempt): ThrottleState | Promise<ThrottleState> {
    const now = this.#clock.now();
    if (Math.abs(now - this.#polledAt) >= pollEvery) {
      this.#polledAt = now;
      void this.#poll(now);
    }
    if (this.#counters.isEmpty) return stranger;
    const account = counted(attempt);
    const subjects = subjectsOf(account);
    refuse(this.#wait(subjects.pair, this.#limits.perName));
    if (this.#waitOf(subjects, stranger) === 0) return stranger;
    return this.#checkStanding(account, subjects);
  }

  /**
   * Call it as soon as the secret has been verified, right or wrong, and before the next await: concurrent guesses all
   * pass `check` before the first of them has failed. Faults: tooManyRequests.
   */
  recheck(attempt: Attempt, standing: ThrottleState): void {
    if (this.#counters.isEmpty) return;
    const account = counted(attempt);
    const subjects = subjectsOf(account);
    const knownPair = standing.knownPair || this.#known.remembersPair(account);
    refuse(this.#wait(subjects.pair, this.#limits.perName));
    refuse(this.#waitOf(subjects, { ...standing, knownPair }));
  }

  /** Call it after each failed login, whether the name exists or not. */
  async failed(attempt: Attempt): Promise<void> {
    const at = this.#clock.now();
    const account = counted(attempt);
    const subjects = subjectsOf(account);
    const remembered = this.#known.remembersPair(account);
    // Counts before the first await; a failure from a known address is removed again.
    this.#count(subjects, remembered, at);
    const isKnown = remembered || (await this.#known.isKnownPair(account));
    if (isKnown && !remembered) this.#counters.discount(subjects.name, at);
    const [id] = await this.#store.commit([
      { op: 'insert', kind: 'loginFailure', values: { at, subject: failureText(account, isKnown) } },
    ]);
    this.#stored.set(id!, at);
  }

  /** Call it after each successful login. Writes only once a day for a name and an address. */
  signedIn(attempt: Attempt): void {
    this.#known.signedIn(counted(attempt));
  }

  /** Removes failures that no longer count, in the store too. Call it periodically on one instance. */
  async prune(): Promise<void> {
    await this.#known.prune();
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'at', is: 'less', value: this.#clock.now() - this.#limits.window - overlap }],
      // Uses the index on the time instead of reading everything.
      order: { field: 'at', descending: false },
      limit: 1000,
    });
    if (records.length === 0) return;
    await this.#store.commit(records.map(({ id }) => ({ op: 'delete', kind: 'loginFailure', id })));
  }

  async #checkStanding(account: Attempt, subjects: Subjects): Promise<ThrottleState> {
    const knownPair = await this.#known.isKnownPair(account);
    const knownAddress = knownPair || (await this.#known.isKnownAddress(account));
    const standing = { knownPair, knownAddress };
    refuse(this.#waitOf(subjects, standing));
    return standing;
  }

  /**
   * Returns the milliseconds that an attempt has to wait because of other addresses, and because of other names from
   * its own address.
   */
  #waitOf({ name, address }: Subjects, { knownPair, knownAddress }: ThrottleState): number {
    if (knownPair) return 0;
    const { perName, perAddress } = this.#limits;
    const most = knownAddress ? perAddress * sharedAddressFactor : perAddress;
    return Math.max(this.#wait(name, perName), this.#wait(address, most));
  }

  #wait(subject: string, limit: number): number {
    const now = this.#clock.now();
    return this.#counters.wait(subject, limit, now, now + overlap);
  }

  #count({ pair, name, address }: Subjects, isKnown: boolean, at: number): void {
    this.#counters.count(pair, at);
    this.#counters.count(address, at);
    if (!isKnown) this.#counters.count(name, at);
  }

  async #poll(now: number): Promise<void> {
    try {
      await this.#readElsewhere(now);
    } catch (error) {
      this.#log.error('failed logins of other instances cannot be read', error);
    }
  }

  async #readElsewhere(now: number): Promise<void> {
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'at', is: 'greaterOrEqual', value: this.#pollFrom }],
      order: { field: 'at', descending: true },
      limit: 1000,
    });
    for (const { id, at, subject } of records) {
      if (this.#stored.has(id)) continue;
      this.#stored.set(id, at);
      const failure = readFailure(subject);
      if (failure) this.#count(subjectsOf(failure.attempt), failure.isKnown, at);
    }
    this.#pollFrom = now - overlap;
    for (const [id, at] of this.#stored) if (at < this.#pollFrom) this.#stored.delete(id);
    this.#counters.prune(now);
  }
}

/** Faults: tooManyRequests if the wait is not over. */
function refuse(wait: number): void {
  if (wait > 0)
    throw new Fault('tooManyRequests', 'too many failed logins', {
      id: 'too_many_failed_logins',
      retryAfter: Math.ceil(wait / 1000),
    });
}

/** Limits failed logins. */
export interface WithThrottle {
  readonly throttle: Throttle;
}
