import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const aliases = ['core', 'adapters', 'plugins', 'tests'];
const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };

/** Tests that need a browser, PostgreSQL or minutes cost too much for one mutant. */
const tooFar = /^tests\/(e2e|fuzz|mutation)\/|draw-layers/;
const cluster = 'tests/fixtures/postgres.ts';
/** Milliseconds in `tests/timings.json`: slower test files are not tried. `near`: those that import the source file or are named alike. */
const longest = { near: 20_000, other: 3000 } as const;
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

  /** Returns the test files that may execute the file, without slow ones that have nothing to do with it. */
  covering(file: string): readonly string[] {
    const words = wordsOf(file);
    return this.#tests.filter((test) => {
      const distance = this.#distance(test, file);
      const isNear = distance === 1 || wordsOf(test).some((word) => words.includes(word));
      const time = this.#timings[test] ?? usual;
      return distance !== undefined && time <= (isNear ? longest.near : longest.other);
    });
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
