import { lstat, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '#core/fault.ts';
import type { LogFile, LogFiles } from '#core/ports/platform.ts';

/** The current file and its predecessors, see `log-rotation.ts`. */
const logName = /^postern(-\d{8}T\d{9}Z)?\.log$/;

/** The log files of a directory that `openLogFile` writes to. Only names found by listing it become part of a path. */
export function openLogDirectory(directory: string): LogFiles {
  const reach = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (cause) {
      if (cause instanceof Fault) throw cause;
      throw new Fault('unavailable', 'the log directory cannot be read', { cause });
    }
  };
  const list = async (): Promise<readonly LogFile[]> => {
    const names = (await readdir(directory)).filter((name) => logName.test(name)).sort(byAge);
    const files = await Promise.all(
      names.map(async (name) => {
        // A file may be rotated or deleted meanwhile.
        const found = await lstat(join(directory, name)).catch(() => undefined);
        return found?.isFile() ? [{ name, size: found.size, modified: Math.floor(found.mtimeMs) }] : [];
      }),
    );
    return files.flat();
  };
  const pathOf = async (name: string): Promise<string> => {
    const file = (await list()).find((file) => file.name === name);
    if (!file) throw new Fault('notFound', 'there is no such log file');
    return join(directory, file.name);
  };
  return {
    list: () => reach(list),
    read: (name, most) =>
      reach(async () => {
        const file = await open(await pathOf(name), 'r');
        try {
          const { size } = await file.stat();
          const end = new Uint8Array(Math.min(size, most));
          const { bytesRead } = await file.read(end, 0, end.length, size - end.length);
          return end.subarray(0, bytesRead);
        } finally {
          await file.close();
        }
      }),
    remove: (name) => reach(async () => unlink(await pathOf(name))),
  };
}

/** Sorts by age: `postern.log` is the newest, the other names contain a time. */
const byAge = (a: string, b: string): number =>
  Number(a === 'postern.log') - Number(b === 'postern.log') || (a < b ? -1 : 1);
