import { RE2JS, RE2JSException } from 're2js';
import { Fault } from '#core/fault.ts';
import type { Patterns } from '#core/ports/patterns.ts';

const mostPatternCharacters = 1000;
/** No name, address or serial number is longer; what is does not match. */
const mostTextCharacters = 10_000;
/** Instructions. Matching takes at most this many steps for each character of the text. */
const mostInstructions = 2000;

/** RE2 syntax (no back-references, no look-around); repetition counts, nested ones multiplied, end at 1000. */
export const patterns: Patterns = {
  compile(pattern) {
    if (pattern.length > mostPatternCharacters) {
      throw new Fault('malformed', `a pattern has at most ${mostPatternCharacters} characters`);
    }
    const compiled = compile(pattern);
    if (compiled.programSize() > mostInstructions) {
      throw new Fault('malformed', 'the pattern is too complex', { hint: 'use smaller repetition counts' });
    }
    return (text) => text.length <= mostTextCharacters && compiled.testExact(text);
  },
};

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new Fault('malformed', error.message.replace('error parsing regexp', 'bad pattern'), {
      cause: error,
    });
  }
}
