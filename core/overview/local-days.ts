import { Fault } from '../fault.ts';

const longestName = 64;

/**
 * Returns the midnights of a time zone (IANA, `Europe/Berlin`) at which `count + 1` successive days begin, so that each day ends where
 * the next one begins. `first`: 0 is the day of `now`, -1 the day before. Faults: malformed for an unknown time zone.
 */
export function localMidnights(
  timeZone: string,
  now: number,
  first: number,
  count: number,
): readonly number[] {
  const local = localTimeOf(timeZone);
  const today = new Date(local(now));
  const midnight = (n: number): number => {
    const wanted = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + n);
    const guess = wanted - (local(wanted) - wanted);
    // The offset may change between the guess and the midnight that it is for.
    return wanted - (local(guess) - guess);
  };
  return Array.from({ length: count + 1 }, (_, n) => midnight(first + n));
}

/** Returns what a clock in the time zone shows at a moment, written as if it were UTC. */
function localTimeOf(timeZone: string): (at: number) => number {
  const format = formatOf(timeZone);
  return (at) => {
    const shown = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => shown.get(name) ?? 0;
    const seconds = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    );
    return seconds + (((at % 1000) + 1000) % 1000);
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    if (timeZone.length > longestName) throw new RangeError('too long');
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new Fault('malformed', 'the time zone is unknown: send an IANA name such as Europe/Berlin', {
      field: 'timeZone',
    });
  }
}
