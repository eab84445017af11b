import { demand, type Principal } from '../../access/principal.ts';
import { type Resource, resource } from '../../access/resource.ts';
import { audit, shorten } from '../../audit/record.ts';
import type { WithConfiguration } from '../../configuration/configuration.ts';
import { Fault } from '../../fault.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Page } from '../../ports/store.ts';
import type { DeviceImport, ImportRefusal } from '../../records/device-import.ts';
import { secretContext } from '../../security/secrets.ts';
import { retried } from '../../storage/commit.ts';
import { type ImportedDevice, importedDevices } from './credentials.ts';
import { isEnded } from './proceed.ts';
import { type ImportRow, importColumns, isImportColumn } from './row.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store' | 'vault'>, WithConfiguration {}

/** A table of devices to import. */
export interface ImportInput {
  readonly fileName: string;
  /** The column names in the first line. */
  readonly columns: readonly string[];
  /** The rows, which are read once. If reading them throws a Fault, that Fault is returned and nothing is imported. */
  readonly rows: AsyncIterable<ImportRow>;
}

export interface DeviceImports
  extends Pick<Resource<'deviceImport', never, DeviceImport>, 'list' | 'read' | 'remove'> {
  /**
   * Stores a table durably; the devices are created later, see `proceedImports`. Faults: forbidden; malformed for
   * unknown columns, too many rows or no rows.
   */
  create(principal: Principal, input: ImportInput): Promise<DeviceImport>;
  /** Cancels an import; the devices created so far stay. Faults: notFound, conflict if it has ended. */
  cancel(principal: Principal, id: number): Promise<DeviceImport>;
  /** Returns the refused rows in the order of their lines, some hundred at a time. Faults: notFound, malformed. */
  refusals(principal: Principal, id: number, cursor?: string): Promise<Page<ImportRefusal>>;
  /**
   * Returns the devices that the import created and that still exist, with their plain secrets. Faults: notFound,
   * malformed.
   */
  credentials(principal: Principal, id: number, cursor?: string): Promise<Page<ImportedDevice>>;
}

const perPart = 250;
const mostImportedRows = 250_000;
const partsPerPage = 100;
const refusalsPerPage = 500;

