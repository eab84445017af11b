import { Fault } from '#core/fault.ts';

const mostWaiting = 64;
/** Milliseconds: by then the client has given up. */
const longestWait = 30_000;

interface Waiting {
  begin(): void;
  refuse(fault: Fault): void;
  readonly timer: Timer;
}

/**
 * Deals out the readers that all accounts share: an account has one query under way, and its others wait. So an account that asks for
 * what takes long keeps no other account waiting for more than one query.
 */
export class AccountTurns {
  #free: number;
  /** By account, the one that has waited longest for its turn first. An account with a query under way is in `#busy`. */
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #busy = new Set<string>();

  constructor(readers: number) {
    this.#free = readers;
  }

  /** Faults: unavailable when the account has too many waiting, or one that waits too long; those of `query`. */
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

  /** The next account that waits and has no query under way has its turn; then it stands last. */
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

  /** Refuses those that wait. */
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
