import { closeSync, openSync, readSync } from 'node:fs';
import { SqliteReader } from './sqlite-reader.ts';

/** Frames (pages) of the log that are copied back at a time: 32 MiB. What was written several times is copied only once. */
const mostFrames = 8192;
/** Milliseconds from one look at the length of the log to the next. */
const lookEvery = 50;
const patience = 60_000;

/** The index of the log (https://sqlite.org/walformat.html): its version, and how many frames there are and have been copied back. */
const indexVersion = 3_007_000;
const indexLength = 100;
const at = { version: 0, frames: 16, copied: 96 } as const;

/**
 * Copies the log of a database back into its file, in a thread of its own: SQLite would do it in the commit that makes the log too
 * long, and megabytes take a disk a tenth of a second and more.
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

  /** To be called after each commit. */
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
      // The commit that makes the log eight times as long copies it back itself.
      return 0;
    }
  }

  /** First while others write; then what they have written meanwhile, so that the log begins anew. */
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
