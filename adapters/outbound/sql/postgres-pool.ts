import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import {
  ask,
  type Client,
  connect,
  isCrowded,
  isLost,
  isPassing,
  isReadOnly,
  type Sight,
  type Timeouts,
  within,
} from './postgres-client.ts';
import type { Hosts } from './postgres-hosts.ts';
import { unavailable } from './queries.ts';

/** The pause before a retry after "too many connections", in milliseconds. */
const crowdedPause = 50;

/** A pool of connections for single statements. */
export class Pool {
  readonly #hosts: Hosts;
  readonly #timeouts: Timeouts;
  readonly #max: number;
  readonly #sight: Sight;
  #url: string;
  #client: Client;
  /** Whether the client has received a response. */
  #answered = false;
  /** The result of the check whether the server of the client has gone back in time. */
  #sighted: Promise<unknown> | undefined;
  #closed = false;

  constructor(hosts: Hosts, timeouts: Timeouts, max: number, sight: Sight) {
    this.#hosts = hosts;
    this.#sight = sight;
    this.#timeouts = timeouts;
    this.#max = max;
    this.#url = hosts.url;
    this.#client = connect(hosts, timeouts, { max });
  }

  /** Runs a statement that may run twice: it is repeated if a working connection is lost, or on another server. */
  async query(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(sql, parameters, reuse);
      } catch (error) {
        // A Fault means a timeout or no available server.
        const again = isLost(error) || isReadOnly(error) || isCrowded(error) || isPassing(error);
        if (error instanceof Fault || !again || attempt > this.#hosts.count) throw error;
        if (isCrowded(error)) await Bun.sleep(crowdedPause * (1 + Math.random()));
      }
    }
  }

  async #once(sql: string, parameters: readonly SqlValue[], reuse: boolean): Promise<Row[]> {
    if (this.#closed) throw unavailable();
    this.#hosts.demand();
    // The server is read-only now: record it for all pools.
    if (this.#url !== this.#hosts.url) this.#renew();
    const client = this.#client;
    const url = this.#url;
    const { connect, statement } = this.#timeouts;
    try {
      const { rows } = await within(
        connect + statement + 1000,
        this.#answered ? ask(client, sql, parameters, reuse) : this.#first(client, sql, parameters, reuse),
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
          if (!this.#answered) this.#hosts.failed(url, error);
          this.#renew();
        }
      }
      throw error;
    }
  }

  /** Checks a new server before its first statement: it must contain everything that was seen before. */
  async #first(client: Client, sql: string, parameters: readonly SqlValue[], reuse: boolean) {
    this.#sighted ??= this.#sight((text, values) => ask(client, text, values, true));
    await this.#sighted;
    return ask(client, sql, parameters, reuse);
  }

  /** Handles a server that has gone back in time: checks it again or uses another one. */
  distrust(why: unknown): void {
    this.#hosts.failed(this.#url, why);
    if (!this.#closed) this.#renew();
  }

  /**
   * Replaces the client after any loss. A connection that breaks while a message waits to be written never works again
   * (postgres.js 3.4.9: `closed` clears nextWriteTimer but does not reset it).
   */
  #renew(): void {
    void this.#client.end({ timeout: 1 });
    this.#answered = false;
    this.#sighted = undefined;
    this.#url = this.#hosts.url;
    this.#client = connect(this.#hosts, this.#timeouts, { max: this.#max });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.end({ timeout: 1 });
  }
}
