import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import { audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { hex } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import type { BackupFile, BackupLocation } from '../ports/backups.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Backup } from '../records/setting.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { readLocation } from './location.ts';
import { type RestoreRequest, type RestoreResult, settleRestore } from './settle.ts';

interface Dependencies
  extends Pick<Ports, 'backups' | 'clock' | 'entropy' | 'log' | 'store'>,
    WithConfiguration,
    WithDamagedRecords {}

export interface BackupInput {
  /** An absolute path, or `sftp://user@host/path`. */
  readonly remoteDirectory: string;
}

export interface Backups extends Resource<'backup', BackupInput, Backup> {
  /**
   * Runs a backup now. Only one runs at a time, on all instances together. Faults: notFound, conflict (another backup
   * is running, no passphrase is configured, the directory cannot be used), unavailable.
   */
  run(principal: Principal, id: number): Promise<BackupFile>;
  /** Writes a backup into a new file; `passphrase` replaces the configured one. `progress` is called repeatedly. */
  write(
    principal: Principal,
    file: string,
    passphrase: string | undefined,
    progress?: (octets: number) => void,
  ): Promise<BackupFile>;
  /** Aborts the running backups of this instance, so that no incomplete file is left, and starts no more. */
  stop(): Promise<void>;
  /** Records in the audit trail that this store is a copy of another one with `records` records. */
  copied(principal: Principal, records: number): Promise<void>;
  /** See `settleRestore`. */
  settle(principal: Principal, ask: RestoreRequest): Promise<RestoreResult>;
}

/** Seconds of the lease: if its holder dies, another run may start after that. */
const leased = 120;
/** Milliseconds between two log lines about the progress of a backup. */
const logged = 10_000;
/** Milliseconds between two renewals of the lease. */
const renewed = 20_000;

export function backups(context: Dependencies, crls: Crls): Backups {
  const { store, clock } = context;
  const running = new Set<Promise<unknown>>();
  let stopping = false;

  function make(...run: Parameters<typeof makeNow>): Promise<BackupFile> {
    const made = makeNow(...run);
    running.add(made);
    return made.finally(() => running.delete(made));
  }

  async function makeNow(
    actor: Actor,
    object: string,
    location: BackupLocation,
    passphrase: string | undefined,
    record: (result: string) => readonly Write[],
    progress?: (octets: number) => void,
  ): Promise<BackupFile> {
    const { backups } = context;
    if (!backups)
      throw new Fault('conflict', 'this service cannot make backups', { id: 'backups_not_configured' });
    const holder = hex(context.entropy.bytes(16));
    const hold = async (): Promise<void> => {
      if (!(await store.lease('backup', holder, leased)))
        throw new Fault('conflict', 'another backup is running', { id: 'backup_running' });
    };
    await hold();
    let renewedAt = clock.now();
    let loggedAt = renewedAt;
    const alive = async (octets: number): Promise<void> => {
      if (stopping) throw new Fault('unavailable', 'the service is stopping', { retryAfter: 10 });
      progress?.(octets);
      if (clock.now() - loggedAt >= logged) {
        loggedAt = clock.now();
        context.log.info('a backup is being written', { octets });
      }
      if (clock.now() - renewedAt < renewed) return;
      renewedAt = clock.now();
      await hold();
    };
    try {
      const file = await backups.run(location, alive, passphrase === undefined ? {} : { passphrase });
      const detail = { file: file.name, size: file.size };
      await store.commit([
        ...record(`success: ${file.name}`),
        audit(context, actor, { action: 'backup.run', object, detail }),
      ]);
      return file;
    } catch (error) {
      const fault = toFault(error);
      const event = {
        action: 'backup.run',
        object,
        outcome: 'failed',
        detail: { why: fault.detail },
      } as const;
      await store
        .commit([...record(`failed: ${fault.detail}`), audit(context, actor, event)])
        .catch((cause) => context.log.error('a failed backup could not be recorded in the audit log', cause));
      throw error;
    } finally {
      await store.lease('backup', holder, 0);
    }
  }

  const collection = resource<'backup', BackupInput, Backup>(context, {
    kind: 'backup',
    reads: 'backups.read',
    writes: 'backups.write',
    view: (record) => record,
    summary: ({ remoteDirectory, user }) => ({ remoteDirectory, user }),
    async create({ remoteDirectory }, { actor }) {
      readLocation(remoteDirectory);
      const values = {
        createdAt: clock.now(),
        remoteDirectory,
        user: actor.name,
        lastRunAt: null,
        lastResult: null,
      };
      return { values };
    },
    async update({ id }, { remoteDirectory }) {
      if (remoteDirectory === undefined) return [];
      readLocation(remoteDirectory);
      return updateWrites('backup', id, { remoteDirectory });
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'backup', id }],
  });

  return {
    ...collection,
    async run(principal, id) {
      demand(principal, 'backups.write');
      const option = await store.get('backup', id);
      if (!option) throw new Fault('notFound', 'there is no such backup');
      const location = readLocation(option.remoteDirectory);
      return make(principal.actor, `backup:${id}`, location, undefined, (lastResult) => [
        { op: 'update', kind: 'backup', id, set: { lastRunAt: clock.now(), lastResult } },
      ]);
    },
    async write(principal, path, passphrase, progress) {
      demand(principal, 'backups.write');
      return make(principal.actor, '', { kind: 'file', path }, passphrase, () => [], progress);
    },
    async stop() {
      stopping = true;
      await Promise.allSettled(running);
    },
    async copied(principal, records) {
      demand(principal, 'backups.write');
      await store.commit([
        audit(context, principal.actor, { action: 'store.copy', object: '', detail: { records } }),
      ]);
    },
    async settle(principal, ask) {
      demand(principal, 'backups.write');
      return settleRestore(context, crls, principal.actor, ask);
    },
  };
}
