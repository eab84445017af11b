import { expect, test } from 'bun:test';
import { mutantsOf } from './mutants.ts';
import { report } from './results.ts';

/** What becomes of one line. */
const mutated = (source: string): readonly string[] =>
  mutantsOf('a.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

test.each([
  ['const a = b < c;', ['const a = b <= c;']],
  ['const a = b === c && d;', ['const a = b !== c && d;', 'const a = b === c || d;']],
  ['const a = `x` + b + c;', ['const a = `x` + b - c;']],
  ['if (a) b = 1n;', ['if (!(a)) b = 1n;']],
  ['if (a) throw b;', ['if (!(a)) throw b;', 'if (false && (a)) throw b;']],
  ['const a = b ? c : d;', ['const a = !(b) ? c : d;']],
  ['const a = true;', ['const a = false;']],
  ['const a = 1_000;', ['const a = 1001;', 'const a = 999;']],
  ['const a = 0x30;', ['const a = (0x30 + 1);']],
  ['const a = [b];', ['const a = [];']],
  ['const a = { where: { b }, set };', ['const a = { where: {}, set };']],
  ['await a(b);', [';', 'void a(b);']],
  ['const a = !b;', ['const a = (b);']],
  ['const a = b.some(c);', ['const a = b.every(c);']],
  ['const a = b.filter(c);', ['const a = b;']],
  ["import { a } from './0.ts'; type B = 1 | true; const c: 5 = d as 6;", []],
])('%s', (source, expected) => {
  expect(mutated(source).toSorted()).toEqual([...expected].toSorted());
});

test('a report names what survived, and the share of what was noticed', () => {
  const mutant = { file: 'core/a/b.ts', line: 3, start: 0, end: 1, replacement: '<=', original: '<' };
  expect(
    report([
      { mutant, verdict: 'survived' },
      { mutant, verdict: 'noticed' },
      { mutant: { ...mutant, file: 'core/c/d.ts' }, verdict: 'timeout' },
    ]),
  ).toEqual([
    'survived core/a/b.ts:3: < → <=',
    'core/a: 1 of 2 mutants noticed, 50.0 %',
    'core/c: 1 of 1 mutants noticed, 100.0 %',
    'all: 2 of 3 mutants noticed, 66.7 %',
  ]);
});
