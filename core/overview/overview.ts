import { demand, type Principal } from '../access/principal.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition } from '../ports/store.ts';
import type { CertificateStatus } from '../records/certificate.ts';
import { day, days, finishedDays, type Issued, isDayOver, issuedOn, mostPerDay } from './issued.ts';
import { localMidnights } from './local-days.ts';

const mostExpiringPerDay = 10_000;
const mostExpiring = 100_000;
const mostCounted = 1_000_000;
const mostNamed = 20;
const mostEvents = 20_000;
/** How long figures are reused, in milliseconds. */
const freshFor = 15_000;
/** The number of past days in other time zones than UTC that are kept in memory: a few years. */
const mostPastDays = 2000;

/** The number of records with this value; null for records without one. */
export interface Share {
  readonly id: number | null;
  readonly count: number;
}

export interface Issuance {
  /** Thirty days of the time zone; the last is today. */
  readonly days: readonly {
    readonly begins: number;
    readonly byProtocol: Readonly<Record<string, number>>;
    /** There are more certificates than were counted. */
    readonly isCapped: boolean;
  }[];
  /** The shares of these days, the greatest first. */
  readonly byDomain: readonly Share[];
  readonly byProfile: readonly Share[];
}

export interface Expiry {
  /** Today and the next 29 days of the time zone, with the number of good certificates that expire on each. */
  readonly days: readonly { readonly begins: number; readonly count: number; readonly isCapped: boolean }[];
  /** Certificates on record. */
  readonly total: number;
  /** Good certificates within their validity period. */
  readonly active: number;
  /** Certificates past their validity period that were not revoked before. */
  readonly expired: number;
  readonly revoked: number;
  readonly hold: number;
  /** Good certificates that expire within 7 and 30 days from now. */
  readonly expiringIn7Days: number;
  readonly expiringIn30Days: number;
}

export interface Failures {
  readonly since: number;
  /** Events of every kind together. */
  readonly total: number;
  /** The most frequent kinds. */
  readonly events: readonly { readonly action: string; readonly outcome: string; readonly count: number }[];
  /** There are more events than were examined: only the newest count. */
  readonly isCapped: boolean;
}

export interface DeviceCounts {
  readonly total: number;
  readonly byDomain: readonly Share[];
}

/** The figures of the console's overview. No figure costs more for a million records than for a hundred thousand. */
export interface Overview {
  /** The days are those of `timeZone`, an IANA name; default: UTC. Faults: malformed for an unknown name. */
  issuance(principal: Principal, timeZone?: string): Promise<Issuance>;
  /** Like `issuance`. */
  expiry(principal: Principal, timeZone?: string): Promise<Expiry>;
  /** Returns what was refused or failed within the last day, by kind. */
  failures(principal: Principal): Promise<Failures>;
  devices(principal: Principal): Promise<DeviceCounts>;
}

