import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type DamagedRecordsOfRun, isDamage, type WithDamagedRecords } from '../storage/damaged-records.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { certificateData } from './certificate-data.ts';
import { notify } from './notify.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'store'>,
    WithConfiguration,
    WithDamagedRecords {}

/**
 * The progress of one threshold: certificates that expire up to `to` have been reported; of those that expire after
 * `from`, those up to the cursor.
 */
interface Mark {
  readonly from: number;
  readonly to: number;
  /** Null: all of them. */
  readonly cursor: string | null;
}

/** Threshold in days → mark. */
type Marks = Readonly<Record<string, Mark>>;

const settingName = 'expiry-notices';
const day = 24 * 3_600_000;
const page = 200;
/** Pages for one threshold in one run; the next run continues. */
const mostPages = 25;

/**
 * Notifies webhooks of certificates that expire within the days in the settings: once for each threshold, and only for
 * the nearest one after a late start. A threshold examines only certificates that have crossed it since the last run,
 * with the index on the expiry. Call it on one instance at a time.
 */
export async function notifyExpiring(context: Dependencies): Promise<void> {
  const { webhooks } = await context.configuration.current();
  if (!webhooks.some(({ events }) => events.length === 0 || events.includes('certificate.expiring'))) return;
  const { webhookWarnDays } = await currentSettings(context.store);
  const thresholds = [...new Set(webhookWarnDays)].sort((a, b) => b - a);
  const run = context.damagedRecords.run('expiring certificates');
  try {
    for (const [n, days] of thresholds.entries())
      await sweep(context, run, thresholds, days, thresholds[n + 1] ?? 0);
    run.end();
  } catch (error) {
    // Another instance sent the notifications concurrently.
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}

async function sweep(
  context: Dependencies,
  run: DamagedRecordsOfRun,
  thresholds: readonly number[],
  days: number,
  nearer: number,
): Promise<void> {
  const { store, clock } = context;
  for (let n = 0; n < mostPages; n++) {
    const setting = await store.find('setting', { name: settingName });
    const marks = setting ? settingContent<Marks>(setting) : {};
    const now = clock.now();
    const mark = nextMark(marks[days], now + days * day, now + nearer * day);
    if (mark.from >= mark.to) return;
    const found = await store.list('certificate', {
      where: [
        { field: 'notValidAfter', is: 'greater', value: mark.from },
        { field: 'notValidAfter', is: 'lessOrEqual', value: mark.to },
        { field: 'status', is: 'equal', value: 'good' },
      ],
      order: { field: 'notValidAfter', descending: false },
      limit: page,
      ...(mark.cursor !== null && { cursor: mark.cursor }),
    });
    const notices: Write[] = [];
    for (const certificate of found.records) {
      try {
        notices.push(...(await noticesOf(context, certificate, days)));
      } catch (error) {
        if (!isDamage(error)) throw error;
        run.skip('certificate', certificate.id, error);
      }
    }
    const kept = Object.entries({ ...marks, [days]: { ...mark, cursor: found.next ?? null } });
    const value = Buffer.from(
      JSON.stringify(Object.fromEntries(kept.filter(([name]) => thresholds.includes(Number(name))))),
    );
    await store.commit([settingWrite(settingName, setting, value, true), ...notices]);
    if (found.next === undefined) return;
  }
}

/**
 * Continues an interrupted run, or starts at the end of the previous one. Certificates that have crossed a nearer
 * threshold are left to that threshold.
 */
function nextMark(mark: Mark | undefined, to: number, nearest: number): Mark {
  if (mark && mark.cursor !== null) return mark;
  return { from: Math.max(mark?.to ?? 0, nearest), to, cursor: null };
}

async function noticesOf(
  context: Dependencies,
  certificate: StoredCertificate,
  days: number,
): Promise<readonly Write[]> {
  if (certificate.hidden || (await isRenewed(context, certificate))) return [];
  const { webhooks } = await context.configuration.current();
  return notify(context, webhooks, 'certificate.expiring', () => ({
    object: certificate.id,
    data: { ...certificateData(certificate), days },
  }));
}

/** Returns whether the same device has a newer certificate with the same profile. */
async function isRenewed({ store }: Pick<Ports, 'store'>, certificate: StoredCertificate): Promise<boolean> {
  const { device, profile, notValidAfter } = certificate;
  if (device === null || profile === null) return false;
  const newer = await store.count(
    'certificate',
    [
      { field: 'device', is: 'equal', value: device },
      { field: 'profile', is: 'equal', value: profile },
      { field: 'status', is: 'equal', value: 'good' },
      { field: 'notValidAfter', is: 'greater', value: notValidAfter },
    ],
    1,
  );
  return newer > 0;
}
