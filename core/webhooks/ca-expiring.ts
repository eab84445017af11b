import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WebhookData, WebhookEvent } from '../records/webhook.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { fingerprint } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { notify } from './notify.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'store'>, WithConfiguration {}

/** CA id → the nearest threshold that webhooks have been notified of, and the expiry that it referred to. */
type Marks = Readonly<Record<string, { readonly end: number; readonly days: number }>>;

const settingName = 'ca-expiry-notices';
const event: WebhookEvent = 'ca.expiring';
const day = 24 * 3_600_000;

/**
 * Tells webhooks of every active CA, whoever issued its certificate, that expires within `caWarningDays`, and again at each nearer
 * threshold of `webhookWarnDays`: once for each threshold, at a late start only for the nearest one. To be called by one instance at a
 * time.
 */
export async function tellOfExpiringCas(context: Dependencies): Promise<void> {
  const { store, clock } = context;
  const { cas, domains, webhooks } = await context.configuration.current();
  if (!webhooks.some(({ events }) => events.length === 0 || events.includes(event))) return;
  const setting = await store.find('setting', { name: settingName });
  const before = setting ? settingContent<Marks>(setting) : {};
  const { caWarningDays, webhookWarnDays } = await currentSettings(store);
  const thresholds = [...new Set([caWarningDays, ...webhookWarnDays.filter((days) => days < caWarningDays)])];
  const marks: Record<string, Marks[string]> = {};
  const due: { readonly ca: LoadedCa; readonly days: number }[] = [];
  for (const ca of cas) {
    const { id, isActive } = ca.record;
    const end = ca.certificate.notAfter;
    const left = end - clock.now();
    const reached = thresholds.filter((days) => left <= days * day);
    if (!isActive || left < 0 || reached.length === 0) continue;
    const days = Math.min(...reached);
    const mark = before[id];
    const isTold = mark?.end === end && mark.days <= days;
    marks[id] = isTold ? mark : { end, days };
    if (!isTold) due.push({ ca, days });
  }
  if (due.length === 0) return;
  const notices = due.flatMap(({ ca, days }) =>
    notify(context, webhooks, event, () => ({
      object: ca.record.id,
      data: dataOf(
        ca,
        domains.filter(({ issuingCa }) => issuingCa === ca.record.id).map(({ uniqueName }) => uniqueName),
        days,
      ),
    })),
  );
  try {
    await store.commit([
      settingWrite(settingName, setting, Buffer.from(JSON.stringify(marks)), true),
      ...notices,
    ]);
  } catch (error) {
    // Another instance has been at it meanwhile.
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}

const mostNamed = 10;

const dataOf = (
  { record: { uniqueName, commonName, key }, certificate }: LoadedCa,
  domains: readonly string[],
  days: number,
): WebhookData => ({
  unique_name: uniqueName,
  common_name: commonName,
  subject: formatDistinguishedName(certificate.subject),
  serial_number: certificate.serialNumber,
  fingerprint: fingerprint(certificate.der),
  not_valid_after: new Date(certificate.notAfter).toISOString(),
  key: key === null ? 'upstream' : 'local',
  /** Those whose issuing CA it is. */
  domains:
    domains.length > mostNamed
      ? `${domains.slice(0, mostNamed).join(', ')} and ${domains.length - mostNamed} more`
      : domains.join(', '),
  days,
});
