import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Mutant } from './mutants.ts';

/** `unreached`: none of the test files to try executes the line. */
export type Verdict = 'noticed' | 'timeout' | 'survived' | 'unreached' | 'equivalent';

export interface Judged {
  readonly mutant: Mutant;
  readonly area: string;
  readonly verdict: Verdict;
}

interface Found {
  readonly verdict: Verdict;
  /** A hash of the source file and of the test file that failed, or of all test files to try. */
  readonly basis: string;
  /** The test file that failed. */
  readonly by?: string;
}

export const isMissed = (verdict: Verdict): boolean => verdict === 'survived' || verdict === 'unreached';

/** The verdicts of earlier runs, kept in a file so that the next run does not measure them again. */
export class Results {
  readonly #path: string;
  readonly #found: Record<string, Found>;

  constructor(path: string) {
    this.#path = path;
    this.#found = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  }

  get(mutant: Mutant): Found | undefined {
    return this.#found[keyOf(mutant)];
  }

  set(mutant: Mutant, found: Found): void {
    this.#found[keyOf(mutant)] = found;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#found));
  }
}

const keyOf = ({ file, start, end, replacement }: Mutant): string => `${file} ${start} ${end} ${replacement}`;

export const lineOf = ({ file, line, original, replacement }: Mutant): string =>
  `${file}:${line}: ${original} → ${replacement}`;

/** Returns the lines of a report: the mutants that were missed, then the scores by area and in total. */
export function report(judged: readonly Judged[]): readonly string[] {
  const lines = judged
    .filter(({ verdict }) => isMissed(verdict))
    .map(({ mutant, verdict }) => `${verdict} ${lineOf(mutant)}`);
  const areas = Map.groupBy(judged, ({ area }) => area);
  for (const [area, of] of [...areas].toSorted(([a], [b]) => (a < b ? -1 : 1))) lines.push(score(area, of));
  lines.push(score('all', judged));
  return lines;
}

function score(what: string, judged: readonly Judged[]): string {
  const count = (...verdicts: readonly Verdict[]): number =>
    judged.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const noticed = count('noticed', 'timeout');
  const equivalent = count('equivalent');
  const of = judged.length - equivalent;
  const percent = of === 0 ? 100 : (100 * noticed) / of;
  return (
    `${what}: ${noticed} of ${of} mutants noticed (${count('timeout')} by endless loops), ` +
    `${percent.toFixed(1)} %; ${equivalent} equivalent ones left out`
  );
}