export function deviceImports(context: Dependencies): DeviceImports {
  const { store, clock } = context;
  const collection = resource<'deviceImport', never, DeviceImport>(context, {
    kind: 'deviceImport',
    reads: 'devices.read',
    writes: 'devices.write',
    view: (record) => record,
    summary: ({ fileName, created, refused }) => ({ fileName, created, refused }),
    update: async () => [],
    async remove({ id, finishedAt }) {
      if (finishedAt === null)
        throw new Fault(
          'conflict',
          'the import is still running: cancel it first, or wait until it has finished',
          { id: 'import_running' },
        );
      return [{ op: 'delete', kind: 'deviceImport', id }];
    },
  });

  async function receive(id: number, rows: AsyncIterable<ImportRow>): Promise<number> {
    let total = 0;
    let number = 0;
    let part: ImportRow[] = [];
    const keep = async (): Promise<void> => {
      const plain = Buffer.from(JSON.stringify(part));
      const values = {
        deviceImport: id,
        number: number++,
        rows: context.vault.seal(plain, secretContext.deviceImportRows),
        refusals: [],
      };
      part = [];
      await store.commit([{ op: 'insert', kind: 'deviceImportPart', values }]);
    };
    for await (const row of rows) {
      if (++total > mostImportedRows) {
        throw new Fault('malformed', `the file contains more than ${mostImportedRows} devices: split it`, {
          field: 'file',
        });
      }
      part.push(row);
      if (part.length === perPart) await keep();
    }
    if (part.length > 0) await keep();
    if (total === 0) throw new Fault('malformed', 'the file contains no devices', { field: 'file' });
    return total;
  }

  return {
    list: collection.list,
    read: collection.read,
    remove: collection.remove,
    async create(principal, { fileName, columns, rows }) {
      demand(principal, 'devices.write');
      demandColumns(principal, columns);
      const { actor } = principal;
      const counts = { total: 0, done: 0, created: 0, refused: 0, part: 0 };
      const values = { createdAt: clock.now(), fileName, actor, ...counts, finishedAt: null, reason: null };
      const [id] = await store.commit([
        { op: 'insert', kind: 'deviceImport', values: { ...values, state: 'receiving' } },
      ]);
      try {
        const total = await receive(id!, rows);
        await store.commit([
          {
            op: 'update',
            kind: 'deviceImport',
            id: id!,
            where: { state: 'receiving' },
            set: { state: 'waiting', total },
          },
          audit(context, actor, {
            action: 'deviceImport.create',
            object: `deviceImport:${id}`,
            detail: { fileName: shorten(fileName), total },
          }),
        ]);
      } catch (error) {
        // The deletion can fail for the same reason; then the import is deleted later.
        await store
          .commit([{ op: 'delete', kind: 'deviceImport', id: id! }])
          .catch((cause) =>
            context.log.warn('a rejected import could not be deleted', { id: id!, why: String(cause) }),
          );
        throw error;
      }
      return collection.read(principal, id!);
    },
    async cancel(principal, id) {
      demand(principal, 'devices.write');
      await retried(async () => {
        const record = await store.get('deviceImport', id);
        if (!record) throw new Fault('notFound', 'there is no such device import');
        const { state, done } = record;
        if (isEnded(state))
          throw new Fault('conflict', 'the import has already finished', { id: 'import_ended' });
        await store.commit([
          { op: 'update', kind: 'deviceImport', id, where: { state, done }, set: { state: 'cancelled' } },
          audit(context, principal.actor, {
            action: 'deviceImport.cancel',
            object: `deviceImport:${id}`,
            detail: { done },
          }),
        ]);
      });
      return collection.read(principal, id);
    },
    async refusals(principal, id, cursor) {
      await collection.read(principal, id);
      let next = partNumber(cursor);
      const records: ImportRefusal[] = [];
      for (;;) {
        const { records: parts } = await store.list('deviceImportPart', {
          where: [
            { field: 'deviceImport', is: 'equal', value: id },
            { field: 'rows', is: 'equal', value: null },
            { field: 'number', is: 'greaterOrEqual', value: next },
          ],
          order: { field: 'number', descending: false },
          limit: partsPerPage,
        });
        for (const { number, refusals } of parts) {
          records.push(...refusals);
          next = number + 1;
          if (records.length >= refusalsPerPage) return { records, next: String(next) };
        }
        if (parts.length < partsPerPage) return { records };
      }
    },
    async credentials(principal, id, cursor) {
      demand(principal, 'devices.secrets');
      await collection.read(principal, id);
      const page = await importedDevices(context, principal, id, cursor);
      // Every page: who knows what a cursor looks like can begin with any.
      const event = { action: 'deviceImport.credentials', object: `deviceImport:${id}` } as const;
      await store.commit([audit(context, principal.actor, event)]);
      return page;
    },
  };
}

function partNumber(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,6}$/.test(cursor))
    throw new Fault('malformed', 'this cursor does not belong to this list', { field: 'cursor' });
  return Number(cursor);
}

function demandColumns(principal: Principal, columns: readonly string[]): void {
  const refuse = (detail: string): never => {
    throw new Fault('malformed', detail, { field: 'file' });
  };
  const unknown = columns.find((name) => !isImportColumn(name));
  if (unknown !== undefined) {
    const known = Object.keys(importColumns).join(', ');
    refuse(`line 1: there is no column called ${JSON.stringify(shorten(unknown))}; there are ${known}`);
  }
  const twice = columns.find((name, n) => columns.indexOf(name) !== n);
  if (twice !== undefined) refuse(`line 1: the column ${twice} is there twice`);
  if (!columns.includes('common_name')) refuse('line 1: the column common_name is missing');
  // A person who sets a secret can act as the device.
  if (columns.includes('est_password') || columns.includes('cmp_shared_secret'))
    demand(principal, 'devices.secrets');
}
