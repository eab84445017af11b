import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addDuration, parseDuration } from '#core/profiles/duration.ts';
import { runs } from '#tests/property.ts';

describe('a duration is added in the UTC calendar', () => {
  const rows: readonly [start: string, duration: string, end: string][] = [
    ['2026-05-17T12:00:00Z', 'P2Y', '2028-05-17T12:00:00Z'],
    ['2026-05-17T12:00:00Z', 'P398D', '2027-06-19T12:00:00Z'],
    ['2026-05-17T12:00:00Z', 'P4W', '2026-06-14T12:00:00Z'],
    ['2026-05-17T12:00:00Z', 'PT36H', '2026-05-19T00:00:00Z'],
    ['2026-05-17T12:00:00Z', 'PT90M', '2026-05-17T13:30:00Z'],
    ['2026-05-17T12:00:00Z', 'PT1S', '2026-05-17T12:00:01Z'],
    ['2026-05-17T12:00:00Z', 'P1Y2M3DT4H5M6S', '2027-07-20T16:05:06Z'],
    // 29 February
    ['2024-02-29T00:00:00Z', 'P1Y', '2025-02-28T00:00:00Z'],
    ['2024-02-29T00:00:00Z', 'P4Y', '2028-02-29T00:00:00Z'],
    ['2024-02-29T00:00:00Z', 'P12M', '2025-02-28T00:00:00Z'],
    ['2096-02-29T00:00:00Z', 'P4Y', '2100-02-28T00:00:00Z'],
    ['1996-02-29T00:00:00Z', 'P4Y', '2000-02-29T00:00:00Z'],
    ['2023-03-01T00:00:00Z', 'P1Y', '2024-03-01T00:00:00Z'],
    ['2024-02-28T00:00:00Z', 'P1D', '2024-02-29T00:00:00Z'],
    ['2100-02-28T00:00:00Z', 'P1D', '2100-03-01T00:00:00Z'],
    // month ends
    ['2026-01-31T23:59:59Z', 'P1M', '2026-02-28T23:59:59Z'],
    ['2024-01-31T00:00:00Z', 'P1M', '2024-02-29T00:00:00Z'],
    ['2026-01-31T00:00:00Z', 'P2M', '2026-03-31T00:00:00Z'],
    ['2026-03-31T00:00:00Z', 'P1M', '2026-04-30T00:00:00Z'],
    ['2026-10-31T00:00:00Z', 'P4M', '2027-02-28T00:00:00Z'],
    ['2026-12-31T00:00:00Z', 'P1M', '2027-01-31T00:00:00Z'],
    ['2026-08-31T00:00:00Z', 'P18M', '2028-02-29T00:00:00Z'],
    // months before days: the end of February, then a day
    ['2026-01-31T00:00:00Z', 'P1M1D', '2026-03-01T00:00:00Z'],
    // no daylight saving time
    ['2026-03-28T12:00:00Z', 'P1D', '2026-03-29T12:00:00Z'],
  ];
  for (const [start, duration, end] of rows) {
    test(`${start} + ${duration}`, () => {
      const parsed = parseDuration(duration);
      expect(parsed).toBeDefined();
      expect(new Date(addDuration(Date.parse(start), parsed!)).toISOString()).toBe(end.replace('Z', '.000Z'));
    });
  }
});

describe('an invalid duration is rejected', () => {
  for (const text of [
    '',
    'P',
    'PT',
    'P1',
    '1Y',
    'P1YT',
    'P0D',
    'P0Y0M0D',
    'PT0S',
    'P-1Y',
    '-P1Y',
    '+P1Y',
    'P1.5Y',
    'P1,5Y',
    'PT1.5S',
    'p1y',
    'P1y',
    'P1M1Y',
    'P1D1M',
    'PT1S1M',
    'P1H',
    'P1W1D',
    'P1Y1W',
    'P12345Y',
    'P1234567D',
    ' P1Y',
    'P1Y ',
    'P1Y\n',
    'P１Y',
    'P0003-06-04T12:30:05',
    '365',
  ]) {
    test(JSON.stringify(text), () => {
      expect(parseDuration(text)).toBeUndefined();
    });
  }
});

test('a duration with one month more ends later, and in the right month', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(1970), max: Date.UTC(2200) }),
      fc.integer({ min: 1, max: 2400 }),
      (start, months) => {
        const from = new Date(start);
        const end = new Date(addDuration(start, { months, milliseconds: 0 }));
        const counted =
          (end.getUTCFullYear() - from.getUTCFullYear()) * 12 + end.getUTCMonth() - from.getUTCMonth();
        expect(counted).toBe(months);
        expect(end.getTime()).toBeGreaterThanOrEqual(
          addDuration(start, { months: months - 1, milliseconds: 0 }),
        );
      },
    ),
    runs(500),
  );
});
