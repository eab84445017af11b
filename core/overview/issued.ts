import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Reads, Store } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';

export const day = 24 * 3_600_000;
const hour = 3_600_000;
/** The number of days in the figures, including today. */
export const days = 30;
/** Counting stops at this number of certificates a day, which limits the cost. */
export const mostPerDay = 100_000;
/** A day with more combinations than this is not stored, so that the setting stays small. */
const mostKinds = 1000;

const settingName = 'issued-certificates';

/** Certificates of a day with the same protocol, domain and profile. */
export interface Issued {
  readonly protocol: string;
  readonly domain: number | null;
  readonly profile: number | null;
  readonly count: number;
}

/** By the midnight (UTC) at which the day begins. */
type IssuedByDay = Readonly<Record<string, readonly Issued[]>>;

/** Returns the stored counts of past days. */
export async function finishedDays(store: Store): Promise<IssuedByDay> {
  return decode(await store.find('setting', { name: settingName }));
}

const decode = (setting: Setting | undefined): IssuedByDay =>
  setting ? settingContent<IssuedByDay>(setting) : {};

/** Returns whether a day is complete: an issuance that began before midnight may end after it. */
export const isDayOver = (begins: number, now: number, ends = begins + day): boolean => ends + hour < now;

/** Counts what was issued on a day; `ends` is the following midnight in any time zone. */
export async function issuedOn(
  store: Reads,
  begins: number,
  ends = begins + day,
): Promise<readonly Issued[]> {
  const tallies = await store.tally(
    'certificate',
    [
      { field: 'createdAt', is: 'greaterOrEqual', value: begins },
      { field: 'createdAt', is: 'less', value: ends },
      { field: 'status', is: 'oneOf', value: ['good', 'hold', 'revoked'] },
    ],
    ['protocol', 'domain', 'profile'],
    mostPerDay,
  );
  return tallies.map(({ values: [protocol, domain, profile], count }) => ({
    protocol: String(protocol),
    domain: domain as number | null,
    profile: profile as number | null,
    count,
  }));
}

/**
 * Counts the completed days and stores the counts, so that nobody who opens the overview has to wait. Counting at each
 * issuance, or an index for it, would slow down every enrolment.
 */
export async function countFinishedDays({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<void> {
  const now = clock.now();
  const today = Math.floor(now / day) * day;
  const setting = await store.find('setting', { name: settingName });
  const known = decode(setting);
  const wanted = Array.from({ length: days }, (_, n) => today - n * day).filter((begins) =>
    isDayOver(begins, now),
  );
  if (wanted.every((begins) => Object.hasOwn(known, begins))) return;
  const next: Record<string, readonly Issued[]> = {};
  for (const begins of wanted) {
    const issued = known[begins] ?? (await issuedOn(store, begins));
    if (issued.length <= mostKinds) next[begins] = issued;
  }
  const value = Buffer.from(JSON.stringify(next));
  if (setting && Buffer.compare(value, setting.value) === 0) return;
  try {
    await store.commit([settingWrite(settingName, setting, value, true)]);
  } catch (error) {
    // Another instance counted the days concurrently.
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}
