import type { Log } from '#core/ports/platform.ts';
import { isLoss, isWrongPin, TokenFailure } from './failure.ts';
import type { Place, TokenFacts } from './messages.ts';
import type { PinGuard } from './pin-guard.ts';
import { TokenProcess } from './token-process.ts';
import { Turns } from './turns.ts';

export interface ConnectionOptions {
  readonly place: Place;
  readonly environment: Readonly<Record<string, string>>;
  readonly pin: PinGuard;
  /** The number of concurrent operations. */
  readonly sessions: number;
  /** Milliseconds to wait for a response. */
  readonly patience: number;
  readonly log: Log;
}

/** The pause between two attempts to connect, in milliseconds; it doubles. */
const firstPause = 250;
const longestPause = 10_000;

interface Connection {
  readonly process: TokenProcess;
  readonly facts: TokenFacts;
}

/**
 * A connection to a token. After a loss, the next operation reconnects, after a pause that grows with each failed
 * attempt. During the pause operations fail at once.
 */
export class TokenConnection {
  readonly #options: ConnectionOptions;
  readonly #turns: Turns;
  /** The processes that have not ended, including abandoned ones. */
  readonly #processes = new Set<TokenProcess>();
  #connection: Promise<Connection> | undefined;
  #lost: { readonly failure: TokenFailure; readonly attempts: number; readonly until: number } | undefined;
  #facts: TokenFacts | undefined;
  #checking: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#turns = new Turns(options.sessions, options.patience);
  }

  /** The latest information about the token; undefined before the first connection. */
  get facts(): TokenFacts | undefined {
    return this.#facts;
  }

  /**
   * Runs an operation in its turn. If the connection is lost meanwhile and `again` allows it, the operation is repeated
   * once on a new connection. Errors: TokenFailure.
   */
  use<T>(
    work: (process: TokenProcess) => Promise<T>,
    { again, signal }: { readonly again: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<T> {
    return this.#turns.take(async () => {
      try {
        return await this.#attempt(work);
      } catch (error) {
        // After a timeout, a second attempt would most likely time out too.
        const lost = error instanceof TokenFailure && isLoss(error) && error.kind !== 'late';
        if (!again || !lost || this.#lost) throw error;
      }
      try {
        return await this.#attempt(work);
      } catch (error) {
        // The loss occurred again on a new connection.
        if (error instanceof TokenFailure && isLoss(error)) this.#failed(error);
        throw error;
      }
    }, signal);
  }

  /** Connects to the token unless it is connected. Errors: TokenFailure. */
  async reach(): Promise<void> {
    await this.#reached();
  }

  /** Checks that the token is present, ahead of waiting operations. Errors: TokenFailure. */
  check(): Promise<void> {
    const { patience } = this.#options;
    this.#checking ??= this.#attempt(async (process) => {
      await process.ask('check', null, patience);
    }).finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#processes].map((process) => process.close()));
  }

  async #attempt<T>(work: (process: TokenProcess) => Promise<T>): Promise<T> {
    const reaching = this.#reached();
    const { process } = await reaching;
    try {
      const result = await work(process);
      if (this.#lost) this.#options.log.info('token connection restored', { token: this.#facts?.label });
      this.#lost = undefined;
      return result;
    } catch (error) {
      if (error instanceof TokenFailure && isLoss(error) && this.#connection === reaching) {
        this.#connection = undefined;
        if (error.kind === 'late') this.#failed(error);
        void process.close();
      }
      throw error;
    }
  }

  #reached(): Promise<Connection> {
    if (this.#connection) return this.#connection;
    if (this.#closed) return Promise.reject(new TokenFailure('ended', 'the key store is closed'));
    if (this.#lost && performance.now() < this.#lost.until) return Promise.reject(this.#lost.failure);
    const connecting = this.#connect();
    this.#connection = connecting;
    connecting.then(
      ({ facts }) => {
        this.#facts = facts;
      },
      (error) => {
        this.#connection = undefined;
        this.#failed(error);
      },
    );
    return connecting;
  }

  async #connect(): Promise<Connection> {
    const { place, environment, pin, sessions, patience } = this.#options;
    const process = new TokenProcess(environment, sessions);
    this.#processes.add(process);
    void process.ended.then(() => this.#processes.delete(process));
    try {
      const facts = await process.ask('open', place, patience);
      await pin.use(facts, (text) => process.ask('login', { pin: text }, patience));
      return { process, facts };
    } catch (error) {
      await process.close();
      if (isWrongPin(error)) throw new TokenFailure('pin', 'the token rejects the configured PIN');
      if (error instanceof TokenFailure) throw error;
      // The PIN record cannot be read or written.
      throw new TokenFailure('pin', error instanceof Error ? error.message : String(error));
    }
  }

  #failed(failure: TokenFailure): void {
    // Every operation that waited for the same attempt reports its failure here.
    if (this.#lost?.failure === failure) return;
    const attempts = (this.#lost?.attempts ?? 0) + 1;
    if (!this.#lost) this.#options.log.warn('token connection lost', { reason: failure.message });
    const pause = Math.min(longestPause, firstPause * 2 ** (attempts - 1));
    this.#lost = { failure, attempts, until: performance.now() + pause };
  }
}
