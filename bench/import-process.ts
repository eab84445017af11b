/**
 * Imports the number of devices given as argument and prints the figures as JSON. It is a process of its own, so that its peak
 * memory is that of the import.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { systemClock } from '#adapters/outbound/system/platform.ts';
import { readCsv } from '#adapters/wire/csv.ts';
import { installation } from '#tests/fixtures/installation.ts';

export interface ImportFigures {
  readonly devices: number;
  /** The size of the file in octets. */
  readonly size: number;
  /** Milliseconds to receive the file, and then to create all devices. */
  readonly received: number;
  readonly made: number;
  /** Resident memory in MiB: before the import, and its peak. */
  readonly before: number;
  readonly peak: number;
}

const [, , count] = process.argv;
console.log(JSON.stringify(await measure(Number(count))));

async function measure(devices: number): Promise<ImportFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-import-'));
  try {
    const clock = { now: () => systemClock.now(), advance() {} };
    const store = await openSqliteStore({ path: join(directory, 'postern.db'), clock });
    await using site = await installation({ clock, store });
    const { gateway, admin } = site;
    const carryOut = async (file: Uint8Array) => {
      const started = performance.now();
      const { id } = await gateway.deviceImports.create(admin, { fileName: '', ...(await readCsv(file)) });
      const received = performance.now() - started;
      while ((await gateway.deviceImports.read(admin, id)).finishedAt === null)
        await gateway.proceedImports();
      const { created } = await gateway.deviceImports.read(admin, id);
      return { created, received, made: performance.now() - started - received };
    };
    await carryOut(table('warm-up', 2000));
    const file = table('pump', devices);
    Bun.gc(true);
    const before = resident('VmRSS');
    const { created, received, made } = await carryOut(file);
    if (created !== devices) throw new Error(`${created} devices`);
    return { devices, size: file.length, received, made, before, peak: resident('VmHWM') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function table(name: string, rows: number): Uint8Array {
  const lines = Array.from({ length: rows }, (_, n) => `${name}-${n},SN-${name}-${n},default,est cmp\n`);
  return Buffer.from(`common_name,serial_number,domain,protocols\n${lines.join('')}`);
}

/** Returns a memory figure of this process from the kernel, in MiB. */
function resident(figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync('/proc/self/status', 'latin1');
  return Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}
