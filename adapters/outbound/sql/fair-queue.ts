import { Fault } from '#core/fault.ts';

const mostWaiting = 64;
/** Milliseconds after which the client has given up anyway. */
const longestWait = 30_000;

interface Waiting {
  begin(): void;
  refuse(fault: Fault): void;
  readonly timer: Timer;
}

/**
 * Shares the database readers fairly between accounts: an account runs one query at a time, its other queries wait. So an
 * account with slow queries delays another account by at most one query.
 */
export class FairQueue {
  #free: number;
  /** The waiting queries by account; the account that has waited longest is first. `#busy` holds accounts with a running query. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();

  constructor(readers: number) {
    this.#free = readers;
  }

  /** Runs `query` when it is the account's turn. Faults: unavailable when too many queries wait or one waits too long; those of `query`. */
  async run<T>(account: string, query: () => Promise<T>): Promise<T> {
    if (this.#free > 0 && !this.#busy.has(account)) this.#begin(account);
    else await this.#turn(account);
    try {
      return await query();
    } finally {
      this.#end(account);
    }
  }

  #begin(account: string): void {
    this.#free--;
    this.#busy.add(account);
  }

  #turn(account: string): Promise<void> {
    const waiting = this.#waiting.get(account) ?? [];
    if (waiting.length >= mostWaiting) return Promise.reject(tooMany());
    this.#waiting.set(account, waiting);
    return new Promise((resolve, reject) => {
      const late = (): void => {
        waiting.splice(waiting.indexOf(one), 1);
        reject(tooMany());
      };
      const one: Waiting = { begin: resolve, refuse: reject, timer: setTimeout(late, longestWait) };
      waiting.push(one);
    });
  }

  /** Starts a query of the next waiting account that has none running, and moves that account to the end of the queue. */
  #end(account: string): void {
    this.#free++;
    this.#busy.delete(account);
    for (const [next, waiting] of this.#waiting) {
      if (this.#busy.has(next)) continue;
      const one = waiting.shift();
      this.#waiting.delete(next);
      if (waiting.length > 0) this.#waiting.set(next, waiting);
      if (!one) continue;
      clearTimeout(one.timer);
      this.#begin(next);
      one.begin();
      return;
    }
  }

  /** Rejects the waiting queries. */
  close(fault: Fault): void {
    for (const waiting of this.#waiting.values()) {
      for (const { refuse, timer } of waiting) {
        clearTimeout(timer);
        refuse(fault);
      }
    }
    this.#waiting.clear();
  }
}

const tooMany = (): Fault =>
  new Fault('unavailable', 'this account has too many queries in progress', { retryAfter: 5 });
