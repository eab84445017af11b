import { parseArgs } from 'node:util';
import { entriesOf, keep } from './corpus.ts';
import { judge } from './judge.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import type { Target } from './target.ts';
import { targets } from './targets.ts';

// npm run fuzz -- --minutes 30 [--seed 1] [--target est]
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    target: { type: 'string' },
  },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const minutes = Number(values.minutes);
const chosen = targets.filter(({ name }) => values.target === undefined || name === values.target);
if (chosen.length === 0 || !(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error(
    `usage: npm run fuzz -- --minutes N [--seed S] [--target ${targets.map(({ name }) => name).join('|')}]`,
  );
  process.exit(64);
}

const mostKept = 500;
const longestKept = 8192;
/** Defects of one kind are one finding. */
const seen = new Set<string>();
let findings = 0;

async function fuzz(target: Target, until: number): Promise<void> {
  const random = new Random(seed);
  const pool = entriesOf(target.corpora).map(({ input }) => input);
  const seeds = pool.length;
  const answers = new Set<string>();
  let runs = 0;
  await using runner = await target.open();
  while (Date.now() < until) {
    const input = mutate(random.pick(pool), pool, random);
    const verdict = await judge(target, runner, input);
    runs++;
    if (verdict.ok) {
      if (answers.has(verdict.answer)) continue;
      answers.add(verdict.answer);
      if (input.length > longestKept) continue;
      // What was answered in a new way is changed further; the seeds stay.
      if (pool.length < mostKept) pool.push(input);
      else pool[seeds + random.below(mostKept - seeds)] = input;
    } else if (!seen.has(`${target.name} ${verdict.why.replace(/\d+/g, '')}`)) {
      seen.add(`${target.name} ${verdict.why.replace(/\d+/g, '')}`);
      findings++;
      console.error(`${target.name}: ${verdict.why}\n  kept in ${keep(target.corpora[0]!, input)}`);
      if (verdict.error) console.error(verdict.error);
    }
  }
  console.log(`${target.name}: ${runs} inputs, ${answers.size} different answers`);
}

console.log(`seed ${seed}`);
for (const target of chosen) await fuzz(target, Date.now() + (minutes * 60_000) / chosen.length);
console.log(findings === 0 ? 'no findings' : `${findings} findings`);
process.exit(findings === 0 ? 0 : 1);
