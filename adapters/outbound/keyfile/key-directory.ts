import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, constants, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';

/** Only an id of this form becomes part of a path. */
const keyId = /^[0-9a-f-]{36}$/;
export const isKeyId = (text: string): boolean => keyId.test(text);
const keyFileName = /^[0-9a-f-]{36}\.key$/;
const temporaryName = /^\.[0-9a-f-]{36}\.tmp$/;
/**
 * Milliseconds after which a temporary file counts as abandoned. Another process may still be about to rename a younger
 * one.
 */
const abandoned = 60_000;
/** An RSA key of 8192 bits takes 10 KiB. */
const mostFileBytes = 64 * 1024;

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
const noSuchKey = (cause?: Error): Fault => new Fault('notFound', 'there is no such key', { cause });

/** A directory of mode 0700 with one file of mode 0600 per key. Several processes may share it. */
export class KeyDirectory {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Creates the directory if it is missing, and removes the temporary files of interrupted writers. Throws an Error
   * with the command to run if other users can access the directory or a file in it.
   */
  static async open(path: string): Promise<KeyDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await refuseOpen(path, '700');
    for (const name of await readdir(path)) {
      const file = join(path, name);
      if (keyFileName.test(name)) await refuseOpen(file, '600');
      else if (temporaryName.test(name)) await removeAbandoned(file);
    }
    return new KeyDirectory(path);
  }

  #file(id: string): string {
    return join(this.#path, `${id}.key`);
  }

  has(id: string): boolean {
    return keyId.test(id) && existsSync(this.#file(id));
  }

  /** Returns the ids of all keys. Faults: unavailable. */
  async list(): Promise<readonly string[]> {
    const names = await reach(() => readdir(this.#path));
    return names.filter((name) => keyFileName.test(name)).map((name) => name.slice(0, -'.key'.length));
  }

  /** Faults: notFound, unavailable, internal (larger than any key file). */
  async read(id: string): Promise<string> {
    if (!keyId.test(id)) throw noSuchKey();
    const path = this.#file(id);
    const file = await reach(() => open(path, 'r').catch((error) => this.#missing(error)));
    if (!file) throw noSuchKey(new Error(`${path} is missing`));
    try {
      const { size } = await file.stat();
      if (size > mostFileBytes) {
        throw new Fault('internal', 'internal error', {
          cause: new Error(`${path} is too large for a key file`),
        });
      }
      return await reach(() => file.readFile('utf8'));
    } finally {
      await file.close();
    }
  }

  /** Writes a key file atomically. It is durable when the function returns. Faults: unavailable. */
  async write(id: string, contents: string): Promise<void> {
    const path = this.#file(id);
    const temporary = join(this.#path, `.${randomUUID()}.tmp`);
    await reach(async () => {
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(contents);
        await file.sync();
        await rename(temporary, path);
      } catch (error) {
        await unlink(temporary).catch(() => undefined);
        throw error;
      } finally {
        await file.close();
      }
      await this.#sync();
    });
  }

  /** Deletes a key file if it exists. Faults: unavailable. */
  async remove(id: string): Promise<void> {
    if (!keyId.test(id)) return;
    await reach(async () => {
      await unlink(this.#file(id)).catch((error) => this.#missing(error));
      await this.#sync();
    });
  }

  async usable(): Promise<boolean> {
    return access(this.#path, constants.R_OK | constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
  }

  async #sync(): Promise<void> {
    const directory = await open(this.#path, 'r');
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }

  /**
   * Returns undefined if the error means that the file is missing. If the directory is missing too, the key may still
   * exist elsewhere, so it throws.
   */
  #missing(error: unknown): undefined {
    if (codeOf(error) !== 'ENOENT' || !existsSync(this.#path)) throw error;
  }
}

async function reach<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    throw new Fault('unavailable', 'the key files cannot be accessed', { cause });
  }
}

async function refuseOpen(path: string, mode: string): Promise<void> {
  // Another process may just have removed the key.
  const found = await stat(path).catch(() => undefined);
  if (found && (found.mode & 0o077) !== 0) {
    throw new Error(`${path} is accessible to other users; run: chmod ${mode} '${path}'`);
  }
}

async function removeAbandoned(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (file && Date.now() - file.mtimeMs > abandoned) await unlink(path).catch(() => undefined);
}
