import { type FileHandle, mkdir, open, readdir, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

interface RotationOptions {
  readonly directory: string;
  /** The file is rotated before it grows beyond this many octets. */
  readonly maxBytes: number;
  /** The number of files, including the current one. */
  readonly maxFiles: number;
  /** Milliseconds since 1970, for names. */
  readonly now: () => number;
}

const rotatedName = /^postern-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.log$/;
/** Milliseconds after which a lock is ignored, because its process died during the rotation. */
const staleLock = 30_000;

/**
 * Writes `postern.log` and rotates it to `postern-<time>.log`. Any number of processes may append: each batch is one
 * write to a file opened with O_APPEND, and the process that creates the lock directory renames.
 */
export class RotatingFile {
  readonly #options: RotationOptions;
  readonly #path: string;
  readonly #lock: string;
  #handle: FileHandle | undefined;

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#path = join(options.directory, 'postern.log');
    this.#lock = join(options.directory, '.rotating');
  }

  async append(batch: string): Promise<void> {
    const bytes = Buffer.from(batch);
    let file = await this.#current();
    const { size } = await file.stat();
    if (size > 0 && size + bytes.length > this.#options.maxBytes) {
      await this.#rotate(file);
      file = await this.#current();
    }
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length) throw new Error('log file: disk full');
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Returns the current file. Another process may have rotated it, or somebody deleted it. */
  async #current(): Promise<FileHandle> {
    if (this.#handle && (await this.#isCurrent(this.#handle))) return this.#handle;
    await this.close();
    this.#handle = await open(this.#path, 'a', 0o600);
    return this.#handle;
  }

  async #isCurrent(file: FileHandle): Promise<boolean> {
    const [opened, named] = await Promise.all([file.stat(), stat(this.#path).catch(() => undefined)]);
    return named !== undefined && named.ino === opened.ino && named.dev === opened.dev;
  }

  async #rotate(file: FileHandle): Promise<void> {
    if (!(await this.#acquire())) return;
    try {
      // Check again under the lock: its previous holder may have rotated the file.
      if (!(await this.#isCurrent(file))) return;
      await rename(this.#path, join(this.#options.directory, await this.#nextName()));
      await this.#prune();
    } finally {
      await rmdir(this.#lock);
    }
  }

  /** Returns false if another process is rotating. */
  async #acquire(): Promise<boolean> {
    try {
      await mkdir(this.#lock);
      return true;
    } catch {
      const lock = await stat(this.#lock).catch(() => undefined);
      if (lock && Date.now() - lock.mtimeMs > staleLock) await rmdir(this.#lock).catch(() => undefined);
      return false;
    }
  }

  async #rotated(): Promise<string[]> {
    return (await readdir(this.#options.directory)).filter((name) => rotatedName.test(name)).sort();
  }

  /** Returns a name that sorts after all others even if the clock was set back. */
  async #nextName(): Promise<string> {
    const newest = (await this.#rotated()).at(-1);
    const now = this.#options.now();
    return nameAt(newest === undefined ? now : Math.max(now, timeOf(newest) + 1));
  }

  async #prune(): Promise<void> {
    const rotated = await this.#rotated();
    const surplus = rotated.slice(0, Math.max(0, rotated.length - (this.#options.maxFiles - 1)));
    for (const name of surplus) await unlink(join(this.#options.directory, name)).catch(() => undefined);
  }
}

const nameAt = (time: number): string => `postern-${new Date(time).toISOString().replace(/[-:.]/g, '')}.log`;

const timeOf = (name: string): number => Date.parse(name.replace(rotatedName, '$1-$2-$3T$4:$5:$6.$7Z'));
