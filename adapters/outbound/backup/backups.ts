import { readFile } from 'node:fs/promises';
import { Fault } from '#core/fault.ts';
import type { BackupLocation, Backups } from '#core/ports/backups.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { Clock } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import { seal } from './container.ts';
import { type Entry, encodeEntries } from './content.ts';
import { type Destination, temporaryName } from './destination.ts';
import { openDirectory, writeNewFile } from './directory.ts';
import { openSftp, type SftpIdentity } from './sftp.ts';

export interface BackupOptions {
  readonly store: Store;
  /** Key stores by their names in the configuration. */
  readonly keyStores: ReadonlyMap<string, KeyStore>;
  /** Name in the backup → path of an existing file: the master key, the configuration. */
  readonly files: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Backups require a passphrase, because keys never leave the gateway unencrypted. */
  readonly passphrase: string | undefined;
  readonly sftp: SftpIdentity | undefined;
  /** The number of backups to keep in a directory; absent: all. */
  readonly keep: number | undefined;
}

const fewestPassphraseCharacters = 12;

/** `postern-20261121T121028.123Z.backup`: sorting by name sorts by time. */
const backupName = /^postern-\d{8}T\d{6}\.\d{3}Z\.backup$/;
const unfinishedName = /^\.postern-\d{8}T\d{6}\.\d{3}Z\.backup\.part$/;
const nameAt = (time: number): string =>
  `postern-${new Date(time).toISOString().replace(/[-:]/g, '')}.backup`;

export function createBackups(options: BackupOptions): Backups {
  const { clock } = options;
  return {
    async run(location, alive, { passphrase = options.passphrase } = {}) {
      if (passphrase === undefined) {
        throw new Fault('conflict', 'backups require a passphrase: set passphrase in [backup]');
      }
      if (passphrase.length < fewestPassphraseCharacters) {
        throw new Fault(
          'conflict',
          `the backup passphrase must have at least ${fewestPassphraseCharacters} characters`,
        );
      }
      const sealed = (snapshot: Snapshot): AsyncIterable<Uint8Array> =>
        seal(encodeEntries(counted(entries(options, snapshot))), passphrase);
      if (location.kind === 'file') {
        const size = await write(options.store, (snapshot) =>
          writeNewFile(location.path, beating(sealed(snapshot), alive)),
        );
        return { name: location.path, size, finishedAt: clock.now() };
      }
      const name = nameAt(clock.now());
      const destination = await openDestination(location, options.sftp);
      try {
        await sweep(destination, clock.now());
        const size = await write(options.store, (snapshot) =>
          destination.put(name, beating(sealed(snapshot), alive)),
        );
        await prune(destination, name, options.keep);
        return { name, size, finishedAt: clock.now() };
      } finally {
        await destination.close();
      }
    },
  };
}

const openDestination = (
  location: Exclude<BackupLocation, { kind: 'file' }>,
  identity: SftpIdentity | undefined,
): Promise<Destination> =>
  location.kind === 'sftp' ? openSftp(location, identity) : openDirectory(location.path);

async function write(store: Store, put: (snapshot: Snapshot) => Promise<number>): Promise<number> {
  if (!store.snapshot) throw new Fault('unsupported', 'this store cannot be backed up');
  let size = 0;
  await store.snapshot(async (snapshot) => {
    size = await put(snapshot);
  });
  return size;
}

async function* beating(
  chunks: AsyncIterable<Uint8Array>,
  alive: (octets: number) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let octets = 0;
  for await (const chunk of chunks) {
    await alive(octets);
    yield chunk;
    octets += chunk.length;
  }
}

async function* entries(
  { store: _, keyStores, files, clock }: BackupOptions,
  { schema, items }: Snapshot,
): AsyncGenerator<Entry> {
  yield { backup: { version: 1, createdAt: clock.now(), schema } };
  for (const [file, path] of Object.entries(files)) {
    const contents = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new Fault('unavailable', 'a file of the data directory cannot be read', { cause: error });
    });
    if (contents !== undefined) yield { file, contents };
  }
  const keysElsewhere = [...keyStores].filter(([, { files }]) => !files).map(([name]) => name);
  yield { keysElsewhere };
  // A key is durable before a record refers to it. So every key of the snapshot exists, unless it was deleted
  // meanwhile.
  for (const [store, { files: keys }] of keyStores) {
    for (const key of (await keys?.list()) ?? []) {
      const contents = await keys!.read(key);
      if (contents !== undefined) yield { key, store, contents };
    }
  }
  yield* items;
}

/** Appends the totals, so that a reader knows that it has read everything. */
async function* counted(all: AsyncIterable<Entry>): AsyncGenerator<Entry> {
  const end = { tables: 0, rows: 0, keys: 0 };
  for await (const entry of all) {
    if ('table' in entry) end.tables++;
    else if ('rows' in entry) end.rows += entry.rows.length;
    else if ('key' in entry) end.keys++;
    yield entry;
  }
  yield { end };
}

/** The longest duration of a backup, in milliseconds. */
const longest = 24 * 3_600_000;

/** Removes the temporary files of interrupted backups. A destination that cannot be listed still accepts backups. */
async function sweep(destination: Destination, now: number): Promise<void> {
  const oldest = temporaryName(nameAt(now - longest));
  const names = await destination.names().catch(() => []);
  const abandoned = names.filter((name) => unfinishedName.test(name) && name < oldest);
  for (const name of abandoned) await destination.remove(name).catch(() => undefined);
}

/** Deletes the oldest backups and keeps `keep` of them, including `made`. */
async function prune(destination: Destination, made: string, keep: number | undefined): Promise<void> {
  if (keep === undefined) return;
  const names = (await destination.names()).filter((name) => backupName.test(name)).sort();
  // Backups with a later time were made while the clock was ahead.
  const { later = [], earlier = [] } = Object.groupBy(names, (name) => (name > made ? 'later' : 'earlier'));
  for (const name of [...later, ...earlier].slice(0, -keep)) await destination.remove(name);
}
