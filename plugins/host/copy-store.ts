import { createHash } from 'node:crypto';
import { openMasterKey } from '#adapters/outbound/system/master-key.ts';
import { lockDirectory, systemClock, systemEntropy } from '#adapters/outbound/system/platform.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { AuditVerdict } from '#core/audit/verify.ts';
import { Fault } from '#core/fault.ts';
import { maintenanceLeases } from '#core/maintenance/maintenance.ts';
import type { Snapshot, SnapshotItem, SnapshotValue } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import type { Plugin } from '../kit/contract.ts';
import type { Chosen } from './choose.ts';
import { readConfiguration } from './config.ts';
import { type LoadedConfiguration, loadConfiguration, type Place, sourceIn } from './config-file.ts';
import { openSlot } from './registry.ts';
import { masterKeyOptions, openLog, openService, rememberedAddresses } from './service.ts';

/** Called with the table in progress, and the number of records that have been copied or compared so far. */
export type CopyProgress = (phase: 'copying' | 'comparing', table: string, records: number) => void;

export interface CopyResult {
  readonly tables: number;
  readonly records: number;
  /** The verification of the audit trail in the copy. */
  readonly audit: AuditVerdict;
}

/** Seconds for which the copy holds the leases of maintenance. */
const leaseSeconds = 60;

/**
 * Reads the destination of a copy: the URL of a PostgreSQL database, `sqlite:` with an optional path, or a configuration
 * file whose [store] table names it. Values may refer to environment variables, as in a configuration file. Throws a
 * ConfigurationError.
 */
export async function destinationOf(
  to: string,
  place: Place,
  catalog: readonly Plugin[],
): Promise<Chosen<'store'>> {
  if (to.endsWith('.toml')) {
    const { configuration } = await loadConfiguration({ ...place, config: to }, catalog);
    return configuration.store[0]!;
  }
  const [, path] = /^sqlite:(.*)$/.exec(to) ?? [];
  const store =
    path === undefined ? { plugin: 'postgres', url: to } : { plugin: 'sqlite', ...(path !== '' && { path }) };
  const configuration = await readConfiguration({
    tables: { store },
    overrides: {},
    source: sourceIn(process.cwd()),
    catalog,
    load: () => Promise.reject(new Error('the destination names no module')),
  });
  return configuration.store[0]!;
}

/**
 * Copies all records of the configured store into the empty store `to`, then compares both and verifies the audit trail
 * of the copy. Key files and the master key are not records: they stay where they are. `operator` is the actor for the
 * audit trail of the copy. Faults: conflict (a gateway is running, or the destination is not empty), internal (the
 * copy differs), unavailable, unsupported.
 */
export async function copyStore(
  loaded: LoadedConfiguration,
  to: Chosen<'store'>,
  operator: string,
  progress: CopyProgress,
): Promise<CopyResult> {
  const { configuration, dataDirectory } = loaded;
  const { restore } = to.plugin;
  if (!restore) throw new Fault('unsupported', `the store "${to.plugin.name}" cannot be filled with a copy`);
  await using stack = new AsyncDisposableStack();
  const lock = lockDirectory(dataDirectory);
  if (!lock) throw running(`the data directory ${dataDirectory} is in use by postern serve`);
  stack.use(lock);
  const log = await openLog(loaded, { logToStderr: false }, stack);
  const surroundings = { dataDirectory, log, clock: systemClock, entropy: systemEntropy };
  const masterKey = await openMasterKey(masterKeyOptions(loaded));
  const vault = createVault(masterKey.subKeys('postern vault'));
  const [source] = (await openSlot('store', configuration.store, { ...surroundings, vault }, stack)).values();
  // A store for one process belongs to whoever has locked the data directory.
  if (!configuration.store[0]!.plugin.oneProcess) stack.defer(await holdLeases(source!));

  const original = new Digests();
  await snapshotted(source!, (snapshot) => {
    const items = original.of(snapshot.items, (table, records) => progress('copying', table, records));
    return restore(to.config, { ...surroundings, name: to.name }, { ...snapshot, items });
  });
  const copied = { ...loaded, configuration: { ...configuration, store: [to] } };
  const audit = await verify(copied, original, operator, progress);

  const now = new Digests();
  await snapshotted(source!, (snapshot) => drain(now.of(snapshot.items, () => {})));
  if (now.differsFrom(original) !== undefined) throw running('the source was changed during the copy');
  return { tables: original.tables, records: original.records, audit };
}

