import type { ComponentChildren } from 'preact';
import { protocolTitle } from '#adapters/inbound/console/app/parts/certificates/certificate-words.ts';
import type { Asked } from '../../data.ts';
import { isoDay, messages, moment, number, shortDay } from '../../language.ts';
import { actionTitle } from '../../parts/audit/action-words.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { Chart } from '../../parts/display/chart.tsx';
import { Badge, Card } from '../../parts/display/facts.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { ago, type Expiry, type Failures, type Issuance } from './readings.ts';

const m = messages(
  {
    byDomain: 'Issued by domain, 30 days',
    byProfile: 'Issued by profile, 30 days',
    certificates: 'Certificates',
    expiring: 'Expiring in the next 30 days',
    failed: 'Failed',
    issued: 'Issued in the last 30 days',
    noDomain: 'Without a domain',
    noProfile: 'Without a profile',
    none: 'None in this period.',
    refused: 'Rejected',
    rejections: 'Rejected and failed requests, 24 hours',
  },
  {
    byDomain: 'Ausgestellt nach Domäne, 30 Tage',
    byProfile: 'Ausgestellt nach Profil, 30 Tage',
    certificates: 'Zertifikate',
    expiring: 'Laufen in den nächsten 30 Tagen ab',
    failed: 'Fehlgeschlagen',
    issued: 'In den letzten 30 Tagen ausgestellt',
    noDomain: 'Ohne Domäne',
    noProfile: 'Ohne Profil',
    none: 'Keine in diesem Zeitraum.',
    refused: 'Abgelehnt',
    rejections: 'Abgelehnte und fehlgeschlagene Anfragen, 24 Stunden',
  },
);

/** How many certificates expire on each day. */
export const Expiring = ({ asked }: { readonly asked: Asked<Expiry> }) => (
  <Card title={m('expiring')}>
    <Answer of={asked}>
      {({ days }) => {
        const begins = days.map((one) => moment(one.begins));
        const day = (n: number): string => isoDay(begins[n] ?? new Date());
        return (
          <Chart
            title={m('expiring')}
            labels={begins.map(shortDay)}
            series={[
              {
                name: m('certificates'),
                values: days.map(({ count }) => count),
                isCapped: days.map(({ is_capped }) => is_capped),
              },
            ]}
            href={(n) => `/certificates?state=active&expires_from=${day(n)}&expires_to=${day(n)}`}
          />
        );
      }}
    </Answer>
  </Card>
);

/** How many certificates were issued on each day, by protocol. */
export const Issued = ({ asked }: { readonly asked: Asked<Issuance> }) => (
  <Card title={m('issued')}>
    <Answer of={asked}>
      {({ days }) => {
        const begins = days.map((one) => moment(one.begins));
        const day = (n: number): string => isoDay(begins[n] ?? new Date());
        const protocols = [...new Set(days.flatMap((one) => Object.keys(one.by_protocol)))].sort();
        return (
          <Chart
            title={m('issued')}
            labels={begins.map(shortDay)}
            series={protocols.map((protocol) => ({
              name: protocolTitle(protocol),
              values: days.map((one) => one.by_protocol[protocol] ?? 0),
            }))}
            href={(n) => `/certificates?created_from=${day(n)}&created_to=${day(n)}`}
          />
        );
      }}
    </Answer>
  </Card>
);

/** The first of the days that issuance is counted on. */
const firstDay = ({ days: [first] }: Issuance): string => isoDay(first ? moment(first.begins) : new Date());

export function IssuedByDomain({ asked }: { readonly asked: Asked<Issuance> }) {
  const names = new Map(useChoices('/api/domains/', 'domains.read'));
  return (
    <Card title={m('byDomain')}>
      <Answer of={asked}>
        {(issuance) => (
          <Ranking
            of={issuance.by_domain.map(({ domain, count }) => ({
              key: String(domain),
              name: domain === null ? m('noDomain') : (names.get(domain) ?? `#${domain}`),
              count,
              ...(domain !== null && {
                href: `/certificates?domain=${domain}&created_from=${firstDay(issuance)}`,
              }),
            }))}
          />
        )}
      </Answer>
    </Card>
  );
}

export function IssuedByProfile({ asked }: { readonly asked: Asked<Issuance> }) {
  const names = new Map(useChoices('/api/cert-profiles/', 'profiles.read'));
  return (
    <Card title={m('byProfile')}>
      <Answer of={asked}>
        {(issuance) => (
          <Ranking
            of={issuance.by_profile.map(({ cert_profile: profile, count }) => ({
              key: String(profile),
              name: profile === null ? m('noProfile') : (names.get(profile) ?? `#${profile}`),
              count,
              ...(profile !== null && {
                href: `/certificates?cert_profile=${profile}&created_from=${firstDay(issuance)}`,
              }),
            }))}
          />
        )}
      </Answer>
    </Card>
  );
}

export const Rejections = ({ asked }: { readonly asked: Asked<Failures> }) => (
  <Card title={m('rejections')}>
    <Answer of={asked}>
      {({ events }) => (
        <Ranking
          of={events.slice(0, 8).map(({ action, outcome, count }) => ({
            key: `${action} ${outcome}`,
            name: actionTitle(action),
            more: (
              <Badge look={outcome === 'failed' ? 'bad' : 'warn'}>
                {m(outcome === 'failed' ? 'failed' : 'refused')}
              </Badge>
            ),
            count,
            href: `/audit?action=${encodeURIComponent(action)}&outcome=${encodeURIComponent(outcome)}&from=${ago(24)}`,
          }))}
        />
      )}
    </Answer>
  </Card>
);

/** Names by how often they occur, each with a bar in proportion. */
function Ranking({
  of,
}: {
  readonly of: readonly {
    readonly key: string;
    readonly name: string;
    readonly more?: ComponentChildren;
    readonly count: number;
    readonly href?: string;
  }[];
}) {
  const most = Math.max(1, ...of.map(({ count }) => count));
  if (of.length === 0) return <p class="quiet">{m('none')}</p>;
  return (
    <ul class="plain-list ranking">
      {of.map(({ key, name, more, count, href }) => (
        <li key={key}>
          <span>
            {href === undefined ? (
              <Text of={name} />
            ) : (
              <a href={href}>
                <Text of={name} />
              </a>
            )}{' '}
            {more}
          </span>
          <span class="number">{number(count)}</span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="series-0" width={(count / most) * 100} height="4" />
          </svg>
        </li>
      ))}
    </ul>
  );
}
