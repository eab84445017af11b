import { Fault } from '../fault.ts';
import type { Clock, Log } from '../ports/platform.ts';
import type { Condition, Store, Write } from '../ports/store.ts';
import { type Attempt, subjectsOf } from './throttle-subjects.ts';

const day = 24 * 3_600_000;
const knownFor = 30 * day;
/** A sign-in is recorded again after this time, so that an account that signs in constantly costs one write a day. */
const recordedFor = day;
const mostPerName = 16;
const mostRemembered = 50_000;
const mostWaiting = 10_000;
const mostAtOnce = 50;
/** Milliseconds for which an answer of the store is reused. */
const yesHolds = 60_000;
const noHolds = 1000;

/**
 * The addresses from which accounts have signed in within 30 days, at most 16 for each name, so that the store stays
 * bounded. Sign-ins are recorded in the background, and read only while somebody is throttled.
 */
export class KnownAddresses {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  /** When this process recorded a pair of name and address; the oldest first. */
  readonly #recorded = new Map<string, number>();
  /** The last address of each name that this process has seen. */
  readonly #lastAddress = new Map<string, string>();
  readonly #waiting = new Map<string, Attempt>();
  #writing: Promise<void> | undefined;
  readonly #answers = new Map<string, { readonly known: boolean; readonly until: number }>();

  constructor({ store, clock, log }: { store: Store; clock: Clock; log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Records a successful sign-in, in the background. */
  signedIn(attempt: Attempt): void {
    const { pair } = subjectsOf(attempt);
    const now = this.#clock.now();
    const recordedAt = this.#recorded.get(pair);
    if (recordedAt !== undefined && Math.abs(now - recordedAt) < recordedFor) return;
    remember(this.#recorded, pair, now);
    if (this.#waiting.size >= mostWaiting) return;
    this.#waiting.set(pair, attempt);
    this.#writing ??= this.#write();
  }

  /** Returns whether this process knows, without a read, that the name has signed in from the address. */
  remembersPair(attempt: Attempt): boolean {
    const { pair } = subjectsOf(attempt);
    const recordedAt = this.#recorded.get(pair);
    if (recordedAt !== undefined && Math.abs(this.#clock.now() - recordedAt) < knownFor) return true;
    return this.#answerFor(pair) === true;
  }

  /** Returns whether the name has signed in from the address. */
  async isKnownPair(attempt: Attempt): Promise<boolean> {
    if (this.remembersPair(attempt)) return true;
    return this.#ask(
      subjectsOf(attempt).pair,
      [{ field: 'name', is: 'equal', value: attempt.name }],
      attempt,
    );
  }

  /** Returns whether any name of the realm has signed in from the address. */
  isKnownAddress(attempt: Attempt): Promise<boolean> {
    return this.#ask(subjectsOf(attempt).address, [], attempt);
  }

  /** Deletes expired addresses from the store, a thousand at a time. */
  async prune(): Promise<void> {
    const { records } = await this.#store.list('knownAddress', {
      where: [{ field: 'at', is: 'less', value: this.#clock.now() - knownFor - recordedFor }],
      order: { field: 'at', descending: false },
      limit: 1000,
    });
    if (records.length === 0) return;
    await this.#store.commit(records.map(({ id }) => ({ op: 'delete', kind: 'knownAddress', id })));
  }

  #answerFor(subject: string): boolean | undefined {
    const answer = this.#answers.get(subject);
    return answer && answer.until > this.#clock.now() ? answer.known : undefined;
  }

  async #ask(
    subject: string,
    where: readonly Condition<'knownAddress'>[],
    { realm, address }: Attempt,
  ): Promise<boolean> {
    const answer = this.#answerFor(subject);
    if (answer !== undefined) return answer;
    const { records } = await this.#store.list('knownAddress', {
      where: [
        { field: 'realm', is: 'equal', value: realm },
        ...where,
        { field: 'address', is: 'equal', value: address },
        { field: 'at', is: 'greater', value: this.#clock.now() - knownFor },
      ],
      limit: 1,
    });
    const known = records.length > 0;
    remember(this.#answers, subject, { known, until: this.#clock.now() + (known ? yesHolds : noHolds) });
    return known;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        const batch = [...this.#waiting].slice(0, mostAtOnce);
        for (const [pair] of batch) this.#waiting.delete(pair);
        await Promise.all(batch.map(([pair, attempt]) => this.#record(pair, attempt)));
      }
    } finally {
      this.#writing = undefined;
    }
  }

  async #record(pair: string, attempt: Attempt): Promise<void> {
    const { realm, name, address } = attempt;
    const at = this.#clock.now();
    try {
      const surplus = await this.#surplus(attempt);
      const values = { realm, name, address, at };
      await this.#store
        .commit([...surplus, { op: 'insert', kind: 'knownAddress', values }])
        .catch((error) => this.#renew(attempt, at, error));
    } catch (error) {
      this.#recorded.delete(pair);
      this.#log.error('the address of a sign-in could not be recorded', error);
    }
  }

  /** Returns the writes that make room for another address. Most accounts use one address, and need no read. */
  async #surplus(attempt: Attempt): Promise<readonly Write[]> {
    const { realm, name, address } = attempt;
    const subject = subjectsOf(attempt).name;
    const before = this.#lastAddress.get(subject);
    remember(this.#lastAddress, subject, address);
    if (before === undefined || before === address) return [];
    const { records } = await this.#store.list('knownAddress', {
      where: [
        { field: 'realm', is: 'equal', value: realm },
        { field: 'name', is: 'equal', value: name },
      ],
      order: { field: 'at', descending: false },
      limit: 1000,
    });
    if (records.some((record) => record.address === address)) return [];
    return records
      .slice(0, Math.max(0, records.length + 1 - mostPerName))
      .map(({ id }) => ({ op: 'delete', kind: 'knownAddress', id }));
  }

  /** If the address is already recorded, by this process or another, updates its time. */
  async #renew({ realm, name, address }: Attempt, at: number, error: unknown): Promise<void> {
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
    const record = await this.#store.find('knownAddress', { realm, name, address });
    if (!record) throw error;
    await this.#store.commit([{ op: 'update', kind: 'knownAddress', id: record.id, set: { at } }]);
  }
}

/** Sets an entry, and removes the oldest one if there are too many. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > mostRemembered) map.delete(map.keys().next().value!);
}
