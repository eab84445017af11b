import { mkdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupSummary, readBackup, verifyBackup } from '#adapters/outbound/backup/read.ts';
import { createFile } from '#adapters/outbound/system/durable-file.ts';
import { openMasterKey } from '#adapters/outbound/system/master-key.ts';
import { systemClock, systemEntropy } from '#adapters/outbound/system/platform.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { Log } from '#core/ports/platform.ts';
import type { SnapshotItem } from '#core/ports/snapshot.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { openSlot } from './registry.ts';
import { backedUpFiles, masterKeyOptions, openLog } from './service.ts';

export interface Restored {
  readonly summary: BackupSummary;
  /** An interrupted restore of this backup had already written everything, so nothing was written now. */
  readonly again: boolean;
  /** Where the configuration of the backup was written; it is not active. Undefined if it was not written. */
  readonly configuration: string | undefined;
}

/** Receives the number of octets read so far. The backup is read twice. */
export type RestoreProgress = (phase: 'checking' | 'restoring', octets: number) => void;

const restoredName = 'postern.toml.restored';

/**
 * Fills an empty data directory and an empty store with a backup. The whole backup is verified before anything is written. Keys and
 * master key are written before the single transaction of the store is committed, and removed again if it fails. Afterwards
 * the caller calls `Backups.settle`. Throws Fault `conflict` if something is not empty, and the Faults of reading a backup.
 */
export async function restoreBackup(
  loaded: LoadedConfiguration,
  file: string,
  passphrase: string,
  progress: RestoreProgress = () => {},
): Promise<Restored> {
  const { configuration, dataDirectory } = loaded;
  const [chosen] = configuration.store;
  if (!chosen?.plugin.restore) throw new Fault('unsupported', 'this store cannot be restored');
  const summary = await verifyBackup(file, passphrase, (octets) => progress('checking', octets));

  const { 'postern.toml': _, ...ours } = backedUpFiles(loaded);
  const masterRecord = await contentsOf(ours['master.json']);
  for (const [name, path] of Object.entries(ours)) {
    const there = await contentsOf(path);
    if (there !== undefined && there !== summary.files.get(name)) throw notEmpty(path);
  }
  if (summary.files.has('master.key') !== 'master.key' in ours) {
    const source = summary.files.has('master.key') ? 'a key file' : 'a passphrase';
    throw new Fault(
      'conflict',
      `the master key of the backup comes from ${source}: configure ${source} in [secrets]`,
    );
  }

  await using stack = new AsyncDisposableStack();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const log = await openLog(loaded, { logToStderr: false }, stack);
  const work = new Restoration(loaded, ours, summary, masterRecord === undefined, log, stack);
  const surroundings = { name: chosen.name, dataDirectory, log, clock: systemClock, entropy: systemEntropy };
  const { schema } = summary;
  try {
    await chosen.plugin.restore(chosen.config, surroundings, {
      schema,
      isCopy: false,
      items: work.items(file, passphrase, (octets) => progress('restoring', octets)),
    });
  } catch (error) {
    // Probably an interrupted restore of the same backup, which only needs `settle`. If it is not, `settle` fails.
    const again = error instanceof Fault && error.code === 'conflict' && masterRecord !== undefined;
    if (again && !work.begun) return { summary, again, configuration: undefined };
    await work.undo();
    throw error;
  }
  return { summary, again: false, configuration: work.configuration };
}

/** Writes the parts of a backup outside of the store, and removes them again if the store fails. */
class Restoration {
  configuration: string | undefined;
  begun = false;
  readonly #loaded: LoadedConfiguration;
  readonly #files: Readonly<Record<string, string>>;
  readonly #summary: BackupSummary;
  /** The data directory was empty: no earlier restore had begun. */
  readonly #fresh: boolean;
  readonly #log: Log;
  readonly #stack: AsyncDisposableStack;
  readonly #undo: (() => Promise<void>)[] = [];

  constructor(
    loaded: LoadedConfiguration,
    files: Readonly<Record<string, string>>,
    summary: BackupSummary,
    fresh: boolean,
    log: Log,
    stack: AsyncDisposableStack,
  ) {
    this.#loaded = loaded;
    this.#files = files;
    this.#summary = summary;
    this.#fresh = fresh;
    this.#log = log;
    this.#stack = stack;
  }

  /** Yields the items for the store. Writes files and keys, which precede them in the backup. */
  async *items(
    file: string,
    passphrase: string,
    progress: (octets: number) => void,
  ): AsyncGenerator<SnapshotItem> {
    this.begun = true;
    let keyStores: ReadonlyMap<string, KeyStore> | undefined;
    for await (const entry of readBackup(file, passphrase, progress)) {
      if ('keysElsewhere' in entry) {
        keyStores = await this.#writeFiles().catch((error) => {
          throw asFault(error);
        });
      } else if ('key' in entry) {
        await this.#writeKey(keyStores, entry.store, entry.key, entry.contents);
      } else if ('table' in entry || 'rows' in entry) {
        yield entry;
      }
    }
  }

  /** Writes the files and opens the key stores, which need them. */
  async #writeFiles(): Promise<ReadonlyMap<string, KeyStore>> {
    const { configuration, dataDirectory, file } = this.#loaded;
    for (const [name, path] of Object.entries(this.#files)) {
      await this.#write(path, this.#summary.files.get(name));
    }
    const theirs = this.#summary.files.get('postern.toml');
    if (theirs !== undefined && (file === undefined || (await contentsOf(file)) !== theirs)) {
      this.configuration = join(dataDirectory, restoredName);
      await this.#write(this.configuration, theirs);
    }
    const masterKey = await openMasterKey(masterKeyOptions(this.#loaded));
    const surroundings = {
      dataDirectory,
      log: this.#log,
      clock: systemClock,
      entropy: systemEntropy,
      vault: createVault(masterKey.subKeys('postern key files')),
    };
    const keyStores = await openSlot('keys', configuration.keys, surroundings, this.#stack);
    for (const [name, { files }] of keyStores) {
      if (this.#fresh && files && (await files.list()).length > 0) {
        throw new Fault('conflict', `the key store ${name} is not empty`);
      }
    }
    return keyStores;
  }

  async #write(path: string, contents: string | undefined): Promise<void> {
    if (contents === undefined) return;
    if (await createFile(path, contents)) this.#undo.push(() => unlink(path));
    else if ((await contentsOf(path)) !== contents) throw notEmpty(path);
  }

  async #writeKey(
    keyStores: ReadonlyMap<string, KeyStore> | undefined,
    name: string,
    id: string,
    contents: string,
  ): Promise<void> {
    const keys = keyStores?.get(name);
    if (!keys?.files) {
      throw new Fault(
        'conflict',
        `the backup contains keys of the key store ${name}: add [keys.${name}] to the configuration`,
      );
    }
    if ((await keys.files.read(id)) !== undefined && this.#fresh) throw notEmpty(name);
    await keys.files.write(id, contents);
    this.#undo.push(() => keys.remove(id));
  }

  /** Removes what this restore has written. */
  async undo(): Promise<void> {
    for (const step of this.#undo.toReversed()) await step().catch(() => undefined);
  }
}

const notEmpty = (path: string): Fault =>
  new Fault('conflict', `${path} already exists: restore the backup into an empty data directory`);

async function contentsOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw asFault(error);
  }
}

/** Turns any error into a Fault, so that the transaction of the store passes the message to the operator unchanged. */
const asFault = (error: unknown): Fault =>
  error instanceof Fault
    ? error
    : new Fault('conflict', error instanceof Error ? error.message : 'cannot be restored', { cause: error });
