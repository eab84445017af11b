import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../fuzz/random.ts';
import { ImportGraph } from './covering.ts';
import { mutantsOf } from './mutants.ts';
import { Reach } from './reach.ts';
import { isMissed, type Judged, lineOf, Results, report } from './results.ts';
import { Scratch } from './scratch.ts';
import { Trials } from './trials.ts';

/*
 * npm run test:mutation -- [--files core/der,core/x509] [--minutes 20] [--mutants 200] [--seed 1] [--list]
 *
 * Measures whether the tests detect small faults. Takes equally many mutants from each area, in an order that the seed repeats,
 * and tries two at a time. Each is tried on the test files that execute its line, the nearest first, until one fails. A mutant
 * that survives shows a gap in the tests, or changes nothing that a caller can observe: `equivalent.ts` lists those, with reasons.
 */
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
  'adapters/outbound/sql/steps.ts',
  'adapters/outbound/sql/unit.ts',
];
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: usual.join(',') },
    minutes: { type: 'string', default: '20' },
    mutants: { type: 'string', default: '100000' },
    seed: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const minutes = Number(values.minutes);
const most = Number(values.mutants);
const root = resolve(import.meta.dir, '../..');
const tracked = Bun.spawnSync(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
});
const all = tracked.stdout.toString().split('\n').filter(Boolean);
const prefixes = values.files.split(',');
const prefixOf = (file: string): string | undefined =>
  prefixes.find((prefix) => file === prefix || file.startsWith(`${prefix}/`));
const sources = all.filter((file) => /\.tsx?$/.test(file) && prefixOf(file) !== undefined);
if (sources.length === 0 || !(minutes > 0) || !(most > 0) || !Number.isSafeInteger(seed)) {
  console.error(
    'usage: npm run test:mutation -- [--files FOLDER,FILE] [--minutes N] [--mutants N] [--seed S] [--list]',
  );
  process.exit(64);
}
/** Files that are named one by one form one area per folder. */
const areaOf = (file: string): string => (prefixOf(file) === file ? dirname(file) : prefixOf(file)!);

const random = new Random(seed);
const mutants = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const shuffled = mutants
  .map((mutant) => ({ mutant, at: random.below(2 ** 31) }))
  .toSorted((a, b) => a.at - b.at)
  .map(({ mutant }) => mutant);
const order = [...Map.groupBy(shuffled, ({ file }) => areaOf(file)).values()]
  .flatMap((area) => area.map((mutant, at) => ({ mutant, at })))
  .toSorted((a, b) => a.at - b.at)
  .map(({ mutant }) => mutant)
  .slice(0, most);
if (values.list) {
  for (const mutant of order) console.log(lineOf(mutant));
  process.exit(0);
}

const until = Date.now() + minutes * 60_000;
const graph = new ImportGraph(
  root,
  all.filter((file) => /^tests\/.*\.test\.ts$/.test(file)),
);
const folder = join(tmpdir(), 'postern-mutation');
const trials = new Trials(new Reach(join(folder, 'reach')), new Results(join(folder, 'results.json')));
const trees = [new Scratch(root, all), new Scratch(root, all)];
const cleanUp = (): void => {
  for (const tree of trees) tree[Symbol.dispose]();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}
console.log(`${mutants.length} mutants of ${sources.length} files; --seed ${seed} repeats their order`);

const covering = new Map<string, readonly string[]>();
const judged: Judged[] = [];
const next = order.values();
async function work(tree: Scratch): Promise<void> {
  for (const mutant of next) {
    if (Date.now() >= until) return;
    const tests = covering.get(mutant.file) ?? graph.covering(mutant.file);
    covering.set(mutant.file, tests);
    const verdict = await trials.verdictOn(mutant, tests, tree);
    judged.push({ mutant, area: areaOf(mutant.file), verdict });
    if (isMissed(verdict)) console.log(`${verdict} ${lineOf(mutant)}`);
  }
}
try {
  await Promise.all(trees.map(work));
} finally {
  cleanUp();
}
for (const line of report(judged)) console.log(line);
