import { closeSync, openSync, readSync } from 'node:fs';
import { SqliteReader } from './sqlite-reader.ts';

/**
 * The frames (pages) of the log that are copied back at a time: 32 MiB. A page that was written several times is copied
 * once.
 */
const mostFrames = 8192;
/** Milliseconds between two checks of the length of the log. */
const lookEvery = 50;
const patience = 60_000;

/**
 * The version of the log index (https://sqlite.org/walformat.html), and the positions of the numbers of frames and
 * copied frames.
 */
const indexVersion = 3_007_000;
const indexLength = 100;
const at = { version: 0, frames: 16, copied: 96 } as const;

/**
 * Copies the log of a database back into its file, in another thread. SQLite would do it in the commit that exceeds the
 * limit, which would take a tenth of a second or more.
 */
export class Checkpoints {
  readonly #path: string;
  readonly #thread: SqliteReader;
  readonly #index = Buffer.alloc(indexLength);
  #file: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #running = false;

  constructor(path: string) {
    this.#path = path;
    this.#thread = new SqliteReader(path, patience);
  }

  /** Must be called after each commit. */
  committed(): void {
    const now = performance.now();
    if (this.#running || now - this.#lookedAt < lookEvery) return;
    this.#lookedAt = now;
    if (this.#uncopied() > mostFrames) void this.#run();
  }

  #uncopied(): number {
    try {
      this.#file ??= openSync(`${this.#path}-shm`, 'r');
      const read = readSync(this.#file, this.#index, 0, indexLength, 0);
      const isKnown = read === indexLength && this.#index.readUInt32LE(at.version) === indexVersion;
      return isKnown ? this.#index.readUInt32LE(at.frames) - this.#index.readUInt32LE(at.copied) : 0;
    } catch {
      // A commit copies the log back itself once it is eight times as long.
      return 0;
    }
  }

  /** Copies most of the log while others write, then the rest under the lock, so that the log restarts. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      await this.#thread.query('pragma busy_timeout = 0', []);
      await this.#thread.query('pragma wal_checkpoint(passive)', []);
      await this.#thread.query('pragma wal_checkpoint(restart)', []);
    } catch {
      // The next commit tries again.
    }
    this.#running = false;
  }

  /** Copies the whole log back and empties it. Throws if readers or the disk prevent it. */
  async copyBack(): Promise<void> {
    const [row] = await this.#thread.query('pragma wal_checkpoint(truncate)', []);
    if (row?.busy !== 0) throw new Error('the log of the database is in use');
  }

  async close(): Promise<void> {
    await this.#thread.close();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
