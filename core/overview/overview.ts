import { demand, type Principal } from '../access/principal.ts';
import type { Ports } from '../ports/ports.ts';
import { day, days, finishedDays, type Issued, isOver, issuedOn, mostPerDay } from './issued.ts';

const mostExpiringPerDay = 10_000;
const mostCounted = 1_000_000;
const mostNamed = 20;
const mostEvents = 20_000;
/** Whoever looks again within this sees the same. */
const freshFor = 15_000;

/** How many have this value; null where there is none. */
export interface Share {
  readonly id: number | null;
  readonly count: number;
}

export interface Issuance {
  /** Thirty days in UTC, the last of them today. */
  readonly days: readonly {
    readonly begins: number;
    readonly byProtocol: Readonly<Record<string, number>>;
    /** There were more than are counted. */
    readonly isCapped: boolean;
  }[];
  /** Of these days, the greatest first. */
  readonly byDomain: readonly Share[];
  readonly byProfile: readonly Share[];
}

export interface Expiry {
  /** The next thirty days, each of 24 hours from now on, and how many good certificates end in each. */
  readonly days: readonly { readonly begins: number; readonly count: number; readonly isCapped: boolean }[];
  /** Certificates on record. */
  readonly total: number;
  readonly revoked: number;
  readonly hold: number;
}

export interface Failures {
  readonly since: number;
  readonly events: readonly { readonly action: string; readonly outcome: string; readonly count: number }[];
  /** There were more events than are looked at: the newest. */
  readonly isCapped: boolean;
}

export interface DeviceCounts {
  readonly total: number;
  readonly byDomain: readonly Share[];
}

/** What an administrator wants to see first. No figure costs more for a million records than for a hundred thousand. */
export interface Overview {
  issuance(principal: Principal): Promise<Issuance>;
  expiry(principal: Principal): Promise<Expiry>;
  /** What was refused or failed within a day, by kind. */
  failures(principal: Principal): Promise<Failures>;
  devices(principal: Principal): Promise<DeviceCounts>;
}

export function overview(context: Pick<Ports, 'clock' | 'store'>): Overview {
  const { store, clock } = context;
  // All accounts share the figures, and what they cost: maintenance and enrolment do not wait for them.
  const reads = store.readsFor?.('overview') ?? store;
  /** Days that are over, where maintenance has not come to count them yet: what was issued on them stays so. */
  const past = new Map<number, readonly Issued[]>();

  async function issued(begins: number): Promise<readonly Issued[]> {
    const known = past.get(begins);
    if (known) return known;
    const counted = await issuedOn(reads, begins);
    if (isOver(begins, clock.now())) past.set(begins, counted);
    return counted;
  }

  async function readIssuance(): Promise<Issuance> {
    const today = Math.floor(clock.now() / day) * day;
    for (const kept of past.keys()) if (kept < today - days * day) past.delete(kept);
    const finished = await finishedDays(store);
    const found: (Issuance['days'][number] & { readonly issued: readonly Issued[] })[] = [];
    // One after the other: whoever asks for something else meanwhile has a turn.
    for (let n = days - 1; n >= 0; n--) {
      const begins = today - n * day;
      const ofDay = finished[begins] ?? (await issued(begins));
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

  async function readExpiry(): Promise<Expiry> {
    const now = clock.now();
    const [counts, total, revoked, hold] = await Promise.all([
      Promise.all(
        Array.from({ length: days }, (_, n) =>
          reads.count(
            'certificate',
            [
              { field: 'notValidAfter', is: 'greaterOrEqual', value: now + n * day },
              { field: 'notValidAfter', is: 'less', value: now + (n + 1) * day },
              { field: 'status', is: 'equal', value: 'good' },
            ],
            mostExpiringPerDay,
          ),
        ),
      ),
      reads.count('certificate', [], mostCounted),
      reads.count('certificate', [{ field: 'status', is: 'equal', value: 'revoked' }], mostCounted),
      reads.count('certificate', [{ field: 'status', is: 'equal', value: 'hold' }], mostCounted),
    ]);
    return {
      days: counts.map((count, n) => ({
        begins: now + n * day,
        count,
        isCapped: count >= mostExpiringPerDay,
      })),
      total,
      revoked,
      hold,
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
    return {
      since,
      events: events
        .filter(({ outcome }) => outcome !== 'success')
        .sort((a, b) => b.count - a.count)
        .slice(0, mostNamed),
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

  const issuance = remembered(context, readIssuance);
  const expiry = remembered(context, readExpiry);
  const failures = remembered(context, readFailures);
  const devices = remembered(context, readDevices);
  return {
    async issuance(principal) {
      demand(principal, 'certificates.read');
      return issuance();
    },
    async expiry(principal) {
      demand(principal, 'certificates.read');
      return expiry();
    },
    async failures(principal) {
      demand(principal, 'audit.read');
      return failures();
    },
    async devices(principal) {
      demand(principal, 'devices.read');
      return devices();
    },
  };
}

/** One reading for all who ask while it is fresh, or under way. */
function remembered<T>({ clock }: Pick<Ports, 'clock'>, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const now = clock.now();
    if (last && now - last.at < freshFor && now >= last.at) return last.answer;
    const reading = { at: now, answer: read() };
    last = reading;
    reading.answer.catch(() => {
      if (last === reading) last = undefined;
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
