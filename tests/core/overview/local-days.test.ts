import { expect, test } from 'bun:test';
import { localMidnights } from '#core/overview/local-days.ts';

const day = 24 * 3_600_000;
const iso = (moments: readonly number[]): string[] => moments.map((one) => new Date(one).toISOString());

test('days of UTC begin at midnight, and today is the first', () => {
  expect(iso(localMidnights('UTC', Date.parse('2026-11-22T23:59:59.999Z'), 0, 2))).toEqual([
    '2026-11-22T00:00:00.000Z',
    '2026-11-23T00:00:00.000Z',
    '2026-11-24T00:00:00.000Z',
  ]);
});

test.each([
  ['Europe/Berlin', '2026-11-22T23:30:00Z', '2026-11-22T23:00:00.000Z'],
  ['America/New_York', '2026-11-23T04:59:00Z', '2026-11-22T05:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-22T18:29:00Z', '2026-11-21T18:30:00.000Z'],
  ['Pacific/Kiritimati', '2026-11-22T10:00:00Z', '2026-11-22T10:00:00.000Z'],
])('today in %s at %s began at %s', (zone, now, midnight) => {
  expect(iso(localMidnights(zone, Date.parse(now), 0, 0))).toEqual([midnight]);
});

test.each([
  ['2026-03-28T12:00:00Z', 23],
  ['2026-10-24T12:00:00Z', 25],
])('the day after %s has %d hours in Berlin, where the clock changes', (now, hours) => {
  const [begins = 0, ends = 0] = localMidnights('Europe/Berlin', Date.parse(now), 1, 1);
  expect((ends - begins) / 3_600_000).toBe(hours);
});

test.each(['Europe/Berlin', 'America/Santiago', 'Asia/Beirut', 'Australia/Lord_Howe', 'Asia/Kathmandu'])(
  'in %s, every day of a year ends where the next one begins, after 23 to 25 hours',
  (zone) => {
    const midnights = localMidnights(zone, Date.parse('2026-01-01T12:00:00Z'), 0, 365);
    const lengths = midnights.slice(1).map((ends, n) => ends - (midnights[n] ?? 0));
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(day - 3_600_000);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(day + 3_600_000);
  },
);

test.each(['Mars/Olympus', '', 'x'.repeat(65), '../etc/passwd'])('the time zone %j is refused', (zone) => {
  expect(() => localMidnights(zone, 0, 0, 1)).toThrow(
    expect.objectContaining({ code: 'malformed', field: 'timeZone' }),
  );
});
