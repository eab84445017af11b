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
  /** An earlier restore of this backup had come this far: nothing was written. */
  readonly again: boolean;
  /** Where the backup's configuration was put; it is not in use there. Undefined where it has none. */
  readonly configuration: string | undefined;
}

/** How much of the backup has been read, in octets; it is read twice. */
export type RestoreProgress = (phase: 'checking' | 'restoring', octets: number) => void;

const later = 'postern.toml.restored';

/**
 * Fills an empty data directory and an empty store with a backup. All of it has been read and found whole before anything is
 * written; keys and master key are there before the store's one transaction is committed, and go again when it is not. What is
 * left to do then is `Backups.settle`. Faults: conflict (not empty), and those of reading a backup.
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
    // The same backup, restored as far as here: what is missing is to settle it, which fails where it is not so.
    const again = error instanceof Fault && error.code === 'conflict' && masterRecord !== undefined;
    if (again && !work.begun) return { summary, again, configuration: undefined };
    await work.undo();
    throw error;
  }
  return { summary, again: false, configuration: work.configuration };
}

/** What a restore writes outside of the store, and takes away again when the store refuses the rest. */
class Restoration {
  configuration: string | undefined;
  begun = false;
  readonly #loaded: LoadedConfiguration;
  readonly #files: Readonly<Record<string, string>>;
  readonly #summary: BackupSummary;
  /** No other restore has begun here. */
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

  /** Of the store. On the way, as they come before it, files and keys are written. */
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

  /** Files, then the key stores that can read with them. */
  async #writeFiles(): Promise<ReadonlyMap<string, KeyStore>> {
    const { configuration, dataDirectory, file } = this.#loaded;
    for (const [name, path] of Object.entries(this.#files)) {
      await this.#write(path, this.#summary.files.get(name));
    }
    const theirs = this.#summary.files.get('postern.toml');
    if (theirs !== undefined && (file === undefined || (await contentsOf(file)) !== theirs)) {
      this.configuration = join(dataDirectory, later);
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

  /** What was there before stays. */
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

/** What is said to the operator goes through the store's transaction unchanged. */
const asFault = (error: unknown): Fault =>
  error instanceof Fault
    ? error
    : new Fault('conflict', error instanceof Error ? error.message : 'cannot be restored', { cause: error });
