import type postgres from 'postgres';
import type { Row, SqlValue } from './codec.ts';
import { unavailable } from './driver.ts';
import {
  ask,
  type Client,
  connect,
  isLost,
  type Send,
  type Timeouts,
  type Types,
  within,
} from './postgres-client.ts';

/** Connections for statements that stand alone. */
export class Pool {
  readonly #connect: () => Client;
  readonly #deadline: number;
  #client: Client;

  constructor(url: string, timeouts: Timeouts, max: number) {
    this.#connect = () => connect(url, timeouts, { max });
    this.#deadline = timeouts.connect + timeouts.statement + 1000;
    this.#client = this.#connect();
  }

  async query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    const client = this.#client;
    try {
      const { rows } = await within(this.#deadline, ask(client, sql, parameters, reuse), () => {});
      return rows;
    } catch (error) {
      if (isLost(error)) this.#renew(client);
      throw error;
    }
  }

  /**
   * A connection that breaks while a message waits to be written never works again (postgres.js 3.4.9: `closed` clears
   * nextWriteTimer but does not forget it). So after any loss the pool starts afresh.
   */
  #renew(broken: Client): void {
    if (this.#client !== broken) return;
    this.#client = this.#connect();
    void broken.end({ timeout: 1 });
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
  #session: Session | undefined;

  constructor(url: string, timeouts: Timeouts) {
    this.#url = url;
    this.#timeouts = timeouts;
  }

  /** Runs `work` in a transaction and commits it. Throws TransactionError. */
  async transaction<T>(work: (send: Send) => Promise<T>): Promise<T> {
    let committing = false;
    let session: Session | undefined;
    try {
      session = this.#session ??= await this.#open();
      const send = this.#sender(session);
      await send('begin', []);
      try {
        const result = await work(send);
        committing = true;
        await send('commit', []);
        return result;
      } catch (error) {
        if (!isLost(error) && !committing) await send('rollback', []);
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
