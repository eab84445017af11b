import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const aliases = ['core', 'adapters', 'plugins', 'tests'];
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };

/** Tests that need a browser, PostgreSQL or minutes cost too much for one mutant. */
const tooFar = /^tests\/(e2e|fuzz|mutation)\/|draw-layers/;
const cluster = 'tests/fixtures/postgres.ts';
/** Milliseconds in `tests/timings.json`: slower test files are not tried. `about`: those near the source file. */
const longest = { about: 20_000, other: 3000 } as const;
const usual = 1000;

/** Selects the test files that import a source file, directly or through other files. */
export class ImportGraph {
  readonly #root: string;
  readonly #tests: readonly string[];
  readonly #imports = new Map<string, readonly string[]>();
  readonly #timings: Readonly<Record<string, number>>;

  constructor(root: string, tests: readonly string[]) {
    this.#root = root;
    this.#tests = tests.filter((file) => !tooFar.test(file) && !this.#importsOf(file).includes(cluster));
    this.#timings = JSON.parse(readFileSync(join(root, 'tests/timings.json'), 'utf8')).files;
  }

  /**
   * Returns the test files to try, in this order: the one named after the source file, those in its folder or that import it
   * directly, those whose names share a word with it, others. Within each group, files that share more words come first, then faster ones.
   */
  covering(file: string): readonly string[] {
    const words = wordsOf(file);
    const shared = (test: string): number => words.filter((word) => wordsOf(test).includes(word)).length;
    const distances = new Map(this.#tests.map((test) => [test, this.#distance(test, file)]));
    const time = (test: string): number => this.#timings[test] ?? usual;
    const rank = (test: string): number => {
      if (test === `tests/${file.replace(/\.tsx?$/, '.test.ts')}`) return 0;
      if (distances.get(test) === 1 || dirname(test) === `tests/${dirname(file)}`) return 1;
      return shared(test) > 0 ? 2 : 3;
    };
    return this.#tests
      .filter((test) => distances.get(test) !== undefined)
      .filter((test) => time(test) <= (rank(test) < 3 ? longest.about : longest.other))
      .toSorted((a, b) => rank(a) - rank(b) || shared(b) - shared(a) || time(a) - time(b));
  }

  /** Returns the length of the shortest chain of imports, or undefined if there is none. */
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

/** Returns ca, crl, part for `core/ca/crl-parts.ts`. */
const wordsOf = (file: string): readonly string[] =>
  file
    .replace(/^tests\//, '')
    .replace(/(\.test)?\.tsx?$/, '')
    .split(/[/-]/)
    .slice(1)
    .map((word) => word.replace(/s$/, ''));
