import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Fault } from '#core/fault.ts';
import { type Destination, temporaryName } from './destination.ts';

/** Opens a directory of the file system, which may be a network mount. Faults: conflict if it cannot be used. */
export async function openDirectory(path: string): Promise<Destination> {
  if (!isAbsolute(path)) throw new Fault('conflict', 'the directory must be an absolute path');
  const found = await stat(path).catch((error) => {
    throw refused(error);
  });
  if (!found.isDirectory()) throw new Fault('conflict', 'the backup directory is not a directory');
  return {
    async put(name, chunks) {
      const temporary = join(path, temporaryName(name));
      // Only one backup runs at a time, so this file belongs to an interrupted one.
      await unlink(temporary).catch(() => undefined);
      const size = await writeFile(temporary, chunks);
      try {
        await rename(temporary, join(path, name));
        await sync(path);
      } catch (error) {
        await unlink(temporary).catch(() => undefined);
        throw refused(error);
      }
      return size;
    },
    names: () => readdir(path),
    remove: (name) => unlink(join(path, name)),
    close: async () => {},
  };
}

/** Writes a file that must not exist yet. Returns its number of octets. */
export async function writeNewFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const taken = await stat(path).catch(() => undefined);
  if (taken) throw new Fault('conflict', `${path} already exists`);
  const directory = await openDirectory(dirname(path));
  return directory.put(basename(path), chunks);
}

/** The file is durable when the function returns, and removed if it fails. */
async function writeFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file: FileHandle = await open(path, 'wx', 0o600).catch((error) => {
    throw refused(error);
  });
  let size = 0;
  try {
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, at).catch((error) => {
          throw refused(error);
        });
        at += bytesWritten;
      }
      size += chunk.length;
    }
    await file.sync();
    return size;
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

async function sync(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not writable for this account',
  EPERM: 'is not writable for this account',
  EROFS: 'is read-only',
};

/** Returns conflict for problems that the operator can correct, and unavailable for a full or failing disk. */
function refused(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const why = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  if (why !== undefined) return new Fault('conflict', `the backup directory ${why}`, { cause: error });
  return new Fault('unavailable', 'the backup cannot be written', { cause: error });
}
