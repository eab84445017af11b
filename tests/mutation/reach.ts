import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a run of one test file without a mutant showed. */
export interface Measured {
  readonly passes: boolean;
  /** Seconds of processor time, which depends less on other load than elapsed time. */
  readonly seconds: number;
  /** For each source file, a hash of its text and the lines that were executed. */
  readonly sources: Readonly<Record<string, { readonly hash: string; readonly lines: readonly number[] }>>;
}

/** A copy of the work tree without a mutant in it. */
export interface Tree {
  read(file: string): string;
  measure(test: string): Promise<Omit<Measured, 'sources'> & { readonly lcov: string }>;
}

export const hashOf = (text: string): string => Bun.hash(text).toString(36);

/** Without texts in quotes: a test that is renamed executes the same lines. */
const codeHash = (source: string): string => hashOf(source.replace(/'[^'\n]*'/g, ''));

/** Lines before and after. */
const nearby = 20;

/**
 * Knows which test files execute a line. Measures each test file once, when it is first needed, and keeps the result in a folder
 * until the test file or the source file changes.
 */
export class Reach {
  readonly #folder: string;
  readonly #measured = new Map<string, Promise<Measured>>();

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
  }

  /**
   * Returns the test files among `tests` that pass and execute the line, with their processor time in seconds. The first are those
   * that execute lines around it which few others execute, relative to their processor time.
   */
  async reaching(
    source: string,
    line: number,
    tests: readonly string[],
    tree: Tree,
  ): Promise<readonly { readonly test: string; readonly seconds: number }[]> {
    const passing: { test: string; seconds: number; lines: readonly number[] }[] = [];
    for (const test of tests) {
      const { passes, seconds, sources } = await this.#of(test, source, tree);
      const lines = sources[source]?.lines.filter((one) => Math.abs(one - line) <= nearby) ?? [];
      if (passes && lines.length > 0) passing.push({ test, seconds, lines });
    }
    const counts = new Map<number, number>();
    for (const one of passing.flatMap(({ lines }) => lines)) counts.set(one, (counts.get(one) ?? 0) + 1);
    const worth = ({ seconds, lines }: (typeof passing)[number]): number =>
      lines.reduce((sum, one) => sum + 1 / counts.get(one)!, 0) / seconds;
    return passing
      .filter(({ lines }) => lines.includes(line))
      .map((one) => ({ ...one, worth: worth(one) }))
      .toSorted((a, b) => b.worth - a.worth);
  }

  #of(test: string, source: string, tree: Tree): Promise<Measured> {
    const measuring = this.#measured.get(test) ?? this.#kept(test, source, tree) ?? this.#make(test, tree);
    this.#measured.set(test, measuring);
    return measuring;
  }

  #path(test: string): string {
    return join(this.#folder, `${test.replaceAll('/', '_')}.json`);
  }

  #kept(test: string, source: string, tree: Tree): Promise<Measured> | undefined {
    if (!existsSync(this.#path(test))) return undefined;
    const { hash, ...measured } = JSON.parse(readFileSync(this.#path(test), 'utf8'));
    const then = measured.sources[source]?.hash;
    const isSame =
      hash === codeHash(tree.read(test)) && (then === undefined || then === hashOf(tree.read(source)));
    return isSame ? Promise.resolve(measured) : undefined;
  }

  async #make(test: string, tree: Tree): Promise<Measured> {
    const hash = codeHash(tree.read(test));
    const { lcov, ...rest } = await tree.measure(test);
    const sources = Object.fromEntries(
      linesOf(lcov)
        .filter(([file]) => /^(core|adapters)\//.test(file))
        .map(([file, lines]) => [file, { hash: hashOf(tree.read(file)), lines }]),
    );
    const measured = { ...rest, sources };
    writeFileSync(this.#path(test), JSON.stringify({ hash, ...measured }));
    return measured;
  }
}

/** Returns the executed lines of each file in an LCOV report. A line without code counts as executed. */
export function linesOf(lcov: string): readonly (readonly [file: string, lines: readonly number[]])[] {
  return lcov.split('end_of_record').flatMap((record) => {
    const file = /^SF:(.+)$/m.exec(record)?.[1];
    if (file === undefined) return [];
    const counts = new Map(
      [...record.matchAll(/^DA:(\d+),(\d+)$/gm)].map(([, line, count]) => [Number(line), Number(count)]),
    );
    const last = Math.max(0, ...counts.keys());
    const lines: number[] = [];
    for (let line = 1; line <= last; line++) if (counts.get(line) !== 0) lines.push(line);
    return [[file, lines] as const];
  });
}
