import type postgres from 'postgres';
import type { SqlValue } from './codec.ts';
import {
  type Answer,
  ask,
  type Client,
  connect,
  connectionLost,
  demandWrites,
  isCrowded,
  isLost,
  isReadOnly,
  isUnreplicated,
  type Send,
  type Sight,
  settle,
  type Timeouts,
  type Types,
  Unreplicated,
  within,
} from './postgres-client.ts';
import type { Hosts } from './postgres-hosts.ts';
import { unavailable } from './queries.ts';

interface Session {
  readonly url: string;
  readonly client: Client;
  readonly sql: postgres.ReservedSql<Types>;
  /**
   * `over`: the reason why nothing more can be sent. `unreplicated`: the last commit took effect only on this server.
   */
  readonly state: { over?: Error; unreplicated?: true };
  /** The process id of the server's backend. */
  readonly pid: number;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
}

/** Commits the transaction. A transaction of one statement commits with it. */
export type Commit = (sql?: string, parameters?: readonly SqlValue[]) => Promise<Answer>;

/** What a writer needs besides its own connection. */
export interface WriterOptions {
  readonly sight: Sight;
  /**
   * Cancels, on another connection, the wait of a backend for a synchronous standby. Does nothing if it waits for
   * something else.
   */
  release(pid: number): Promise<unknown>;
  /** A minimal writing statement that shows whether the standby is available again. */
  readonly probe: { readonly sql: string; readonly parameters: readonly SqlValue[] };
}

/** Milliseconds between two checks for the standby, and the limit of one check. */
const probePause = 1000;
const probePatience = 1000;
/** Milliseconds between two attempts to end a wait for the standby. */
const releasePause = 500;

export interface Transaction<P, T> {
  /** Whether `work` commits by a single statement, without BEGIN and COMMIT. */
  readonly isOne?: boolean;
  /** Reads that do not need the transaction. They share one round trip with BEGIN. */
  prelude(send: Send): Promise<P>;
  /**
   * Calls `commit` once, possibly before its statements have completed: PostgreSQL does not commit if one of them
   * failed. In that case `work` must throw the error of that statement.
   */
  work(prepared: P, send: Send, commit: Commit): Promise<T>;
}

/** A transaction failed. `cause` is the reason. */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /** Whether the COMMIT may have taken effect: the connection was lost, or the standby did not confirm it. */
  readonly uncertain: boolean;

  constructor(cause: unknown, uncertain: boolean) {
    super('the transaction failed', { cause });
    this.uncertain = uncertain;
  }
}

/**
 * The connection on which transactions run, one at a time. `begin` of postgres.js cannot be used: if the connection
 * breaks, it writes its ROLLBACK to a closed socket, which throws where nobody can catch it. This class sends nothing
 * on a lost connection and never reuses a failed one.
 */
export class Writer {
  readonly #hosts: Hosts;
  readonly #timeouts: Timeouts;
  readonly #options: WriterOptions;
  #session: Session | undefined;
  /** The latest transaction. It resolves in any case. */
  #last: Promise<unknown> = Promise.resolve();
  /** The time since which the synchronous standby has been unavailable. */
  #unreplicatedAt: number | undefined;
  /** Abandoned backends that may still wait for the standby. */
  readonly #abandoned = new Set<number>();
  #distrusted = false;

