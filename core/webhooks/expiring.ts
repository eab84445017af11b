import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { certificateData } from './certificate-data.ts';
import { notify } from './notify.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'store'>, WithConfiguration {}

/** What one threshold has told of: ends of validity up to `to`, of those after `from` up to the record of the cursor. */
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
/** For one threshold in one run; the next one goes on. */
const mostPages = 25;

/**
 * Tells webhooks of certificates that end within as many days as the settings say, each once for each threshold, and at a late
 * start only for the nearest one. A threshold looks only at what has come within its reach since the last run, by the index over
 * the end of validity. To be called by one instance at a time.
 */
export async function notifyExpiring(context: Dependencies): Promise<void> {
  const { webhooks } = await context.configuration.current();
  if (!webhooks.some(({ events }) => events.length === 0 || events.includes('certificate.expiring'))) return;
  const { webhookWarnDays } = await currentSettings(context.store);
  const thresholds = [...new Set(webhookWarnDays)].sort((a, b) => b - a);
  try {
    for (const [n, days] of thresholds.entries())
      await sweep(context, thresholds, days, thresholds[n + 1] ?? 0);
  } catch (error) {
    // Another instance has been at it meanwhile.
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}

async function sweep(
  context: Dependencies,
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
    for (const certificate of found.records) notices.push(...(await noticesOf(context, certificate, days)));
    const kept = Object.entries({ ...marks, [days]: { ...mark, cursor: found.next ?? null } });
    const value = Buffer.from(
      JSON.stringify(Object.fromEntries(kept.filter(([name]) => thresholds.includes(Number(name))))),
    );
    await store.commit([settingWrite(settingName, setting, value, true), ...notices]);
    if (found.next === undefined) return;
  }
}

/** Goes on where it was cut off; else from where it had come. What has come within a nearer threshold is left to that one. */
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

/** The same device has a newer one of the same profile. */
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
