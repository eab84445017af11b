import type postgres from 'postgres';
import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import {
  ask,
  type Client,
  connect,
  connectionLost,
  demandWrites,
  isCrowded,
  isLost,
  isPassing,
  isReadOnly,
  type Send,
  settle,
  type Timeouts,
  type Types,
  within,
} from './postgres-client.ts';
import type { Hosts } from './postgres-hosts.ts';
import { unavailable } from './queries.ts';

/** Of connections that there are too many of, in milliseconds. */
const crowdedPause = 50;

/** Connections for statements that stand alone. */
export class Pool {
  readonly #hosts: Hosts;
  readonly #timeouts: Timeouts;
  readonly #max: number;
  #url: string;
  #client: Client;
  /** The client has got an answer. */
  #answered = false;
  #closed = false;

  constructor(hosts: Hosts, timeouts: Timeouts, max: number) {
    this.#hosts = hosts;
    this.#timeouts = timeouts;
    this.#max = max;
    this.#url = hosts.url;
    this.#client = connect(hosts, timeouts, { max });
  }

  /** Runs a statement that may as well run twice: it does when a connection that had worked is lost, or another server is tried. */
  async query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(sql, parameters, reuse);
      } catch (error) {
        // A Fault says that time is up, or that there is nobody to ask.
        const again = isLost(error) || isReadOnly(error) || isCrowded(error) || isPassing(error);
        if (error instanceof Fault || !again || attempt > this.#hosts.count) throw error;
        if (isCrowded(error)) await Bun.sleep(crowdedPause * (1 + Math.random()));
      }
    }
  }

  async #once(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    if (this.#closed || this.#hosts.isResting) throw unavailable();
    // Whoever found out that the server takes no writes any more has found out for all.
    if (this.#url !== this.#hosts.url) this.#renew();
    const client = this.#client;
    const url = this.#url;
    const { connect, statement } = this.#timeouts;
    try {
      const { rows } = await within(
        connect + statement + 1000,
        ask(client, sql, parameters, reuse),
        () => {},
      );
      if (client === this.#client) {
        this.#answered = true;
        this.#hosts.worked(url);
      }
      return rows;
    } catch (error) {
      if (client === this.#client) {
        if (isReadOnly(error)) this.#hosts.demoted(url);
        if (isLost(error) && !this.#closed) {
          if (!this.#answered) this.#hosts.failed(url);
          this.#renew();
        }
      }
      throw error;
    }
  }

  /**
   * A connection that breaks while a message waits to be written never works again (postgres.js 3.4.9: `closed` clears
   * nextWriteTimer but does not forget it). So after any loss the pool starts afresh.
   */
  #renew(): void {
    void this.#client.end({ timeout: 1 });
    this.#answered = false;
    this.#url = this.#hosts.url;
    this.#client = connect(this.#hosts, this.#timeouts, { max: this.#max });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.end({ timeout: 1 });
  }
}

interface Session {
  readonly url: string;
  readonly client: Client;
  readonly sql: postgres.ReservedSql<Types>;
  /** `over`: why nothing more can be sent. */
  readonly state: { over?: Error };
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
}

/** Commits; in a transaction of one statement it is that one which does. */
export type Commit = (sql?: string, parameters?: readonly SqlValue[]) => Promise<void>;

export interface Transaction<P, T> {
  /** One statement, by which `work` commits, is a transaction by itself: nothing begins and ends it. */
  readonly isOne?: boolean;
  /** What does not need the transaction and changes nothing: it goes in one round trip with BEGIN, if there is one. */
  prelude(send: Send): Promise<P>;
  /**
   * Calls `commit` once. It may do so before its statements are answered: PostgreSQL commits nothing where one of them has
   * failed, and `work` must then throw what that one threw.
   */
  work(prepared: P, send: Send, commit: Commit): Promise<T>;
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
  readonly #hosts: Hosts;
  readonly #timeouts: Timeouts;
  #session: Session | undefined;

  constructor(hosts: Hosts, timeouts: Timeouts) {
    this.#hosts = hosts;
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
  async pipelined<P, T>({ isOne = false, prelude, work }: Transaction<P, T>): Promise<T> {
    let committing = false;
    let session: Session | undefined;
    try {
      session = this.#session ??= await this.#open();
      const send = this.#sender(session);
      const commit: Commit = async (sql = 'commit', parameters = []) => {
        committing = true;
        await send(sql, parameters);
      };
      try {
        const [prepared] = await settle([prelude(send), isOne ? undefined : send('begin', [])]);
        return await work(prepared, send, commit);
      } catch (error) {
        if (!isOne && !isLost(error)) await send('rollback', []);
        throw error;
      }
    } catch (error) {
      const lost = isLost(error);
      if (session && isReadOnly(error)) this.#hosts.demoted(session.url);
      if (session && (lost || isReadOnly(error))) await this.#drop(session);
      throw new TransactionError(error, committing && lost);
    }
  }

  #sender({ sql, state, lost }: Session): Send {
    const late = () => {
      state.over ??= unavailable();
    };
    return async (text, parameters) => {
      if (state.over) throw state.over;
      const answer = Promise.race([ask(sql, text, parameters, true), lost]);
      return within(this.#timeouts.statement + 1000, answer, late);
    };
  }

  async #open(): Promise<Session> {
    if (this.#hosts.isResting) throw unavailable();
    const { url } = this.#hosts;
    const state: Session['state'] = {};
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const onclose = () => {
      state.over ??= connectionLost();
      reject(state.over);
    };
    const client = connect(this.#hosts, this.#timeouts, { max: 1, onclose });
    try {
      const reserve = async () => {
        await demandWrites(client, this.#hosts);
        return client.reserve();
      };
      const sql = await within(this.#timeouts.connect + 1000, reserve(), () => {});
      this.#hosts.worked(url);
      return { url, client, sql, state, lost };
    } catch (error) {
      if (!isCrowded(error)) this.#hosts.failed(url);
      await client.end({ timeout: 0 });
      throw error;
    }
  }

  async #drop(session: Session): Promise<void> {
    session.state.over ??= connectionLost();
    this.#session = undefined;
    await session.client.end({ timeout: 0 });
  }

  async close(): Promise<void> {
    if (this.#session) await this.#drop(this.#session);
  }
}