  constructor(hosts: Hosts, timeouts: Timeouts, options: WriterOptions) {
    this.#hosts = hosts;
    this.#timeouts = timeouts;
    this.#options = options;
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

  /** Runs one statement as a transaction. Throws TransactionError. */
  statement(sql: string, parameters: readonly SqlValue[]): Promise<Answer> {
    return this.pipelined(alone(sql, parameters));
  }

  /** Runs a transaction with few round trips, after earlier ones. Throws TransactionError. */
  pipelined<P, T>(transaction: Transaction<P, T>): Promise<T> {
    const done = this.#last.then(() => this.#confirmed(transaction));
    this.#last = done.catch(() => {});
    return done;
  }

  /** Handles a server that has gone back in time: checks it again or uses another one. */
  distrust(): void {
    this.#distrusted = true;
  }

  async #confirmed<P, T>(transaction: Transaction<P, T>): Promise<T> {
    if (this.#unreplicatedAt !== undefined) await this.#probe(this.#unreplicatedAt);
    return this.#run(transaction, this.#timeouts.commit);
  }

  /**
   * Checks at intervals whether the standby is available again. Until then nothing is written, because it could be
   * lost.
   */
  async #probe(since: number): Promise<void> {
    if (performance.now() - since < probePause) throw new TransactionError(new Unreplicated(), false);
    const { sql, parameters } = this.#options.probe;
    await this.#run(alone(sql, parameters), probePatience).catch(({ cause }: TransactionError) => {
      // Nothing has been sent yet.
      throw new TransactionError(cause, false);
    });
  }

  async #run<P, T>({ isOne = false, prelude, work }: Transaction<P, T>, patience: number): Promise<T> {
    let committing = false;
    let session: Session | undefined;
    try {
      if (this.#distrusted && this.#session) await this.#drop(this.#session);
      this.#distrusted = false;
      session = this.#session ??= await this.#open();
      const open = session;
      const send = this.#sender(open);
      const commit: Commit = (sql = 'commit', parameters = []) => {
        committing = true;
        return this.#commit(open, send(sql, parameters), patience);
      };
      try {
        const [prepared] = await settle([prelude(send), isOne ? undefined : send('begin', [])]);
        const result = await work(prepared, send, commit);
        this.#unreplicatedAt = undefined;
        return result;
      } catch (error) {
        if (!isOne && !isLost(error)) await send('rollback', []);
        throw error;
      }
    } catch (error) {
      const lost = isLost(error);
      if (error instanceof Unreplicated) this.#unreplicatedAt = performance.now();
      if (session && isReadOnly(error)) this.#hosts.demoted(session.url);
      if (session && (lost || isReadOnly(error))) await this.#drop(session);
      throw new TransactionError(error, committing && lost);
    }
  }

  /** Waits for the committing statement until it is durable on the standby too. */
  async #commit({ pid, state }: Session, answer: Promise<Answer>, patience: number): Promise<Answer> {
    let timer: Timer | undefined;
    const release = (): void => {
      void this.#options.release(pid).catch(() => {});
      timer = setTimeout(release, releasePause);
    };
    timer = setTimeout(release, patience);
    try {
      const answered = await answer;
      if (state.unreplicated) throw new Unreplicated();
      return answered;
    } catch (error) {
      if (isLost(error) && !(error instanceof Unreplicated)) this.#abandoned.add(pid);
      throw error;
    } finally {
      clearTimeout(timer);
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
    this.#hosts.demand();
    const { url } = this.#hosts;
    const state: Session['state'] = {};
    const { promise: lost, reject } = Promise.withResolvers<never>();
    lost.catch(() => {});
    const onclose = () => {
      state.over ??= connectionLost();
      reject(state.over);
    };
    const onnotice = (notice: postgres.Notice) => {
      if (isUnreplicated(notice)) state.unreplicated = true;
    };
    const client = connect(this.#hosts, this.#timeouts, { max: 1, onclose, onnotice });
    try {
      const reserve = async () => {
        const pid = await demandWrites(client, this.#hosts);
        await this.#options.sight((text, values) => ask(client, text, values, true));
        return { pid, sql: await client.reserve() };
      };
      const { pid, sql } = await within(this.#timeouts.connect + 1000, reserve(), () => {});
      this.#hosts.worked(url);
      this.#releaseAbandoned();
      return { url, client, sql, state, lost, pid };
    } catch (error) {
      if (!isCrowded(error)) this.#hosts.failed(url, error);
      await client.end({ timeout: 0 });
      throw error;
    }
  }

  #releaseAbandoned(): void {
    for (const pid of this.#abandoned) void this.#options.release(pid).catch(() => {});
    this.#abandoned.clear();
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

const alone = (sql: string, parameters: readonly SqlValue[]): Transaction<void, Answer> => ({
  isOne: true,
  prelude: async () => {},
  work: (_, __, commit) => commit(sql, parameters),
});