/** Compares the copy with the digests of the original, and opens it as the service does. */
async function verify(
  copied: LoadedConfiguration,
  original: Digests,
  operator: string,
  progress: CopyProgress,
): Promise<AuditVerdict> {
  await using stack = new AsyncDisposableStack();
  const service = await openService(copied, rememberedAddresses(copied), { logToStderr: false }, stack);
  const copy = new Digests();
  await snapshotted(service.store, (snapshot) =>
    drain(copy.of(snapshot.items, (table, records) => progress('comparing', table, records))),
  );
  const table = copy.differsFrom(original);
  if (table !== undefined) {
    throw new Fault(
      'internal',
      `the copy of the table ${table} differs from the original: do not use the copy`,
    );
  }
  const principal = service.gateway.accounts.operator(operator);
  await service.gateway.backups.copied(principal, original.records);
  return await service.gateway.auditEvents.verify(principal);
}

/** Running gateways hold these leases; a gateway that was killed holds them for up to a minute. */
async function holdLeases(store: Store): Promise<() => Promise<void>> {
  const holder = crypto.randomUUID();
  const held: string[] = [];
  const release = async (): Promise<void> => {
    for (const name of held) await store.lease(name, holder, 0).catch(() => undefined);
  };
  for (const name of maintenanceLeases) {
    if (await store.lease(name, holder, leaseSeconds)) {
      held.push(name);
      continue;
    }
    await release();
    throw running('a gateway is using the store');
  }
  return release;
}

const running = (what: string): Fault =>
  new Fault('conflict', `${what}: stop every gateway, wait a minute and start the copy again`);

async function snapshotted(store: Store, use: (snapshot: Snapshot) => Promise<void>): Promise<void> {
  if (!store.snapshot) throw new Fault('unsupported', 'the configured store cannot be copied');
  await store.snapshot(use, true);
}

async function drain(items: AsyncIterable<SnapshotItem>): Promise<void> {
  for await (const _ of items);
}

/** Counts the records of each table, and sums up their contents in any order. */
class Digests {
  readonly #tables = new Map<string, { count: number; readonly sum: Buffer }>();

  get tables(): number {
    return this.#tables.size;
  }

  get records(): number {
    return [...this.#tables.values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Passes the items on. */
  async *of(
    items: AsyncIterable<SnapshotItem>,
    progress: (table: string, records: number) => void,
  ): AsyncGenerator<SnapshotItem> {
    let name = '';
    let records = 0;
    for await (const item of items) {
      if ('table' in item) {
        name = item.table.name;
        this.#tables.set(name, { count: 0, sum: Buffer.alloc(32) });
      } else {
        for (const row of item.rows) this.#add(name, row);
        records += item.rows.length;
        progress(name, records);
      }
      yield item;
    }
  }

  #add(name: string, row: readonly SnapshotValue[]): void {
    const table = this.#tables.get(name)!;
    table.count++;
    const digest = createHash('sha256')
      .update(JSON.stringify(row.map(comparable)))
      .digest();
    for (let n = 0; n < digest.length; n++) table.sum[n]! ^= digest[n]!;
  }

  /** The name of the first table whose records differ. */
  differsFrom(other: Digests): string | undefined {
    const names = new Set([...this.#tables.keys(), ...other.#tables.keys()]);
    return [...names].find((name) => {
      const [a, b] = [this.#tables.get(name), other.#tables.get(name)];
      return a?.count !== b?.count || !a?.sum.equals(b?.sum ?? Buffer.alloc(0));
    });
  }
}

/** Octets as hexadecimal digits behind a tag, so that they never equal a text. */
const comparable = (value: SnapshotValue): unknown =>
  value instanceof Uint8Array ? { octets: value.toHex() } : value;
