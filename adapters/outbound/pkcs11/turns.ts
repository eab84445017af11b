import { TokenFailure } from './failure.ts';

interface Waiting {
  begin(): void;
  give(failure: TokenFailure): void;
}

const mostWaiting = 10_000;

/** Limits concurrent operations. The others wait in order. */
export class Turns {
  readonly #most: number;
  readonly #patience: number;
  readonly #waiting = new Set<Waiting>();
  #under = 0;

  /** `patience`: the longest wait in milliseconds. */
  constructor(most: number, patience: number) {
    this.#most = most;
    this.#patience = patience;
  }

  /** Errors: those of `work`; TokenFailure `busy`; the reason of `signal`. */
  async take<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    if (this.#under < this.#most) this.#under++;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      // The next waiting operation takes over the place.
      const [next] = this.#waiting;
      if (next) next.begin();
      else this.#under--;
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= mostWaiting)
      throw new TokenFailure('busy', 'too many requests are waiting for the token');
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
        settle();
      };
      const waiting: Waiting = {
        begin: () => end(resolve),
        give: (failure) => end(() => reject(failure)),
      };
      const aborted = () => end(() => reject(signal?.reason));
      const busy = new TokenFailure('busy', 'the token is busy');
      const timer = setTimeout(() => waiting.give(busy), this.#patience);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(waiting);
    });
  }
}
