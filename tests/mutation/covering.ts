import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const aliases = ['core', 'adapters', 'plugins', 'tests'];
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };

/** Tests that need a browser, a cluster or minutes show little about one line of code. */
const tooFar = /^tests\/(e2e|fuzz|mutation)\/|postgres|draw-layers/;
/** Milliseconds, as `tests/timings.json` has them. */
const nearBudget = 15_000;
const wideBudget = 30_000;
const usual = 1000;

export interface Covering {
  /** Those that are about the file. */
  readonly near: readonly string[];
  /** Others that reach it, the nearest first. */
  readonly wide: readonly string[];
}

/** Which test files reach a source file, by the imports between them. */
export class ImportGraph {
  readonly #root: string;
  readonly #tests: readonly string[];
  readonly #imports = new Map<string, readonly string[]>();
  readonly #timings: Readonly<Record<string, number>>;

  constructor(root: string, tests: readonly string[]) {
    this.#root = root;
    this.#tests = tests.filter((file) => !tooFar.test(file));
    this.#timings = JSON.parse(readFileSync(join(root, 'tests/timings.json'), 'utf8')).files;
  }

  covering(file: string): Covering {
    const distances = new Map(this.#tests.map((test) => [test, this.#distance(test, file)]));
    const time = (test: string): number => this.#timings[test] ?? usual;
    const isMirror = (test: string): boolean => dirname(test) === `tests/${dirname(file)}`;
    const isNear = (test: string): boolean => distances.get(test) === 1 || isMirror(test);
    const rank = (test: string): number => (isNear(test) ? 1 : distances.get(test)!);
    const reached = this.#tests
      .filter((test) => distances.get(test) !== undefined)
      .toSorted((a, b) => rank(a) - rank(b) || time(a) - time(b));
    const near = within(reached.filter(isNear), nearBudget, time);
    return {
      near,
      wide: within(
        reached.filter((test) => !near.includes(test)),
        wideBudget,
        time,
      ),
    };
  }

  /** Imports from `from` to `to`, at the least; undefined where there is no way. */
  #distance(from: string, to: string): number | undefined {
    const seen = new Set([from]);
    let front = [from];
    for (let distance = 1; front.length > 0; distance++) {
      const next: string[] = [];
      for (const file of front.flatMap((one) => this.#importsOf(one))) {
        if (file === to) return distance;
        if (seen.has(file)) continue;
        seen.add(file);
        next.push(file);
      }
      front = next;
    }
    return undefined;
  }

  #importsOf(file: string): readonly string[] {
    const known = this.#imports.get(file);
    if (known) return known;
    const imports = transpilers[file.endsWith('x') ? 'tsx' : 'ts']
      .scanImports(readFileSync(join(this.#root, file)))
      .map(({ path }) => this.#resolved(file, path))
      .filter((path) => path !== undefined);
    this.#imports.set(file, imports);
    return imports;
  }

  #resolved(from: string, path: string): string | undefined {
    const alias = aliases.find((one) => path.startsWith(`#${one}/`));
    const target = alias
      ? path.slice(1)
      : path.startsWith('.')
        ? normalize(join(dirname(from), path))
        : undefined;
    if (target === undefined || !/\.tsx?$/.test(target)) return undefined;
    const absolute = join(this.#root, target);
    return existsSync(absolute) ? relative(this.#root, absolute) : undefined;
  }
}

function within(tests: readonly string[], budget: number, time: (test: string) => number): readonly string[] {
  let left = budget;
  return tests.filter((test) => {
    left -= time(test);
    return left >= 0;
  });
}
