import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import { Fault } from '#core/fault.ts';
import { processorTime } from '#tests/processor-time.ts';
import { runs } from '#tests/property.ts';

function compile(pattern: string): ((text: string) => boolean) | Fault {
  try {
    return patterns.compile(pattern);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

describe('patterns', () => {
  test.each([
    ['PUMP-\\d{4}', 'PUMP-0042', true],
    ['PUMP-\\d{4}', 'PUMP-00421', false],
    ['PUMP-\\d{4}', 'a PUMP-0042', false],
    ['a|ab', 'ab', true],
    ['a|b', 'ab', false],
    ['^a$', 'a', true],
    ['a', 'a\n', false],
    ['(?i)pump', 'PUMP', true],
    ['pump', 'PUMP', false],
    ['\\pL+', 'Größe', true],
    ['.', '😀', true],
    ['', '', true],
    ['', 'a', false],
    ['(?m)^b$', 'a\nb', false],
  ])('%p matches the whole of %p: %p', (pattern, text, expected) => {
    expect(patterns.compile(pattern)(text)).toBe(expected);
  });

  test.each([
    ['(', 'missing closing )'],
    ['[z-a]', 'invalid character class range'],
    ['*', 'missing argument to repetition operator'],
    ['(a)\\1', 'no support for back-references'],
    ['(?<x>a)\\k<x>', 'no support for back-references'],
    ['(?P<x>a)(?P=x)', 'no support for back-references'],
    ['a(?=b)', 'no support for look-around'],
    ['a(?!b)', 'no support for look-around'],
    ['(?<=a)b', 'no support for look-around'],
    ['(?<!a)b', 'no support for look-around'],
    ['(?>a+)b', 'no support for atomic groups'],
    ['a++b', 'no support for atomic groups'],
    ['(?(1)a|b)', 'no support for conditions'],
    ['(a(?1)?b)', 'no support for conditions'],
    ['(?R)', 'no support for conditions'],
    ['a{1001}', 'invalid repeat count'],
    ['(a{1000}){1000}', 'invalid repeat count'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
    ['(?:(?:){1000}){1000}', 'invalid repeat count'],
    ['(?:[ab]?){998}(?:[ab]?){998}', 'too complex'],
    ['(|){1000}', 'too complex'],
    ['a{1000}'.repeat(140), 'too complex'],
    ['a{0,1000}'.repeat(100), 'too complex'],
    ['.{1,1000}', 'too complex'],
    ['\\pL'.repeat(300), 'too complex'],
    ['(?i)[B-\\x{1e900}]'.repeat(50), 'too complex'],
    [`(?i)${'[\u0080-\u{1ffff}]'.repeat(50)}`, 'too complex'],
    [`(?s)(?i)[${'B-\\x{1e900}'.repeat(80)}]`, 'too complex'],
    ['('.repeat(1000), 'missing closing )'],
    ['['.repeat(1000), 'missing closing ]'],
    ['a'.repeat(1001), 'must not be longer than 1000 characters'],
  ])('%p is rejected with a reason', (pattern, reason) => {
    const fault = compile(pattern);
    expect(fault).toBeInstanceOf(Fault);
    expect((fault as Fault).code).toBe('malformed');
    expect((fault as Fault).detail).toContain(reason);
    expect((fault as Fault).detail.length).toBeLessThan(200);
  });

  test.each([
    ['(?i)[a-zà-ÿа-я]+', 'ПУМПЕ'],
    ['\\p{Lu}\\p{Ll}{1,200}', 'Pumpe'],
    ['(?:PUMP|VALVE|GATE)-[0-9]{4}(?:-[A-Z]{2})?', 'GATE-0001-AB'],
    ['(\\w{1,63}\\.){1,8}example', 'a.b.example'],
    [`${'abc|'.repeat(249)}x`, 'x'],
  ])('%p, a usual pattern, is not too complex', (pattern, text) => {
    expect(patterns.compile(pattern)(text)).toBe(true);
  });

  test('do not match texts of more than 10,000 characters', () => {
    const matches = patterns.compile('a*');
    expect(matches('a'.repeat(10_000))).toBe(true);
    expect(matches('a'.repeat(10_001))).toBe(false);
  });

  test('match shorter texts only, the larger they are', () => {
    const matches = patterns.compile('(?:a?){900}.*');
    expect(matches('a'.repeat(500))).toBe(true);
    expect(matches('a'.repeat(2000))).toBe(false);
  });

  test('take linear time where backtracking takes exponential time', async () => {
    for (const pattern of [
      '(a+)+',
      '(a|a)*',
      '(a|aa)+',
      '(.*)*b',
      '(.*.*.*.*.*.*)*b',
      '(?:a?){500}a{400}',
      '(((a{0,9}){0,9}){0,9})',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
    ]) {
      const matches = patterns.compile(pattern);
      for (const length of [50, 500, 9_999]) {
        const cost = await processorTime(() => expect(matches(`${'a'.repeat(length)}!`)).toBe(false));
        expect(cost).toBeLessThan(2000);
      }
    }
  });

  test('nested as deep as their length allows compile or are rejected', () => {
    for (const [open, close] of [
      ['(', ')'],
      ['(?:', ')'],
      ['(', ')*'],
    ] as const) {
      const depth = Math.floor(1000 / (open.length + close.length));
      const nested = compile(open.repeat(depth) + close.repeat(depth));
      if (nested instanceof Fault) expect(nested.code).toBe('malformed');
      else expect(nested('')).toBe(true);
    }
  });

  test('of arbitrary characters match or are rejected as malformed', () => {
    const syntax = fc.string({
      unit: fc.constantFrom(...'ab0\\()[]{}*+?|^$.-,:i<>Pp=!\u{1f600}\ud800'),
      maxLength: 40,
    });
    fc.assert(
      fc.property(syntax, fc.string({ maxLength: 40 }), (pattern, text) => {
        const outcome = compile(pattern);
        if (outcome instanceof Fault) expect(outcome.code).toBe('malformed');
        else expect(outcome(text)).toBeBoolean();
      }),
      runs(2000),
    );
  });
});
