import { createReadStream } from 'node:fs';
import { Fault } from '#core/fault.ts';
import { open } from './container.ts';
import { decodeEntries, type Entry } from './content.ts';

/** The summary of a backup that has been read completely and is undamaged. */
export interface BackupSummary {
  readonly createdAt: number;
  readonly schema: string;
  /** The files in the backup: name → contents. */
  readonly files: ReadonlyMap<string, string>;
  /** The key stores whose keys are not in the backup. */
  readonly keysElsewhere: readonly string[];
  readonly rows: number;
  readonly keys: number;
}

/** Receives the number of octets that have been read. */
export type ReadProgress = (octets: number) => void;

/**
 * Yields the entries of a backup file. Faults, when they are found: malformed, unsupported, forbidden (wrong
 * passphrase), unavailable.
 */
export async function* readBackup(
  file: string,
  passphrase: string,
  progress?: ReadProgress,
): AsyncGenerator<Entry> {
  yield* decodeEntries(open(octets(file, progress), passphrase));
}

async function* octets(file: string, progress?: ReadProgress): AsyncGenerator<Uint8Array> {
  let read = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      yield chunk;
      read += chunk.length;
      progress?.(read);
    }
  } catch (cause) {
    throw new Fault('unavailable', `${file} cannot be read`, { cause });
  }
}

/** Reads a backup completely, with little memory. Faults: those of `readBackup`. */
export async function verifyBackup(
  file: string,
  passphrase: string,
  progress?: ReadProgress,
): Promise<BackupSummary> {
  let header: { readonly createdAt: number; readonly schema: string } | undefined;
  let end: Extract<Entry, { end: unknown }>['end'] | undefined;
  let keysElsewhere: readonly string[] = [];
  const files = new Map<string, string>();
  const found = { tables: 0, rows: 0, keys: 0 };
  for await (const entry of readBackup(file, passphrase, progress)) {
    if (end) throw damaged();
    if ('backup' in entry) header = entry.backup;
    else if ('file' in entry) files.set(entry.file, entry.contents);
    else if ('keysElsewhere' in entry) ({ keysElsewhere } = entry);
    else if ('table' in entry) found.tables++;
    else if ('rows' in entry) found.rows += entry.rows.length;
    else if ('key' in entry) found.keys++;
    else ({ end } = entry);
  }
  const { tables, rows, keys } = found;
  if (!header || end?.tables !== tables || end.rows !== rows || end.keys !== keys) throw damaged();
  return { ...header, files, keysElsewhere, rows, keys };
}

const damaged = (): Fault => new Fault('malformed', 'the backup is damaged or incomplete');
