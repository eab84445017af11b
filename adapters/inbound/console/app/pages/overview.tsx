import type { ComponentChildren } from 'preact';
import { ApiError, read } from '../api.ts';
import { type Asked, useAsked, useRead, useShared } from '../data.ts';
import { messages, moment, number, shortDay } from '../language.ts';
import { Answer } from '../parts/answer.tsx';
import { Chart } from '../parts/chart.tsx';
import { Badge, Card, Heading } from '../parts/facts.tsx';
import { DomainOf, ProfileOf } from '../parts/reference.tsx';
import { Text } from '../parts/text.tsx';
import type { CaPosition } from '../records.ts';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { CrlState, isPast } from './cas.tsx';

const m = messages(
  {
    approvals: 'Waiting for a decision',
    approvalsNone: 'Nothing is waiting.',
    byDomain: 'Issued by domain, 30 days',
    byProfile: 'Issued by profile, 30 days',
    certificates: { one: 'certificate', other: 'certificates' },
    crls: 'Revocation lists',
    devices: { one: 'device', other: 'devices' },
    expiring: 'Certificates that end in the next 30 days',
    failed: 'Refused and failed, 24 hours',
    failedNone: 'Nothing was refused, and nothing failed.',
    health: 'Health',
    inventory: 'Inventory',
    issued: 'Certificates issued in the last 30 days',
    none: 'None.',
    notReached: 'out of reach',
    reached: 'in reach',
    revoked: { one: 'revoked', other: 'revoked' },
    tasks: 'All of them',
    title: 'Overview',
  },
  {
    approvals: 'Wartet auf eine Entscheidung',
    approvalsNone: 'Nichts wartet.',
    byDomain: 'Ausgestellt nach Domäne, 30 Tage',
    byProfile: 'Ausgestellt nach Profil, 30 Tage',
    certificates: { one: 'Zertifikat', other: 'Zertifikate' },
    crls: 'Sperrlisten',
    devices: { one: 'Gerät', other: 'Geräte' },
    expiring: 'Zertifikate, die in den nächsten 30 Tagen ablaufen',
    failed: 'Abgelehnt und gescheitert, 24 Stunden',
    failedNone: 'Nichts wurde abgelehnt, und nichts ist gescheitert.',
    health: 'Zustand',
    inventory: 'Bestand',
    issued: 'In den letzten 30 Tagen ausgestellte Zertifikate',
    none: 'Keine.',
    notReached: 'nicht erreichbar',
    reached: 'erreichbar',
    revoked: { one: 'gesperrt', other: 'gesperrt' },
    tasks: 'Alle zeigen',
    title: 'Übersicht',
  },
);

