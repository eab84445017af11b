import { lastVerification } from '../audit/last-verification.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import type { Health } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import { openUpstreamStates } from '../records/upstream-request.ts';
import { everyRecord } from '../storage/every-record.ts';
import { parseCertificate } from '../x509/certificate.ts';
import type { MetricFamily, Sample } from './counters.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'disks' | 'issuers' | 'store'> {}

const mostCas = 1000;
const countedUpTo = 10_000;
const day = 24 * 3_600_000;

const gauge = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
  name,
  help,
  type: 'gauge',
  perProcess: false,
  samples,
});

/** Returns the metrics that all instances share. */
export async function gauges(
  context: Dependencies,
  health: Readonly<Record<string, Health>>,
): Promise<readonly MetricFamily[]> {
  const { store, clock } = context;
  const now = clock.now();
  const [{ expiryWarningDays }, cas, crls] = await Promise.all([
    currentSettings(store),
    everyRecord(store, 'issuingCa'),
    store.listWithout('crl', ['crl'], { limit: mostCas }),
  ]);
  const expiring = await store.count(
    'certificate',
    [
      { field: 'notValidAfter', is: 'greaterOrEqual', value: now },
      { field: 'notValidAfter', is: 'less', value: now + expiryWarningDays * day },
      { field: 'status', is: 'equal', value: 'good' },
    ],
    countedUpTo,
  );
  const waiting = await store.count(
    'approval',
    [{ field: 'state', is: 'equal', value: 'waiting' }],
    countedUpTo,
  );
  const blocked = await store.count(
    'device',
    [{ field: 'blockedAt', is: 'greaterOrEqual', value: 0 }],
    countedUpTo,
  );
  const names = new Map(cas.records.map(({ id, uniqueName }) => [id, uniqueName]));
  const ofCrls = (seconds: (crl: (typeof crls.records)[number]) => number): Sample[] =>
    crls.records.map((crl) => ({
      labels: { ca: names.get(crl.ca) ?? String(crl.ca) },
      value: seconds(crl) / 1000,
    }));
  return [
    gauge(
      'postern_crl_age_seconds',
      'Seconds since the newest CRL of a CA was issued.',
      ofCrls(({ thisUpdate }) => now - thisUpdate),
    ),
    gauge(
      'postern_crl_expires_in_seconds',
      'Seconds until the newest CRL of a CA expires.',
      ofCrls(({ nextUpdate }) => nextUpdate - now),
    ),
    gauge(
      'postern_certificates_expiring_within',
      `Valid certificates that expire within a number of days (each counted up to ${countedUpTo}).`,
      await expiringSamples(context),
    ),
    gauge(
      'postern_ca_expires_in_seconds',
      'Seconds until the certificate of a CA expires; negative once it has expired.',
      cas.records.flatMap(({ uniqueName, certificate }) => {
        const end = endOf(certificate);
        return end === undefined ? [] : [{ labels: { ca: uniqueName }, value: (end - now) / 1000 }];
      }),
    ),
    gauge(
      'postern_certificates_expiring',
      `Certificates that expire within the number of days in the settings (counted up to ${countedUpTo}).`,
      [{ labels: { days: String(expiryWarningDays) }, value: expiring }],
    ),
    gauge('postern_devices_blocked', `Blocked devices (counted up to ${countedUpTo}).`, [
      { labels: {}, value: blocked },
    ]),
    gauge('postern_approvals_waiting', `Pending approvals (counted up to ${countedUpTo}).`, [
      { labels: {}, value: waiting },
    ]),
    gauge(
      'postern_upstream_requests',
      `Pending requests to upstream CAs (counted up to ${countedUpTo}).`,
      await upstreamSamples(context),
    ),
    gauge(
      'postern_webhook_deliveries',
      `Webhook messages that wait for delivery (pending) or were given up (dead) (counted up to ${countedUpTo}).`,
      await webhookSamples(context),
    ),
    ...(await auditFamilies(context)),
    ...(await diskFamilies(context)),
    gauge(
      'postern_healthy',
      'Whether the dependencies of the service are available: store, key stores (including HSMs), upstream CAs.',
      Object.entries(health).map(([part, { ok }]) => ({ labels: { part }, value: ok ? 1 : 0 })),
    ),
  ];
}

async function auditFamilies({ store }: Pick<Ports, 'store'>): Promise<readonly MetricFamily[]> {
  // A damaged result is no reason to withhold all other metrics: the time of the last verification is missing then.
  const last = await lastVerification(store).catch(() => undefined);
  const one = (value: (of: NonNullable<typeof last>) => number): readonly Sample[] =>
    last ? [{ labels: {}, value: value(last) }] : [];
  return [
    gauge(
      'postern_audit_intact',
      'Whether the last verification of the audit trail found no problem; absent before the first verification.',
      one(({ isIntact }) => (isIntact ? 1 : 0)),
    ),
    gauge(
      'postern_audit_verified_seconds',
      'Time of the last verification of the audit trail, seconds since 1970.',
      one(({ at }) => at / 1000),
    ),
  ];
}

async function diskFamilies({ disks }: Pick<Ports, 'disks'>): Promise<readonly MetricFamily[]> {
  const found = disks ? await disks() : [];
  const samples = (value: 'free' | 'size'): readonly Sample[] =>
    found.map((disk) => ({ labels: { disk: disk.name }, value: disk[value] }));
  return [
    gauge('postern_disk_free_bytes', 'Free space on the disk of the data or log directory.', samples('free')),
    gauge('postern_disk_size_bytes', 'Size of the disk of the data or log directory.', samples('size')),
  ];
}

const expiryDays = [1, 7, 30, 90];

const expiringSamples = ({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<Sample[]> =>
  Promise.all(
    expiryDays.map(async (days) => ({
      labels: { days: String(days) },
      value: await store.count(
        'certificate',
        [
          { field: 'notValidAfter', is: 'greaterOrEqual', value: clock.now() },
          { field: 'notValidAfter', is: 'less', value: clock.now() + days * day },
          { field: 'status', is: 'equal', value: 'good' },
        ],
        countedUpTo,
      ),
    })),
  );

const upstreamSamples = ({ store, issuers }: Pick<Ports, 'issuers' | 'store'>): Promise<Sample[]> =>
  Promise.all(
    [...issuers.keys()].map(async (issuer) => ({
      labels: { issuer },
      value: await store.count(
        'upstreamRequest',
        [
          { field: 'state', is: 'oneOf', value: openUpstreamStates },
          { field: 'issuer', is: 'equal', value: issuer },
        ],
        countedUpTo,
      ),
    })),
  );

const webhookSamples = ({ store }: Pick<Ports, 'store'>): Promise<Sample[]> =>
  Promise.all(
    ['pending', 'dead'].map(async (state) => ({
      labels: { state },
      value: await store.count(
        'webhookDelivery',
        [{ field: 'state', is: 'equal', value: state }],
        countedUpTo,
      ),
    })),
  );

/** Returns undefined for an unreadable certificate: the health check names its CA. */
function endOf(certificate: Uint8Array): number | undefined {
  try {
    return parseCertificate(certificate).notAfter;
  } catch {
    return undefined;
  }
}
