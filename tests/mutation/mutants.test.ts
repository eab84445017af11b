import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { equivalent, matches } from './equivalent.ts';
import { mutantsOf } from './mutants.ts';
import { linesOf } from './reach.ts';
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
  ['const a = b.toString();', []],
  [`throw new Fault('malformed', \`not an OID: \${text.slice(0, 80)}\`);`, []],
  ['const a = b.filter(c);', ['const a = b;']],
  ["import { a } from './0.ts'; type B = 1 | true; const c: 5 = d as 6;", []],
])('%s', (source, expected) => {
  expect(mutated(source).toSorted()).toEqual([...expected].toSorted());
});

test('a report names what was missed and gives the share of the rest, without equivalent mutants', () => {
  const mutant = {
    file: 'core/a/b.ts',
    line: 3,
    text: 'a < b;',
    start: 0,
    end: 1,
    replacement: '<=',
    original: '<',
  };
  const verdicts = ['survived', 'noticed', 'timeout', 'unreached', 'equivalent'] as const;
  expect(
    report([
      ...verdicts.map((verdict) => ({ mutant, area: 'core/a', verdict })),
      { mutant, area: 'core/c', verdict: 'noticed' },
    ]),
  ).toEqual([
    'survived core/a/b.ts:3: < → <=',
    'unreached core/a/b.ts:3: < → <=',
    'core/a: 2 of 4 mutants noticed (1 by endless loops), 50.0 %; 1 equivalent ones left out',
    'core/c: 1 of 1 mutants noticed (0 by endless loops), 100.0 %; 0 equivalent ones left out',
    'all: 3 of 5 mutants noticed (1 by endless loops), 60.0 %; 1 equivalent ones left out',
  ]);
});

test('a line counts as run unless the coverage report says that it did not run', () => {
  const lcov =
    'TN:\nSF:core/a.ts\nFNF:1\nDA:1,1\nDA:2,0\nDA:4,12\nend_of_record\nTN:\nSF:b.ts\nDA:1,0\nend_of_record\n';
  expect(linesOf(lcov)).toEqual([
    ['core/a.ts', [1, 3, 4]],
    ['b.ts', []],
  ]);
});

test.each(equivalent)('$file: `$text` is still there to be mutated', (one) => {
  const mutants = mutantsOf(one.file, readFileSync(join(import.meta.dir, '../..', one.file), 'utf8'));
  expect(mutants.some((mutant) => matches(one, mutant))).toBe(true);
});