interface Health {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

interface Expiry {
  readonly days: readonly { readonly begins: string; readonly count: number }[];
  readonly total: number;
  readonly revoked: number;
}

interface Issuance {
  readonly days: readonly {
    readonly begins: string;
    readonly by_protocol: Readonly<Record<string, number>>;
  }[];
  readonly by_domain: readonly { readonly domain: number | null; readonly count: number }[];
  readonly by_profile: readonly { readonly cert_profile: number | null; readonly count: number }[];
}

interface Failures {
  readonly events: readonly { readonly action: string; readonly outcome: string; readonly count: number }[];
}

/** A card for each thing that the role may know of; what this service does not offer is left out. */
export const overview: Page = {
  path: '/',
  title: () => m('title'),
  navigation: { group: 'attention', order: 0 },
  view: () => (
    <>
      <Heading title={m('title')} />
      <div class="cards small">
        {may('approvals.read') && <Approvals />}
        <HealthCard />
        {may('audit.read') && <Failed />}
        {may('cas.read') && <Crls />}
        {may('certificates.read') && <Inventory />}
        {may('certificates.read') && <Expiring />}
        {may('certificates.read') && <Issued />}
      </div>
    </>
  ),
};

const isMissing = ({ error }: Asked<unknown>): boolean => error instanceof ApiError && error.status === 404;

function Approvals() {
  const asked = useRead<readonly unknown[]>('/api/approvals/?state=waiting&limit=100');
  if (isMissing(asked)) return null;
  return (
    <Card title={m('approvals')}>
      <Answer of={asked}>
        {({ length }) =>
          length === 0 ? (
            <p class="quiet">{m('approvalsNone')}</p>
          ) : (
            <div class="figures">
              <a href="/approvals">
                <strong>{length === 100 ? '100+' : number(length)}</strong>
                <span class="quiet">{m('tasks')}</span>
              </a>
            </div>
          )
        }
      </Answer>
    </Card>
  );
}

/** What is out of reach is answered with 503, and is an answer all the same. */
async function readHealth(abort: AbortSignal): Promise<Health> {
  try {
    return await read<Health>('/api/health/', abort);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return error.body as Health;
    throw error;
  }
}

function HealthCard() {
  const asked = useAsked('health', readHealth);
  return (
    <Card title={m('health')}>
      <Answer of={asked}>
        {({ checks }) => (
          <ul class="plain-list">
            {Object.entries(checks).map(([name, check]) => (
              <li key={name}>
                <Text of={name} />
                <Badge look={check.ok ? 'good' : 'bad'}>{check.ok ? m('reached') : m('notReached')}</Badge>
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </Card>
  );
}

function Inventory() {
  const expiry = useShared<Expiry>('/api/overview/expiry/');
  const devices = useRead<{ readonly total: number }>(
    may('devices.read') ? '/api/overview/devices/' : undefined,
  );
  return (
    <Card title={m('inventory')}>
      <Answer of={expiry}>
        {({ total, revoked }) => (
          <div class="figures">
            {devices.data && (
              <a href="/devices">
                <strong>{number(devices.data.total)}</strong>
                <span class="quiet">{m('devices', { n: devices.data.total })}</span>
              </a>
            )}
            <a href="/certificates">
              <strong>{number(total)}</strong>
              <span class="quiet">{m('certificates', { n: total })}</span>
            </a>
            <a href="/certificates?status=revoked">
              <strong>{number(revoked)}</strong>
              <span class="quiet">{m('revoked', { n: revoked })}</span>
            </a>
          </div>
        )}
      </Answer>
    </Card>
  );
}

const soon = 2 * 86_400_000;

function Crls() {
  const asked = useRead<readonly CaPosition[]>('/api/ca-hierarchy/');
  return (
    <Card title={m('crls')}>
      <Answer of={asked}>
        {(found) => {
          // The most urgent first.
          const due = (ca: CaPosition): number =>
            ca.crl ? moment(ca.crl.next_update).getTime() : Number.POSITIVE_INFINITY;
          const ordered = [...found].sort((a, b) => due(a) - due(b)).slice(0, 8);
          return (
            <ul class="plain-list">
              {ordered.map((ca) => (
                <li key={ca.id}>
                  <a href={`/cas/${ca.id}`}>
                    <Text of={ca.unique_name} />
                  </a>
                  <span>
                    {ca.crl && !isPast(ca.crl.next_update) && due(ca) - Date.now() < soon && (
                      <Badge look="warn">!</Badge>
                    )}
                    <CrlState of={ca} />
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Card>
  );
}

function Failed() {
  const asked = useRead<Failures>('/api/overview/failures/');
  return (
    <Card title={m('failed')}>
      <Answer of={asked}>
        {({ events }) =>
          events.length === 0 ? (
            <p class="quiet">{m('failedNone')}</p>
          ) : (
            <ul class="plain-list">
              {events.slice(0, 8).map(({ action, outcome, count }) => (
                <li key={`${action} ${outcome}`}>
                  <a
                    href={`/audit?action=${encodeURIComponent(action)}&outcome=${encodeURIComponent(outcome)}`}
                  >
                    <Text of={action} />
                  </a>
                  <span>
                    <Badge look={outcome === 'failed' ? 'bad' : 'warn'}>{outcome}</Badge> {number(count)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}

function Expiring() {
  const asked = useShared<Expiry>('/api/overview/expiry/');
  return (
    <Card title={m('expiring')} wide>
      <Answer of={asked}>
        {({ days }) => (
          <Chart
            title={m('expiring')}
            labels={days.map(({ begins }) => shortDay(moment(begins)))}
            series={[{ name: m('certificates', { n: 2 }), values: days.map(({ count }) => count) }]}
          />
        )}
      </Answer>
    </Card>
  );
}

function Issued() {
  const asked = useRead<Issuance>('/api/overview/issuance/');
  return (
    <>
      <Card title={m('issued')} wide>
        <Answer of={asked}>
          {({ days }) => {
            const protocols = [...new Set(days.flatMap((day) => Object.keys(day.by_protocol)))].sort();
            return (
              <Chart
                title={m('issued')}
                labels={days.map(({ begins }) => shortDay(moment(begins)))}
                series={protocols.map((name) => ({
                  name,
                  values: days.map((day) => day.by_protocol[name] ?? 0),
                }))}
              />
            );
          }}
        </Answer>
      </Card>
      <Card title={m('byDomain')}>
        <Answer of={asked}>
          {({ by_domain }) => (
            <Ranking
              of={by_domain.map(({ domain, count }) => ({
                key: String(domain),
                name: <DomainOf id={domain} />,
                count,
              }))}
            />
          )}
        </Answer>
      </Card>
      <Card title={m('byProfile')}>
        <Answer of={asked}>
          {({ by_profile }) => (
            <Ranking
              of={by_profile.map(({ cert_profile, count }) => ({
                key: String(cert_profile),
                name: <ProfileOf id={cert_profile} />,
                count,
              }))}
            />
          )}
        </Answer>
      </Card>
    </>
  );
}

const Ranking = ({
  of,
}: {
  readonly of: readonly {
    readonly key: string;
    readonly name: ComponentChildren;
    readonly count: number;
  }[];
}) =>
  of.length === 0 ? (
    <p class="quiet">{m('none')}</p>
  ) : (
    <ul class="plain-list">
      {of.map(({ key, name, count }) => (
        <li key={key}>
          {name}
          <span>{number(count)}</span>
        </li>
      ))}
    </ul>
  );
