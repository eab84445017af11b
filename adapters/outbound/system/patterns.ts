import { RE2JS, RE2JSException } from 're2js';
import { Fault } from '#core/fault.ts';
import type { Patterns } from '#core/ports/platform.ts';

const mostPatternCharacters = 1000;
/** Longer texts do not match. No name, address or serial number is that long. */
const mostTextCharacters = 10_000;
const mostInstructions = 2000;
/** Instructions times characters of the text, about 50 ns each. A text that needs more does not match. */
const mostSteps = 1_000_000;
/** The limit for `weightOf`. */
const mostWeight = 2000;

const tooComplex = () =>
  new Fault('malformed', 'the pattern is too complex', {
    hint: 'use smaller repetition counts and fewer character classes',
  });

/**
 * Patterns in RE2 syntax: no back-references, no look-around, repetition counts of at most 1000 (nested counts
 * multiplied).
 */
export const patterns: Patterns = {
  compile(pattern) {
    if (pattern.length > mostPatternCharacters) {
      throw new Fault('malformed', `a pattern must not be longer than ${mostPatternCharacters} characters`);
    }
    if (weightOf(pattern) > mostWeight) throw tooComplex();
    const compiled = compile(pattern);
    const size = compiled.programSize();
    if (size > mostInstructions) throw tooComplex();
    const longest = Math.min(mostTextCharacters, Math.floor(mostSteps / size));
    return (text) => text.length <= longest && compiled.testExact(text);
  },
};

const heavy = /\{(\d+)(?:,(\d*))?\}|\\[pP]|-(?=\\x|[^\0-\x7f])/g;
const caseIgnored = /\(\?[a-zA-Z]*i/;

/**
 * Estimates the cost of compiling, in units of about 10 µs: repetitions are expanded, a Unicode class has hundreds of
 * ranges, and case-insensitive matching visits each character of a range, up to 100,000.
 */
function weightOf(pattern: string): number {
  const range = caseIgnored.test(pattern) ? 250 : 1;
  let weight = 0;
  for (const [token, least, most] of pattern.matchAll(heavy)) {
    weight += least ? Math.max(Number(least), Number(most ?? 0)) : token === '-' ? range : 10;
  }
  return weight;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause;
    throw new Fault('malformed', explain(cause.message, pattern), { cause });
  }
}

/** Features of other dialects that RE2 lacks, because they cannot be matched in linear time. */
const missing: readonly (readonly [form: RegExp, what: string])[] = [
  [/\(\?<?[=!]/, 'look-around, as (?=…)'],
  [/\\[1-9]|\\[gk][{<']|\(\?P=/, 'back-references, as \\1'],
  [/\(\?>|[*+?}]\+/, 'atomic groups and possessive repetition, as a++'],
  [/\(\?(?:\(|R|\d|&)/, 'conditions and recursion, as (?R)'],
];

const longestMessage = 120;

function explain(message: string, pattern: string): string {
  const found = missing.find(([form]) => form.test(pattern));
  if (found) return `invalid pattern: no support for ${found[1]}`;
  const text = message.replace('error parsing regexp', 'invalid pattern');
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text;
}
