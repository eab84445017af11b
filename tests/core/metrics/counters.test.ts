import { describe, expect, test } from 'bun:test';
import { Counter } from '#core/metrics/counters.ts';

const counter = (): Counter => new Counter('postern_things_total', 'Things.', ['kind', 'colour']);
const counted = (of: Counter) =>
  of.family().samples.map(({ labels, value }) => [labels.kind, labels.colour, value]);

describe('a counter', () => {
  test('counts each combination of labels separately, in any order of the labels', () => {
    const things = counter();
    for (const [kind, colour] of ['a red', 'a red', 'b red', 'a blue', 'a red', 'b red'].map((one) =>
      one.split(' '),
    ))
      things.add(kind!, colour!);
    expect(counted(things)).toEqual([
      ['a', 'red', 3],
      ['b', 'red', 2],
      ['a', 'blue', 1],
    ]);
  });

  test('counts all combinations after the first thousand together', () => {
    const things = counter();
    for (let n = 0; n < 1010; n++) things.add('a', `colour ${n}`);
    things.add('a', 'colour 7');
    things.add('other', 'other');
    const samples = counted(things);
    expect(samples).toHaveLength(1001);
    expect(samples[7]).toEqual(['a', 'colour 7', 2]);
    expect(samples[1000]).toEqual(['other', 'other', 11]);
  });
});
