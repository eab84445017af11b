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

  /** Returns the processor time of a test file in seconds; undefined if it fails or does not execute the line. */
  async secondsOf(test: string, source: string, line: number, tree: Tree): Promise<number | undefined> {
    const known = this.#measured.get(test) ?? this.#kept(test, source, tree);
    const measuring = known ?? this.#make(test, tree);
    this.#measured.set(test, measuring);
    const { passes, seconds, sources } = await measuring;
    return passes && sources[source]?.lines.includes(line) ? seconds : undefined;
  }

  #path(test: string): string {
    return join(this.#folder, `${test.replaceAll('/', '_')}.json`);
  }

  #kept(test: string, source: string, tree: Tree): Promise<Measured> | undefined {
    if (!existsSync(this.#path(test))) return undefined;
    const { hash, ...measured } = JSON.parse(readFileSync(this.#path(test), 'utf8'));
    const then = measured.sources[source]?.hash;
    const isSame =
      hash === hashOf(tree.read(test)) && (then === undefined || then === hashOf(tree.read(source)));
    return isSame ? Promise.resolve(measured) : undefined;
  }

  async #make(test: string, tree: Tree): Promise<Measured> {
    const hash = hashOf(tree.read(test));
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
