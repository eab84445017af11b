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
/** How late another instance's failure may become visible after its time: its commit, and its clock. */
const overlap = 10_000;
/** So many times more failures may come from an address from which somebody has signed in: many may share it. */
const sharedAddressFactor = 10;

/** What is known of an attempt from the store; looked up only if a counter is over its limit. */
export interface ThrottleState {
  readonly knownPair: boolean;
  readonly knownAddress: boolean;
}

const stranger: ThrottleState = { knownPair: false, knownAddress: false };

/**
 * Limits the guesses at names: by name and address, by name over all addresses from which the name has not signed in, and by
 * address. A failure is stored, and every instance reads what the others stored within a second, so a good login costs no look-up.
 */
export class Throttle {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: LoginLimits;
  readonly #counters: FailureCounters;
  readonly #known: KnownAddresses;
  /** Ids of stored failures that are counted, with their times. */
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
   * To be called before a secret is verified; `recheck` gets the result. Faults: tooManyRequests with the seconds to wait, which
   * double with each failure beyond the limit.
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
   * To be called when the secret has been verified, whether it is right or not, and before anything is awaited after it: of many
   * guesses that come at once, all pass `check` before the first of them has failed. Faults: tooManyRequests.
   */
  recheck(attempt: Attempt, standing: ThrottleState): void {
    if (this.#counters.isEmpty) return;
    const account = counted(attempt);
    const subjects = subjectsOf(account);
    const knownPair = standing.knownPair || this.#known.remembersPair(account);
    refuse(this.#wait(subjects.pair, this.#limits.perName));
    refuse(this.#waitOf(subjects, { ...standing, knownPair }));
  }

  /** To be called after each failed login, whether the name exists or not. */
  async failed(attempt: Attempt): Promise<void> {
    const at = this.#clock.now();
    const account = counted(attempt);
    const subjects = subjectsOf(account);
    const remembered = this.#known.remembersPair(account);
    // Counted before anything is awaited; what turns out to come from a known address is taken back.
    this.#count(subjects, remembered, at);
    const isKnown = remembered || (await this.#known.isKnownPair(account));
    if (isKnown && !remembered) this.#counters.discount(subjects.name, at);
    const [id] = await this.#store.commit([
      { op: 'insert', kind: 'loginFailure', values: { at, subject: failureText(account, isKnown) } },
    ]);
    this.#stored.set(id!, at);
  }

  /** To be called after each successful login. Costs nothing but once a day for a name and an address. */
  signedIn(attempt: Attempt): void {
    this.#known.signedIn(counted(attempt));
  }

  /** Forgets what no longer counts, in the store too; one instance does it now and then. */
  async prune(): Promise<void> {
    await this.#known.prune();
    const { records } = await this.#store.list('loginFailure', {
      where: [{ field: 'at', is: 'less', value: this.#clock.now() - this.#limits.window - overlap }],
      // The index by time, not all that is stored.
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

  /** Milliseconds that an attempt has to wait because of other addresses, and of other names from its own. */
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
      this.#log.error('failed logins elsewhere cannot be read', error);
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

/** Faults: tooManyRequests when there are milliseconds to wait. */
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
