import { isEquivalent } from './equivalent.ts';
import type { Mutant } from './mutants.ts';
import { hashOf, type Reach } from './reach.ts';
import type { Results, Verdict } from './results.ts';
import type { Scratch } from './scratch.ts';

/** Limit for one mutant: the usual processor time of the test files tried, in seconds. */
const budget = 10;

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
    for (const test of tests) {
      const seconds = await this.#reach.secondsOf(test, mutant.file, mutant.line, tree);
      if (seconds === undefined || (isReached && left < seconds)) continue;
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
