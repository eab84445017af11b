import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { tag } from '#core/der/tag.ts';
import { formatGeneralizedTime, formatTime, parseTime } from '#core/der/time.ts';
import { Fault } from '#core/fault.ts';
import { runs } from '#tests/property.ts';

const seconds = (text: string): number => Date.parse(text);

describe('times', () => {
  test.each([
    ['1950-01-01T00:00:00Z', tag.utcTime, '500101000000Z'],
    ['1999-12-31T23:59:59Z', tag.utcTime, '991231235959Z'],
    ['2000-02-29T12:00:00Z', tag.utcTime, '000229120000Z'],
    ['2049-12-31T23:59:59Z', tag.utcTime, '491231235959Z'],
    ['2050-01-01T00:00:00Z', tag.generalizedTime, '20500101000000Z'],
    ['1949-12-31T23:59:59Z', tag.generalizedTime, '19491231235959Z'],
    ['9999-12-31T23:59:59Z', tag.generalizedTime, '99991231235959Z'],
    ['0000-01-01T00:00:00Z', tag.generalizedTime, '00000101000000Z'],
  ])('%s is written as RFC 5280 §4.1.2.5 requires', (when, identifier, text) => {
    expect(formatTime(seconds(when))).toEqual({ tag: identifier, text });
    expect(parseTime(identifier, text)).toBe(seconds(when));
  });

  test.each([
    ['UTCTime without seconds', tag.utcTime, '9912312359Z'],
    ['UTCTime with an offset', tag.utcTime, '991231235959+0100'],
    ['UTCTime with four digits of year', tag.utcTime, '19991231235959Z'],
    ['GeneralizedTime with two digits of year', tag.generalizedTime, '991231235959Z'],
    ['GeneralizedTime with a fraction', tag.generalizedTime, '20500101000000.5Z'],
    ['local time', tag.generalizedTime, '205001010000000'],
    ['month 0', tag.utcTime, '990031235959Z'],
    ['month 13', tag.utcTime, '991331235959Z'],
    ['day 0', tag.utcTime, '991200235959Z'],
    ['30 February', tag.utcTime, '000230000000Z'],
    ['29 February outside a leap year', tag.utcTime, '010229000000Z'],
    ['hour 24', tag.utcTime, '991231240000Z'],
    ['minute 60', tag.utcTime, '991231236000Z'],
    ['a leap second', tag.utcTime, '991231235960Z'],
    ['letters', tag.utcTime, '99123123595aZ'],
    ['a sign', tag.utcTime, '9912312359-1Z'],
    ['nothing', tag.utcTime, ''],
  ])('%s is rejected', (_, identifier, text) => {
    expect(() => parseTime(identifier, text)).toThrow(Fault);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Date.parse('9999-12-31T23:59:59Z') + 1000, -1e15])(
    'a date outside the calendar is rejected: %p',
    (when) => {
      expect(() => formatTime(when)).toThrow(Fault);
    },
  );

  test('every second is read as written, without its fraction', () => {
    const most = seconds('9999-12-31T23:59:59Z');
    fc.assert(
      fc.property(fc.integer({ min: seconds('0000-01-01T00:00:00Z'), max: most }), (when) => {
        const whole = Math.floor(when / 1000) * 1000;
        const { tag: identifier, text } = formatTime(when);
        expect(parseTime(identifier, text)).toBe(whole);
        expect(parseTime(tag.generalizedTime, formatGeneralizedTime(when))).toBe(whole);
      }),
      runs(1000),
    );
  });
});
