import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Reads, Store } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';

export const day = 24 * 3_600_000;
const hour = 3_600_000;
/** Days that are looked back on, today one of them. */
export const days = 30;
/** Days with more certificates are counted no further, so that the answer costs no more than they do. */
export const mostPerDay = 100_000;
/** Of a day with more kinds of certificates than this, nothing is kept: the setting stays small. */
const mostKinds = 1000;

const settingName = 'issued-certificates';

/** Certificates of a day that have these in common. */
export interface Issued {
  readonly protocol: string;
  readonly domain: number | null;
  readonly profile: number | null;
  readonly count: number;
}

/** By the midnight (UTC) at which a day begins. */
type IssuedByDay = Readonly<Record<string, readonly Issued[]>>;

/** What was issued on days that are over, as far as it has been counted. */
export async function finishedDays(store: Store): Promise<IssuedByDay> {
  return decode(await store.find('setting', { name: settingName }));
}

const decode = (setting: Setting | undefined): IssuedByDay =>
  setting ? settingContent<IssuedByDay>(setting) : {};

/** Whether no more certificates come to a day: an issuance that began before midnight may end after it. */
export const isDayOver = (begins: number, now: number, ends = begins + day): boolean => ends + hour < now;

/** Counts what was issued on a day; `ends` is the midnight after it, in whichever time zone. */
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
 * Counts the days that are over and writes them down, so that nobody who looks has to wait for it. Kept here and not counted with
 * each issuance, nor by an index for it: either would cost every enrolment something.
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
    // Another instance has been at it meanwhile.
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}
