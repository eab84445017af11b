import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Mutant } from './mutants.ts';
import type { Verdict } from './scratch.ts';

/** What has been found out, kept in a file, so that the next run goes on where this one ends. */
export class Results {
  readonly #path: string;
  readonly #verdicts: Record<string, Verdict>;

  constructor(path: string) {
    this.#path = path;
    this.#verdicts = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  }

  get(key: string): Verdict | undefined {
    return this.#verdicts[key];
  }

  set(key: string, verdict: Verdict): void {
    this.#verdicts[key] = verdict;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#verdicts));
  }
}

/** Stays the same for as long as neither the source nor its tests change. */
export const keyOf = ({ file, start, end, replacement }: Mutant, state: string): string =>
  `${file} ${start} ${end} ${Bun.hash(`${replacement} ${state}`).toString(36)}`;

/** The lines of a report: what survived, then the scores by folder and of all. */
export function report(judged: readonly { mutant: Mutant; verdict: Verdict }[]): readonly string[] {
  const lines = judged
    .filter(({ verdict }) => verdict === 'survived')
    .map(
      ({ mutant: { file, line, original, replacement } }) =>
        `survived ${file}:${line}: ${original} → ${replacement}`,
    );
  const folders = Map.groupBy(judged, ({ mutant }) => dirname(mutant.file));
  for (const [folder, of] of [...folders].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    lines.push(score(folder, of));
  lines.push(score('all', judged));
  return lines;
}

function score(what: string, judged: readonly { verdict: Verdict }[]): string {
  const noticed = judged.filter(({ verdict }) => verdict !== 'survived').length;
  const percent = judged.length === 0 ? 0 : (100 * noticed) / judged.length;
  return `${what}: ${noticed} of ${judged.length} mutants noticed, ${percent.toFixed(1)} %`;
}
