import { describe, expect, test } from 'bun:test';
import { attribute, buildName } from '#core/x509/name.ts';
import { processorTime } from '#tests/processor-time.ts';
import { apply, parse, refusal } from './rehearsal.ts';

const validity = { duration: 'P1Y' };
const rules = (pattern: string) => ({ validity, subject: { CN: { pattern } } });
const named = (value: string) => buildName([[attribute('CN', value)]]);

const fits = (pattern: string, value: string, commonName: string): boolean => {
  const device = { id: 7, commonName, serialNumber: '1' };
  const text = refusal(() => apply(rules(pattern), { subject: named(value) }, { device }));
  return text.startsWith('no fault');
};

describe('a field in a pattern matches its value literally', () => {
  const rows: readonly [
    pattern: string,
    commonName: string,
    fitting: readonly string[],
    others: readonly string[],
  ][] = [
    ['{device.common_name}', 'a.b', ['a.b'], ['axb']],
    ['{device.common_name}?x', 'ab', ['abx', 'x'], ['ax']],
    ['({device.common_name})+', 'ab', ['ab', 'abab'], ['abb']],
    ['{device.common_name}|x', 'a|b', ['a|b', 'x'], ['a', 'b']],
    ['a{1,{device.id}}', 'x', ['a{1,7}'], ['a', 'aaaaaaa']],
    ['(?i){device.common_name}', 'Pump', ['PUMP'], ['PUM']],
    ['{device.common_name}', '(?i)x', ['(?i)x'], ['X', 'x']],
    ['{device.common_name}', ')|(.*', [')|(.*'], ['x', '']],
    ['[a-z]{device.id}', 'x', ['b7'], ['b', '77']],
    ['\\[{device.common_name}\\]', 'x', ['[x]'], ['x']],
    ['\\\\{device.common_name}', 'd', ['\\d'], ['7', 'd']],
    ['[]a]{device.id}', 'x', [']7', 'a7'], ['x7']],
    ['[[:alpha:]]{device.id}', 'x', ['b7'], [':7']],
  ];
  for (const [pattern, commonName, fitting, others] of rows) {
    test(`${pattern} of ${commonName}`, () => {
      for (const value of fitting) expect(fits(pattern, value, commonName), value).toBe(true);
      for (const value of others.filter(Boolean)) expect(fits(pattern, value, commonName), value).toBe(false);
    });
  }
});

describe('patterns that are rejected, each with a reason', () => {
  const inside = 'a field stands for itself';
  const rows: readonly [pattern: string, why: string][] = [
    ['[{device.common_name}]', inside],
    ['[^a{device.common_name}-z]+', inside],
    ['[]{device.common_name}]', inside],
    ['[[:alpha:]{device.common_name}]', inside],
    ['\\Q{device.common_name}\\E', inside],
    ['\\Q{device.common_name}', inside],
    ['\\{device.common_name}', inside],
    ['{device.password}', 'there are only the fields'],
    ['{device.__proto__}', 'there are only the fields'],
    ['{request.common_name}', 'rules of the subject cannot take values from the request'],
    ['(a+)+\\1', 'no support for back-references'],
    ['(?=.*a)b', 'no support for look-around'],
    ['(?<!a)b', 'no support for look-around'],
    ['(a{1000}){1000}', 'invalid pattern: invalid repeat count'],
    ['(?:a{1000}|b{1000}){1,2}', 'too complex'],
    ['('.repeat(600), 'invalid pattern: missing closing )'],
    ['(a|'.repeat(300), 'invalid pattern: missing closing )'],
    ['\\pL'.repeat(300), 'too complex'],
    ['a\ud800{', 'no fault'],
  ];
  for (const [pattern, why] of rows) {
    test(pattern.slice(0, 40), () => {
      const text = refusal(() => parse(rules(pattern)));
      if (why === 'no fault') expect(text).toStartWith('no fault');
      else {
        expect(text).toStartWith('malformed: profile.subject.CN.pattern: ');
        expect(text).toContain(why);
      }
      expect(text).not.toMatch(/\p{Cc}/u);
    });
  }
});

test('a value that makes the pattern too long matches nothing', () => {
  const pattern = '{device.common_name}'.repeat(40);
  expect(fits(pattern, 'x', '.'.repeat(64))).toBe(false);
});

test('profiles with hostile patterns and texts are evaluated quickly', async () => {
  const rows: readonly [type: string, length: number, pattern: string][] = [
    ['CN', 60, '(a+)+'],
    ['O', 60, '(a|a)*'],
    ['OU', 60, '(.*)*b'],
    ['SN', 1000, '(?:a?){300}a{300}'],
    ['GN', 20_000, '(((a{0,9}){0,9}){0,9})'],
    ['description', 1000, '(?i)(?:\\pL?){90}'],
  ];
  const subject = Object.fromEntries(rows.map(([type, , pattern]) => [type, { pattern, unfit: 'drop' }]));
  const wish = buildName(rows.map(([type, length]) => [attribute(type, `${'a'.repeat(length)}!`)]));
  const cost = await processorTime(() => {
    const text = refusal(() => apply({ validity, subject }, { subject: wish }));
    expect(text).toBe('badCsr: subject: the request must contain a subject or a subject alternative name');
  });
  expect(cost).toBeLessThan(2000);
});
