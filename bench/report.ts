import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** One line of the table. */
export interface Result {
  readonly title: string;
  /** What is to be reached, in words; undefined where only the figure is asked for. */
  readonly reach?: string;
  readonly measured: string;
  /** Whether the reach is met; undefined where there is none. */
  readonly met?: boolean;
  /** What else was seen, in words. */
  readonly remark: string;
  /** Every figure, for whoever wants to compare. */
  readonly figures: object;
}

export function printTable(results: readonly Result[]): void {
  const rows = results.map(({ title, reach = 'report', measured, met, remark }) => [
    title,
    reach,
    measured,
    met === undefined ? '' : met ? 'yes' : 'NO',
    remark,
  ]);
  const lines = [['Case', 'Reach', 'Measured', 'Met', 'Seen'], ...rows];
  const widths = lines[0]!.map((_, n) => Math.max(...lines.map((line) => line[n]!.length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join('  ')
        .trimEnd(),
    );
}

/** Writes everything to a file of its own; the file's path. */
export function writeJson(results: readonly Result[], options: object): string {
  const directory = join(import.meta.dir, 'results');
  mkdirSync(directory, { recursive: true });
  const at = new Date().toISOString();
  const path = join(directory, `${at.replace(/[:.]/g, '-')}.json`);
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memory: totalmem(), bun: Bun.version };
  writeFileSync(path, `${JSON.stringify({ at, machine, options, results }, undefined, 2)}\n`);
  return path;
}
