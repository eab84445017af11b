import { describe, expect, test } from 'bun:test';
import { FailureCounters } from '#core/accounts/failure-counters.ts';

const second = 1000;
const window = 900 * second;
/** The time of the check. */
const now = 10_000 * second;

function counted(...times: readonly number[]): FailureCounters {
  const counters = new FailureCounters(window);
  for (const at of times) counters.count('jo', at);
  return counters;
}

const wait = (counters: FailureCounters, limit: number, at = now): number =>
  counters.wait('jo', limit, at, at + 10 * second);

describe('the wait of a subject', () => {
  test.each<[what: string, times: readonly number[], limit: number, seconds: number]>([
    ['without failures is none', [], 0, 0],
    ['below the limit is none', [now], 2, 0],
    ['at the limit is 30 seconds', [now, now], 2, 30],
    ['doubles with each failure beyond the limit', [now, now, now, now], 2, 120],
    ['ends at the window', Array.from({ length: 9 }, () => now), 2, 900],
    ['ends at the window after any number of failures', Array.from({ length: 900 }, () => now), 2, 900],
    ['counts from the latest failure', [now - 20 * second, now - 10 * second], 2, 20],
    ['counts from the latest failure in any order', [now - 10 * second, now - 20 * second], 2, 20],
    ['is over after the penalty', [now - 40 * second, now - 30 * second], 2, 0],
    ['includes a failure just within the window', [now - window + 1, now], 2, 30],
    ['does not include a failure as old as the window', [now - window, now], 2, 0],
    ['includes a failure that another clock dated slightly later', [now, now + 10 * second], 2, 40],
    ['does not include a failure from before the clock was set back', [now, now + 10 * second + 1], 2, 0],
  ])('%s', (_what, times, limit, seconds) => {
    expect(wait(counted(...times), limit)).toBe(seconds * second);
  });
});

describe('a discounted failure', () => {
  test.each<[what: string, times: readonly number[], at: number, left: readonly number[]]>([
    ['that is the first is removed', [1, 2, 3], 1, [2, 3]],
    ['that is not the first is removed', [1, 2, 3], 2, [1, 3]],
    ['with the time of another is removed once', [1, 2, 2], 2, [1, 2]],
    ['that was never counted changes nothing', [1, 2, 3], 4, [1, 2, 3]],
    ['that is the only one removes the subject', [1], 1, []],
    ['of an unknown subject changes nothing', [], 1, []],
  ])('%s', (_what, times, at, left) => {
    const counters = counted(...times);
    counters.discount('jo', at);
    expect(counters.isEmpty).toBe(left.length === 0);
    // As many failures as are left reach the limit; the latest determines the end of the wait.
    const latest = Math.max(0, ...left);
    expect(wait(counters, left.length + 1, 3)).toBe(0);
    expect(wait(counters, left.length, 3)).toBe(left.length === 0 ? 0 : latest + 30 * second - 3);
  });
});

test('subjects are removed when their latest failure is older than the window', () => {
  const counters = counted(1, 5);
  for (const [now, isEmpty] of [
    [window + 1, false],
    [window + 5, false],
    [window + 6, true],
  ] as const) {
    counters.prune(now);
    expect(counters.isEmpty).toBe(isEmpty);
  }
});
