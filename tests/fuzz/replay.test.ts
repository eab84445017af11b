import { expect, test } from 'bun:test';
import { entriesOf } from './corpus.ts';
import { judge } from './judge.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';
import { targets } from './targets.ts';

const mutants = 20;

test.each(targets.map((target) => [target.name, target] as const))(
  'nothing but Faults comes out of %s, whatever of the corpus goes in',
  async (_, target) => {
    const entries = entriesOf(target.corpora);
    const pool = entries.map(({ input }) => input);
    const random = new Random(1);
    await using runner = await target.open();
    for (const { name, input } of entries) {
      expect({ name, verdict: await judge(target, runner, input) }).toMatchObject({ verdict: { ok: true } });
    }
    for (let n = 0; n < mutants; n++) {
      const input = mutate(random.pick(pool), pool, random);
      expect({ n, verdict: await judge(target, runner, input) }).toMatchObject({ verdict: { ok: true } });
    }
  },
);
