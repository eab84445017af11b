import { ApiError } from '../../api.ts';
import { type Asked, useRead } from '../../data.ts';
import { messages, number } from '../../language.ts';
import { may } from '../../session.ts';
import { type Health, problemsOf } from './health.tsx';
import { ago, type Expiry, type Failures } from './readings.ts';

const m = messages(
  {
    active: 'Active certificates',
    approvals: 'Pending approvals',
    devices: 'Devices',
    expired: 'Expired',
    expiring30: 'Expiring within 30 days',
    expiring7: 'Expiring within 7 days',
    failed: 'Failed requests, 24 hours',
    figures: 'Key figures',
    revoked: 'Revoked',
    unhealthy: 'Failing health checks',
  },
  {
    active: 'Aktive Zertifikate',
    approvals: 'Offene Genehmigungen',
    devices: 'Geräte',
    expired: 'Abgelaufen',
    expiring30: 'Laufen in 30 Tagen ab',
    expiring7: 'Laufen in 7 Tagen ab',
    failed: 'Fehlgeschlagene Anfragen, 24 Stunden',
    figures: 'Kennzahlen',
    revoked: 'Gesperrt',
    unhealthy: 'Fehlgeschlagene Zustandsprüfungen',
  },
);

/** The most that is counted of the certificates that expire, and of all. */
const most = { expiring: 100_000, certificates: 1_000_000, approvals: 100 } as const;

interface Figure {
  readonly name: string;
  readonly href: string;
  /** Undefined until it is known. */
  readonly value: number | undefined;
  readonly atMost?: number;
  /** How it looks when it is not zero. */
  readonly look?: 'warn' | 'bad';
}

/** One row of figures, each a link to what it counts; those that the role does not show are left out. */
export function Figures({
  expiry,
  failures,
  health,
}: {
  readonly expiry: Asked<Expiry>;
  readonly failures: Asked<Failures>;
  readonly health: Asked<Health>;
}) {
  const approvals = useRead<readonly unknown[]>(
    may('approvals.read') ? `/api/approvals/?state=waiting&limit=${most.approvals}` : undefined,
  );
  const devices = useRead<{ readonly total: number }>(
    may('devices.read') ? '/api/overview/devices/' : undefined,
  );
  const hasApprovals = !(approvals.error instanceof ApiError && approvals.error.status === 404);
  const certificates = expiry.data;
  const figures: readonly (Figure | false)[] = [
    may('devices.read') && { name: m('devices'), href: '/devices', value: devices.data?.total },
    ...(may('certificates.read')
      ? [
          {
            name: m('active'),
            href: '/certificates?state=active',
            value: certificates?.active,
            atMost: most.certificates,
          },
          {
            name: m('expiring7'),
            href: '/certificates?expires_within=7&ordering=not_valid_after',
            value: certificates?.expiring_in_7_days,
            atMost: most.expiring,
            look: 'bad',
          } as const,
          {
            name: m('expiring30'),
            href: '/certificates?expires_within=30&ordering=not_valid_after',
            value: certificates?.expiring_in_30_days,
            atMost: most.expiring,
            look: 'warn',
          } as const,
          {
            name: m('expired'),
            href: '/certificates?state=expired',
            value: certificates?.expired,
            atMost: most.certificates,
          },
          {
            name: m('revoked'),
            href: '/certificates?state=revoked',
            value: certificates?.revoked,
            atMost: most.certificates,
          },
        ]
      : []),
    may('approvals.read') &&
      hasApprovals && {
        name: m('approvals'),
        href: '/approvals',
        value: approvals.data?.length,
        atMost: most.approvals,
        look: 'warn',
      },
    may('audit.read') && {
      name: m('failed'),
      href: `/audit?outcome=${encodeURIComponent('refused,failed')}&from=${ago(24)}`,
      value: failures.data?.total,
      look: 'warn',
    },
    {
      name: m('unhealthy'),
      href: '#health',
      value: health.data && problemsOf(health.data).length,
      look: 'bad',
    },
  ];
  return (
    <section class="tiles" aria-label={m('figures')}>
      {figures
        .filter((figure) => figure !== false)
        .map(({ name, href, value, atMost = Number.POSITIVE_INFINITY, look }) => (
          <a key={name} href={href} class={value ? `tile ${look ?? ''}` : 'tile'}>
            <strong>{value === undefined ? '…' : `${number(value)}${value >= atMost ? '+' : ''}`}</strong>
            <span>{name}</span>
          </a>
        ))}
    </section>
  );
}
