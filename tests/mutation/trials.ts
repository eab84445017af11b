import { isEquivalent } from './equivalent.ts';
import type { Mutant } from './mutants.ts';
import { hashOf, type Reach } from './reach.ts';
import type { Results, Verdict } from './results.ts';
import type { Scratch } from './scratch.ts';

/** Limit for one mutant: the usual processor time of the test files tried, in seconds. */
const budget = 12;

const isNamesake = (test: string, file: string): boolean =>
  test === `tests/${file.replace(/\.tsx?$/, '.test.ts')}`;

/** Judges mutants, or recalls the verdict of an earlier run. */
export class Trials {
  readonly #reach: Reach;
  readonly #results: Results;

  constructor(reach: Reach, results: Results) {
    this.#reach = reach;
    this.#results = results;
  }

  /** `tests`: the files to try, in order. */
  async verdictOn(mutant: Mutant, tests: readonly string[], tree: Scratch): Promise<Verdict> {
    if (isEquivalent(mutant)) return 'equivalent';
    const basis = (of: readonly string[]): string =>
      hashOf([mutant.file, ...of].map((file) => hashOf(tree.read(file))).join());
    const known = this.#results.get(mutant);
    if (known && known.basis === basis(known.by ? [known.by] : tests)) return known.verdict;
    let left = budget;
    let isReached = false;
    const reaching = await this.#reach.reaching(mutant.file, mutant.line, tests, tree);
    // The test file that is named after the source file comes first.
    const named = reaching.filter(({ test }) => isNamesake(test, mutant.file));
    for (const { test, seconds } of new Set([...named, ...reaching])) {
      if (isReached && left < seconds) continue;
      left -= seconds;
      isReached = true;
      const outcome = await tree.judge(mutant, test, seconds);
      if (outcome === 'passed') continue;
      const verdict = outcome === 'timeout' ? 'timeout' : 'noticed';
      this.#results.set(mutant, { verdict, basis: basis([test]), by: test });
      return verdict;
    }
    const verdict = isReached ? 'survived' : 'unreached';
    this.#results.set(mutant, { verdict, basis: basis(tests) });
    return verdict;
  }
}
