import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** One line of the table. */
export interface Result {
  readonly title: string;
  /** The target as text; undefined if the figure is only reported. */
  readonly target?: string;
  readonly measured: string;
  /** Whether the target is met; undefined if there is none. */
  readonly met?: boolean;
  /** Further figures as text. */
  readonly remark: string;
  /** All figures, for comparison with other runs. */
  readonly figures: object;
}

export function printTable(results: readonly Result[]): void {
  const rows = results.map(({ title, target = '–', measured, met, remark }) => [
    title,
    target,
    measured,
    met === undefined ? '' : met ? 'yes' : 'NO',
    remark,
  ]);
  const lines = [['Case', 'Target', 'Measured', 'Met', 'Details'], ...rows];
  const widths = lines[0]!.map((_, n) => Math.max(...lines.map((line) => line[n]!.length)));
  for (const line of lines)
    console.log(
      line
        .map((cell, n) => cell.padEnd(widths[n]!))
        .join('  ')
        .trimEnd(),
    );
}

/** Writes all results to a new file. Returns its path. */
export function writeJson(results: readonly Result[], options: object): string {
  const directory = join(import.meta.dir, 'results');
  mkdirSync(directory, { recursive: true });
  const at = new Date().toISOString();
  const path = join(directory, `${at.replace(/[:.]/g, '-')}.json`);
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, memory: totalmem(), bun: Bun.version };
  writeFileSync(path, `${JSON.stringify({ at, machine, options, results }, undefined, 2)}\n`);
  return path;
}
