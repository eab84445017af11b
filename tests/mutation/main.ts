import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../fuzz/random.ts';
import { ImportGraph } from './covering.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { keyOf, Results, report } from './results.ts';
import { Scratch, type Verdict } from './scratch.ts';

// npm run test:mutation -- [--files core/der,core/x509] [--minutes 20] [--seed 1] [--list]
const usual = [
  'core/accounts',
  'core/ca',
  'core/der',
  'core/enrolment',
  'core/issuance',
  'core/requester',
  'core/x509',
  'adapters/wire/cmp',
  'adapters/outbound/sql/statements.ts',
  'adapters/outbound/sql/unit.ts',
];
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: usual.join(',') },
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const minutes = Number(values.minutes);
const root = resolve(import.meta.dir, '../..');
const tracked = Bun.spawnSync(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
});
const all = tracked.stdout.toString().split('\n').filter(Boolean);
const prefixes = values.files.split(',');
const sources = all.filter(
  (file) =>
    /\.tsx?$/.test(file) && prefixes.some((prefix) => file === prefix || file.startsWith(`${prefix}/`)),
);
if (sources.length === 0 || !(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error('usage: npm run test:mutation -- [--files FOLDER,FILE] [--minutes N] [--seed S] [--list]');
  process.exit(64);
}

const graph = new ImportGraph(
  root,
  all.filter((file) => /^tests\/.*\.test\.ts$/.test(file)),
);
const covering = new Map(sources.map((file) => [file, graph.covering(file)]));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const mutants = sources.flatMap((file) => mutantsOf(file, read(file)));
const random = new Random(seed);
const order = mutants
  .map((mutant) => ({ mutant, at: random.below(2 ** 31) }))
  .toSorted((a, b) => a.at - b.at);
if (values.list) {
  for (const { mutant } of order)
    console.log(`${mutant.file}:${mutant.line}: ${mutant.original} → ${mutant.replacement}`);
  process.exit(0);
}

const until = Date.now() + minutes * 60_000;
const results = new Results(join(tmpdir(), 'postern-mutation', 'results.json'));
using scratch = new Scratch(root, all);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    scratch[Symbol.dispose]();
    process.exit(1);
  });
}
console.log(`${mutants.length} mutants of ${sources.length} files; --seed ${seed} repeats their order`);

/** Of tests by their names: those that pass without a fault, and how long they take together. */
const baselines = new Map<string, { readonly tests: readonly string[]; readonly time: number }>();
const passes = new Map<string, boolean>();
async function baseline(tests: readonly string[]): Promise<{ tests: readonly string[]; time: number }> {
  const key = tests.join(' ');
  const known = baselines.get(key);
  if (known) return known;
  let began = performance.now();
  let passing = tests;
  if (!(await scratch.passes(tests))) {
    for (const test of tests) {
      if (!passes.has(test)) passes.set(test, await scratch.passes([test]));
      if (!passes.get(test)) console.log(`left out, as it fails without a mutant: ${test}`);
    }
    passing = tests.filter((test) => passes.get(test));
    began = performance.now();
    // Files that pass alone and not together say nothing.
    if (!(await scratch.passes(passing))) passing = [];
  }
  const made = { tests: passing, time: performance.now() - began };
  baselines.set(key, made);
  return made;
}

async function verdictOn(mutant: Mutant): Promise<Verdict | undefined> {
  const { near, wide } = covering.get(mutant.file)!;
  const state = [mutant.file, ...near, ...wide].map((file) => Bun.hash(read(file)).toString(36)).join();
  const key = keyOf(mutant, state);
  const known = results.get(key);
  if (known) return known;
  let verdict: Verdict | undefined;
  for (const tests of [near, wide].filter(({ length }) => length > 0)) {
    const { tests: passing, time } = await baseline(tests);
    if (passing.length === 0) continue;
    verdict = await scratch.judge(mutant, passing, 4 * time + 30_000);
    if (verdict !== 'survived') break;
  }
  if (verdict) results.set(key, verdict);
  return verdict;
}

const judged: { mutant: Mutant; verdict: Verdict }[] = [];
for (const { mutant } of order) {
  if (Date.now() >= until) break;
  const verdict = await verdictOn(mutant);
  if (verdict === undefined) continue;
  judged.push({ mutant, verdict });
  if (verdict === 'survived')
    console.log(`survived ${mutant.file}:${mutant.line}: ${mutant.original} → ${mutant.replacement}`);
}
console.log(`${judged.length} of ${mutants.length} mutants were tried`);
for (const line of report(judged)) console.log(line);
