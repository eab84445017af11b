import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { unavailable } from './queries.ts';

/** Writes everything that the open file `descriptor` was given to the disk, in a thread of the runtime. */
export type Flush = (descriptor: number) => Promise<void>;

const toDisk: Flush = (descriptor) =>
  new Promise((resolve, reject) => fdatasync(descriptor, (error) => (error ? reject(error) : resolve())));

/** Milliseconds between two attempts to recover from a failed flush. */
const recoverEvery = 1000;

/**
 * Makes the commits in the write-ahead log of a database durable. SQLite would flush the log inside the commit, and a
 * busy disk takes a tenth of a second and more for that, in which this process would answer nobody. Commits that
 * arrive during a flush share the next one.
 */
export class SqliteLog {
  readonly #path: string;
  readonly #flush: Flush;
  readonly #copyBack: () => Promise<void>;
  #descriptor: number | undefined;
  /** Whether a commit has been written since the last flush began. */
  #dirty = false;
  #flushing: Promise<void> | undefined;
  /** The last flush, or the last attempt to recover from it, failed at this time on the clock of `performance`. */
  #failure: { readonly at: number; readonly error: unknown } | undefined;

  /**
   * `path` is that of the database. `copyBack` writes the whole log into the database file, flushes that, and fails if
   * it could not.
   */
  constructor(path: string, copyBack: () => Promise<void>, flush: Flush = toDisk) {
    this.#path = path;
    this.#flush = flush;
    this.#copyBack = copyBack;
  }

  /** To be called when the log exists. Makes its directory entry durable. */
  open(): void {
    this.#descriptor = openSync(`${this.#path}-wal`, 'r+');
    const directory = openSync(dirname(this.#path), 'r');
    fsyncSync(directory);
    closeSync(directory);
  }

  /** To be called after each commit. Resolves when the commit is durable. Faults: unavailable. */
  committed(): Promise<void> {
    this.#dirty = true;
    return this.settled();
  }

  /** Whether everything that can be read is durable. */
  get isSettled(): boolean {
    return !this.#dirty && this.#flushing === undefined && !this.#failure;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when everything that can be read now is durable. Faults: unavailable. */
  async settled(): Promise<void> {
    // The flush in progress may have begun before the last commit.
    if (this.#flushing) await this.#flushing.catch(() => {});
    if (this.isSettled) return;
    this.#flushing ??= this.#run().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #run(): Promise<void> {
    try {
      await this.#recover();
      this.#dirty = false;
      await this.#flush(this.#descriptor!);
    } catch (error) {
      if (error !== this.#failure?.error) this.#failure = { at: performance.now(), error };
      throw unavailable(error);
    }
  }

  /**
   * The kernel forgets what it failed to write, so another flush of the log proves nothing
   * (https://wiki.postgresql.org/wiki/Fsync_Errors): the log is written again, into the database file.
   */
  async #recover(): Promise<void> {
    if (!this.#failure) return;
    const { at, error } = this.#failure;
    if (performance.now() - at < recoverEvery) throw error;
    await this.#copyBack();
    this.#failure = undefined;
  }

  async close(): Promise<void> {
    await this.#flushing?.catch(() => {});
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
