import { Database, SQLiteError } from 'bun:sqlite';
import { AsyncLocalStorage } from 'node:async_hooks';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Disk, Entropy, RequestContext, RequestTrace } from '#core/ports/platform.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** From the cryptographic library's generator. Bun asks it for the octets of many calls at once, so no pool of our own. */
export const systemEntropy: Entropy = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** Returns the disks of directories by name. A directory that cannot be examined is left out. */
export async function disksOf(directories: Readonly<Record<string, string>>): Promise<readonly Disk[]> {
  const found = Object.entries(directories).map(async ([name, directory]): Promise<Disk[]> => {
    try {
      const { bavail, blocks, bsize } = await statfs(directory);
      return [{ name, free: bavail * bsize, size: blocks * bsize }];
    } catch {
      return [];
    }
  });
  return (await Promise.all(found)).flat();
}

const file = 'serve.lock';

/**
 * Locks `directory` for this process and returns the lock, or undefined while another process holds it. The kernel keeps the lock, by
 * a file that SQLite locks: it ends with the process, however the process ends, and a file left behind locks nothing.
 */
export function lockDirectory(directory: string): Disposable | undefined {
  const held = new Database(join(directory, file), { create: true, readwrite: true });
  try {
    // Nothing is ever written, so a full disk does not matter.
    held.run('pragma locking_mode = exclusive');
    held.run('pragma journal_mode = memory');
    held.run('begin exclusive');
  } catch (error) {
    held.close();
    if (error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY')) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => held.close() };
}

/**
 * Returns a context that follows a request through asynchronous calls, so that log lines and audit events have its id
 * without every function passing it on. Work that a request starts and that outlives it keeps the id of that request.
 */
export function createRequestContext(): RequestContext {
  const storage = new AsyncLocalStorage<RequestTrace>();
  return {
    run: (trace, work) => storage.run(trace, work),
    current: () => storage.getStore(),
  };
}
