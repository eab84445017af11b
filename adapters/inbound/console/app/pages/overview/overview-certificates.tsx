import type { ComponentChildren } from 'preact';
import { useRead, useShared } from '../../data.ts';
import { messages, moment, number, shortDay } from '../../language.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { Chart } from '../../parts/display/chart.tsx';
import { Card } from '../../parts/display/facts.tsx';
import { DomainOf, ProfileOf } from '../../parts/display/reference.tsx';
import { may } from '../../session.ts';

const m = messages(
  {
    byDomain: 'Issued by domain, 30 days',
    byProfile: 'Issued by profile, 30 days',
    certificates: { one: 'certificate', other: 'certificates' },
    devices: { one: 'device', other: 'devices' },
    expiring: 'Certificates that end in the next 30 days',
    inventory: 'Inventory',
    issued: 'Certificates issued in the last 30 days',
    none: 'None.',
    revoked: { one: 'revoked', other: 'revoked' },
  },
  {
    byDomain: 'Ausgestellt nach Domäne, 30 Tage',
    byProfile: 'Ausgestellt nach Profil, 30 Tage',
    certificates: { one: 'Zertifikat', other: 'Zertifikate' },
    devices: { one: 'Gerät', other: 'Geräte' },
    expiring: 'Zertifikate, die in den nächsten 30 Tagen ablaufen',
    inventory: 'Bestand',
    issued: 'In den letzten 30 Tagen ausgestellte Zertifikate',
    none: 'Keine.',
    revoked: { one: 'gesperrt', other: 'gesperrt' },
  },
);

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

export function Inventory() {
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

export function Expiring() {
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

export function Issued() {
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
