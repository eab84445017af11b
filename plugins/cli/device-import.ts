import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { readCsv } from '#adapters/wire/csv.ts';
import { Fault } from '#core/fault.ts';
import type { DeviceImport, ImportRefusal } from '#core/records/device-import.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  jsonOption,
  type Opened,
  operatorName,
  printJson,
  printTable,
  UsageError,
  withGateway,
} from './command.ts';

const maxOctets = 512 * 1024 * 1024;

export const deviceImport: Command = {
  name: 'device import',
  positionals: ['FILE'],
  summary: 'Create the devices of a CSV file.',
  details: `The first line of the file names the columns. Only common_name is required; others are serial_number, device_type, domain,
protocols, est_password, cmp_shared_secret and idevid_truststore. The command prints the rejected lines with the reasons.`,
  options: { json: jsonOption, data: dataOption, config: configOption },
  async run(invocation) {
    const path = invocation.positionals[0]!;
    const file = await readImport(path);
    const { record, refusals } = await withGateway(invocation, (opened) =>
      importDevices(opened, basename(path), file),
    );
    const { id, state, total, created, refused } = record;
    if (invocation.options.json === true) printJson({ id, state, total, created, refused, refusals });
    else {
      if (refusals.length > 0) {
        printTable(
          ['LINE', 'FIELD', 'REASON'],
          refusals.map(({ line, field, message }) => [line, field, message]),
        );
      }
      console.log(`${created} of ${total} devices created (import ${id})`);
    }
    return state === 'done' && refused === 0 ? exit.success : exit.failure;
  },
};

async function readImport(path: string): Promise<Uint8Array> {
  const unread = (cause: unknown): Fault => new Fault('unavailable', `${path} cannot be read`, { cause });
  const { size } = await stat(path).catch((error) => {
    throw unread(error);
  });
  if (size > maxOctets) throw new UsageError('FILE must not be larger than 512 MiB');
  return readFile(path).catch((error) => {
    throw unread(error);
  });
}

interface Imported {
  readonly record: DeviceImport;
  readonly refusals: readonly ImportRefusal[];
}

/** Waits until the import is complete. A running server may process it instead of this command. */
async function importDevices({ gateway }: Opened, fileName: string, file: Uint8Array): Promise<Imported> {
  const principal = gateway.accounts.operator(operatorName());
  const { deviceImports } = gateway;
  let record = await deviceImports.create(principal, { fileName, ...(await readCsv(file)) });
  while (record.finishedAt === null) {
    await gateway.proceedImports();
    record = await deviceImports.read(principal, record.id);
    if (record.finishedAt === null) await Bun.sleep(100);
  }
  const refusals: ImportRefusal[] = [];
  let cursor: string | undefined;
  do {
    const page = await deviceImports.refusals(principal, record.id, cursor);
    refusals.push(...page.records);
    cursor = page.next;
  } while (cursor !== undefined);
  return { record, refusals };
}
