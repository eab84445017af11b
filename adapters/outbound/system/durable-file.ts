import { randomUUID } from 'node:crypto';
import { link, open, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/**
 * Creates a file of mode 0600 atomically and durably. Returns false and changes nothing if it exists: of several
 * processes that start together, one creates it and the others read it.
 */
export async function createFile(path: string, contents: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  await syncDirectory(dirname(path));
  return true;
}

/** Makes the entries of a directory durable: created, renamed and removed files. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Reads a file; returns undefined if it does not exist. Throws an Error with the command to run if other users can
 * access it.
 */
export async function readPrivateFile(path: string, mostBytes: number): Promise<string | undefined> {
  const found = await stat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return undefined;
  if ((found.mode & 0o077) !== 0) {
    throw new Error(`${path} is accessible to other users; run: chmod 600 '${path}'`);
  }
  if (!found.isFile() || found.size > mostBytes) throw new Error(`${path} was not created by Postern`);
  const file = await open(path, 'r');
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
