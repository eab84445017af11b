import { join } from 'node:path';
import type { ImportFigures } from '../import-process.ts';
import { printTable, type Result } from '../report.ts';
import { type Case, microseconds } from './case.ts';

const program = join(import.meta.dir, '..', 'import-process.ts');
/** The additional memory in MiB that ten times as many devices may need. */
const mostGrowth = 64;

/** Measures time and memory of a device import from CSV on SQLite. Memory must not grow with the number of devices. */
export const deviceImportCase: Case = {
  name: 'device-import',
  run: async (_, { imported }) => importsOf(imported),
};

function importsOf(devices: number): Result[] {
  const figures = [devices / 10, devices].map(measure);
  const growth = figures[1]!.peak - figures[0]!.peak;
  return figures.map((one, n) => ({
    title: `Import of ${one.devices.toLocaleString('en')} devices`,
    measured: `${microseconds((1000 * (one.received + one.made)) / one.devices)} per device`,
    ...(n === 1 && { target: `memory flat (≤ ${mostGrowth} MiB more)`, met: growth <= mostGrowth }),
    remark: [
      `${((one.received + one.made) / 1000).toFixed(1)} s, ${(one.received / 1000).toFixed(1)} s of it to receive the file`,
      `${(one.size / 2 ** 20).toFixed(1)} MiB`,
      `memory ${one.before.toFixed(0)} to ${one.peak.toFixed(0)} MiB`,
    ].join(', '),
    figures: one,
  }));
}

function measure(devices: number): ImportFigures {
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, program, String(devices)]);
  if (!success) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as ImportFigures;
}

if (import.meta.main) printTable(importsOf(Number(process.argv[2] ?? 100_000)));
