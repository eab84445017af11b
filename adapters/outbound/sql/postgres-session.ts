import type postgres from 'postgres';
import type { Row, SqlValue } from './codec.ts';
import { unavailable } from './driver.ts';
import {
  ask,
  type Client,
  connect,
  isLost,
  type Send,
  settle,
  type Timeouts,
  type Types,
  within,
} from './postgres-client.ts';

/** While a server is away, one attempt to connect in so many milliseconds is enough for all who ask. */
const pause = 200;

class Attempts {
  #notBefore = 0;

  /** Faults: unavailable, shortly after an attempt that failed. */
  demand(): void {
    if (performance.now() < this.#notBefore) throw unavailable();
  }

  failed(): void {
    this.#notBefore = performance.now() + pause;
  }
}

/** Connections for statements that stand alone. */
export class Pool {
  readonly #connect: () => Client;
  readonly #deadline: number;
  readonly #attempts = new Attempts();
  #client: Client;
  /** The client has got an answer. */
  #answered = false;

  constructor(url: string, timeouts: Timeouts, max: number) {
    this.#connect = () => connect(url, timeouts, { max });
    this.#deadline = timeouts.connect + timeouts.statement + 1000;
    this.#client = this.#connect();
  }

  async query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    this.#attempts.demand();
    const client = this.#client;
    try {
      const { rows } = await within(this.#deadline, ask(client, sql, parameters, reuse), () => {});
      if (client === this.#client) this.#answered = true;
      return rows;
    } catch (error) {
      if (isLost(error) && client === this.#client) this.#renew();
      throw error;
    }
  }

  /**
   * A connection that breaks while a message waits to be written never works again (postgres.js 3.4.9: `closed` clears
   * nextWriteTimer but does not forget it). So after any loss the pool starts afresh.
   */
  #renew(): void {
    void this.#client.end({ timeout: 1 });
    if (!this.#answered) this.#attempts.failed();
    this.#answered = false;
    this.#client = this.#connect();
  }

  async close(): Promise<void> {
    await this.#client.end({ timeout: 1 });
  }
}

interface Session {
  readonly client: Client;
  readonly sql: postgres.ReservedSql<Types>;
  readonly state: { open: boolean };
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
}

export interface Transaction<P, T> {
  /** What does not need the transaction and changes nothing: it goes in one round trip with BEGIN. */
  prelude(send: Send): Promise<P>;
  /**
   * Calls `commit` once. It may do so before its statements are answered: PostgreSQL commits nothing where one of them has
   * failed, and `work` must then throw what that one threw.
   */
  work(prepared: P, send: Send, commit: () => Promise<void>): Promise<T>;
}

/** A transaction failed; why is its cause. */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /** The connection was lost during COMMIT: it may have taken effect. */
  readonly uncertain: boolean;

  constructor(cause: unknown, uncertain: boolean) {
    super('the transaction failed', { cause });
    this.uncertain = uncertain;
  }
}

/**
 * The one connection on which transactions run, one at a time. postgres.js' own `begin` will not do: when the connection
 * breaks, it writes its ROLLBACK to a socket that is gone, which throws where nobody can catch it. Here nothing is sent
 * on a connection that is known to be lost, and one that failed is never used again.
 */
export class Writer {
  readonly #url: string;
  readonly #timeouts: Timeouts;
  readonly #attempts = new Attempts();
  #session: Session | undefined;

  constructor(url: string, timeouts: Timeouts) {
    this.#url = url;
    this.#timeouts = timeouts;
  }

  /** Runs `work` in a transaction and commits it. Throws TransactionError. */
  transaction<T>(work: (send: Send) => Promise<T>): Promise<T> {
    return this.pipelined({
      prelude: async () => {},
      async work(_, send, commit) {
        const result = await work(send);
        await commit();
        return result;
      },
    });
  }

  /** A transaction of few round trips. Throws TransactionError. */
  async pipelined<P, T>({ prelude, work }: Transaction<P, T>): Promise<T> {
    let committing = false;
    let session: Session | undefined;
    try {
      session = this.#session ??= await this.#open();
      const send = this.#sender(session);
      const commit = async () => {
        committing = true;
        await send('commit', []);
      };
      try {
        const [prepared] = await settle([prelude(send), send('begin', [])]);
        return await work(prepared, send, commit);
      } catch (error) {
        if (!isLost(error)) await send('rollback', []);
        throw error;
      }
    } catch (error) {
      const lost = isLost(error);
      if (session && lost) await this.#drop(session);
      throw new TransactionError(error, committing && lost);
    }
  }

  #sender({ sql, state, lost }: Session): Send {
    const late = () => {
      state.open = false;
    };
    return async (text, parameters) => {
      if (!state.open) throw unavailable();
      const answer = Promise.race([ask(sql, text, parameters, true), lost]);
      return within(this.#timeouts.statement + 1000, answer, late);
    };
  }

  async #open(): Promise<Session> {
    this.#attempts.demand();
    const state = { open: true };
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const onclose = () => {
      state.open = false;
      reject(unavailable());
    };
    const client = connect(this.#url, this.#timeouts, { max: 1, onclose });
    try {
      const reserve = async () => {
        await client`select 1`;
        return client.reserve();
      };
      const sql = await within(this.#timeouts.connect + 1000, reserve(), () => {});
      return { client, sql, state, lost };
    } catch (error) {
      this.#attempts.failed();
      await client.end({ timeout: 0 });
      throw error;
    }
  }

  async #drop(session: Session): Promise<void> {
    session.state.open = false;
    this.#session = undefined;
    await session.client.end({ timeout: 0 });
  }

  async close(): Promise<void> {
    if (this.#session) await this.#drop(this.#session);
  }
}