export function overview(context: Pick<Ports, 'clock' | 'store'>): Overview {
  const { store, clock } = context;
  // All accounts share the figures and their cost: maintenance and enrolment do not wait for these reads.
  const reads = store.readsFor?.('overview') ?? store;
  /** Past days that maintenance does not count: UTC days that are not counted yet, and all days of other time zones. */
  const past = new Map<string, readonly Issued[]>();

  async function issued(begins: number, ends: number): Promise<readonly Issued[]> {
    const key = `${begins} ${ends}`;
    const known = past.get(key);
    if (known) return known;
    const counted = await issuedOn(reads, begins, ends);
    if (isDayOver(begins, clock.now(), ends)) past.set(key, counted);
    for (const oldest of past.keys()) if (past.size > mostPastDays) past.delete(oldest);
    return counted;
  }

  async function readIssuance(midnights: readonly number[]): Promise<Issuance> {
    const finished = await finishedDays(store);
    const found: (Issuance['days'][number] & { readonly issued: readonly Issued[] })[] = [];
    // One day after the other, so that other requests can run between them.
    for (const [n, ends] of midnights.slice(1).entries()) {
      const begins = midnights[n] ?? ends;
      const counted = begins % day === 0 && ends - begins === day ? finished[begins] : undefined;
      const ofDay = counted ?? (await issued(begins, ends));
      const byProtocol = Object.fromEntries(sums(ofDay, ({ protocol }) => protocol));
      found.push({ begins, byProtocol, isCapped: total(ofDay) >= mostPerDay, issued: ofDay });
    }
    const all = found.flatMap(({ issued: ofDay }) => ofDay);
    return {
      days: found.map(({ issued: _, ...rest }) => rest),
      byDomain: shares(sums(all, ({ domain }) => domain)),
      byProfile: shares(sums(all, ({ profile }) => profile)),
    };
  }

  async function readExpiry(midnights: readonly number[]): Promise<Expiry> {
    const now = clock.now();
    const notBefore = (value: number) => ({ field: 'notValidAfter', is: 'greaterOrEqual', value }) as const;
    const before = (value: number) => ({ field: 'notValidAfter', is: 'less', value }) as const;
    const status = (...value: CertificateStatus[]) => ({ field: 'status', is: 'oneOf', value }) as const;
    const count = (atMost: number, ...where: Condition<'certificate'>[]): Promise<number> =>
      reads.count('certificate', where, atMost);
    const expiring = (from: number, to: number, atMost: number): Promise<number> =>
      count(atMost, notBefore(from), before(to), status('good'));
    /**
     * Few certificates have another status than `good`, so subtracting them is cheaper than testing the status of each.
     */
    const without = async (range: Condition<'certificate'>, ...others: CertificateStatus[]) => {
      const [all, subtracted] = await Promise.all([
        count(mostCounted, range),
        count(mostCounted, range, status(...others)),
      ]);
      return all >= mostCounted ? all : Math.max(0, all - subtracted);
    };
    const [counts, all, active, expired, revoked, hold, expiringIn7Days, expiringIn30Days] =
      await Promise.all([
        Promise.all(
          midnights
            .slice(1)
            .map((ends, n) => expiring(Math.max(now, midnights[n] ?? now), ends, mostExpiringPerDay)),
        ),
        count(mostCounted),
        without(notBefore(now), 'intended', 'failed', 'hold', 'revoked'),
        without(before(now), 'intended', 'failed', 'revoked'),
        count(mostCounted, status('revoked')),
        count(mostCounted, status('hold')),
        expiring(now, now + 7 * day, mostExpiring),
        expiring(now, now + 30 * day, mostExpiring),
      ]);
    return {
      days: counts.map((of, n) => ({
        begins: midnights[n] ?? now,
        count: of,
        isCapped: of >= mostExpiringPerDay,
      })),
      total: all,
      active,
      expired,
      revoked,
      hold,
      expiringIn7Days,
      expiringIn30Days,
    };
  }

  async function readFailures(): Promise<Failures> {
    const since = clock.now() - day;
    const [newest] = (await reads.list('auditEvent', { limit: 1 })).records;
    const after = Math.max(0, (newest?.id ?? 0) - mostEvents);
    const tallies = await reads.tally(
      'auditEvent',
      [
        { field: 'id', is: 'greater', value: after },
        { field: 'at', is: 'greaterOrEqual', value: since },
      ],
      ['action', 'outcome'],
      mostEvents,
    );
    const events = tallies.map(({ values: [action, outcome], count }) => ({
      action: String(action),
      outcome: String(outcome),
      count,
    }));
    const unsuccessful = events.filter(({ outcome }) => outcome !== 'success');
    return {
      since,
      total: total(unsuccessful),
      events: unsuccessful.sort((a, b) => b.count - a.count).slice(0, mostNamed),
      isCapped: after > 0 && total(events) >= mostEvents,
    };
  }

  async function readDevices(): Promise<DeviceCounts> {
    const tallies = await reads.tally('device', [], ['domain'], mostCounted);
    const byDomain = tallies.map(({ values: [id], count }) => ({ id: id as number | null, count }));
    return {
      total: total(byDomain),
      byDomain: byDomain.sort((a, b) => b.count - a.count).slice(0, mostNamed),
    };
  }

  // Time zones with the same midnights share their figures.
  const issuance = remembered(context, readIssuance);
  const expiry = remembered(context, readExpiry);
  const failures = remembered(context, readFailures);
  const devices = remembered(context, readDevices);
  return {
    async issuance(principal, timeZone = 'UTC') {
      demand(principal, 'certificates.read');
      return issuance(localMidnights(timeZone, clock.now(), 1 - days, days));
    },
    async expiry(principal, timeZone = 'UTC') {
      demand(principal, 'certificates.read');
      return expiry(localMidnights(timeZone, clock.now(), 0, days));
    },
    async failures(principal) {
      demand(principal, 'audit.read');
      return failures([]);
    },
    async devices(principal) {
      demand(principal, 'devices.read');
      return devices([]);
    },
  };
}

/** Shares one reading among all requests with the same parameters, as long as it is fresh or still running. */
function remembered<T>(
  { clock }: Pick<Ports, 'clock'>,
  read: (of: readonly number[]) => Promise<T>,
): (of: readonly number[]) => Promise<T> {
  const readings = new Map<string, { readonly at: number; readonly answer: Promise<T> }>();
  return (of) => {
    const now = clock.now();
    for (const [key, { at }] of readings) if (now - at >= freshFor || now < at) readings.delete(key);
    const key = of.join();
    const known = readings.get(key);
    if (known) return known.answer;
    const reading = { at: now, answer: read(of) };
    readings.set(key, reading);
    reading.answer.catch(() => {
      if (readings.get(key) === reading) readings.delete(key);
    });
    return reading.answer;
  };
}

const total = (of: readonly { readonly count: number }[]): number =>
  of.reduce((sum, { count }) => sum + count, 0);

function sums<T extends { readonly count: number }, K>(of: readonly T[], key: (one: T) => K): Map<K, number> {
  const found = new Map<K, number>();
  for (const one of of) found.set(key(one), (found.get(key(one)) ?? 0) + one.count);
  return found;
}

const shares = (of: ReadonlyMap<number | null, number>): readonly Share[] =>
  [...of]
    .map(([id, count]) => ({ id, count }))
    .sort((a, b) => b.count - a.count)
    .slice(0, mostNamed);
