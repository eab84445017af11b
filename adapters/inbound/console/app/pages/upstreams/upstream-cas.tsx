import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { messages, moment, number } from '../../language.ts';
import { Answer, Empty } from '../../parts/display/answer.tsx';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { CaOf } from '../../parts/display/reference.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { UpstreamCa } from '../../records.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { openStates } from './upstream-requests.tsx';

const m = messages(
  {
    cas: 'Used by',
    certificate: 'Own certificate',
    certificateEnds: 'Expires',
    certificateNone: 'None',
    certificateNoneMeaning: 'Postern uses a password or a shared secret, or has no certificate yet.',
    circuit: 'Circuit',
    closed: 'Closed',
    closedMeaning: 'Postern forwards every request.',
    error: 'Last error',
    errorNone: 'None since this gateway started',
    failing: { one: '{n} failure in a row', other: '{n} failures in a row' },
    gateway: 'As seen by',
    gatewayMeaning: 'Each gateway watches its own calls. Pending requests are those of all gateways.',
    halfOpen: 'Half-open',
    halfOpenMeaning: 'The next request decides whether the circuit closes or opens again.',
    label: 'Label',
    noCas: 'No issuing CA',
    noCasNext: 'Create an issuing CA of the type upstream CA.',
    none: 'No upstream CAs are configured',
    noneNext: 'Add a table [issuers.NAME] with plugin = "remote-est" or "remote-cmp" to postern.toml.',
    ok: 'OK',
    open: 'Open',
    openMeaning: 'Postern does not call the upstream CA until then. Devices receive 503 and retry.',
    openSince: 'since',
    openUntil: 'next attempt',
    pending: 'Pending requests',
    problem: 'Problem',
    profile: 'Profile',
    protocol: 'Protocol',
    success: 'Last success',
    unknown: 'The plugin does not report it',
    unreachable: 'Unreachable',
    url: 'URL',
  },
  {
    cas: 'Verwendet von',
    certificate: 'Eigenes Zertifikat',
    certificateEnds: 'Läuft ab',
    certificateNone: 'Keines',
    certificateNoneMeaning:
      'Postern verwendet ein Kennwort oder ein gemeinsames Geheimnis oder hat noch kein Zertifikat.',
    circuit: 'Schutzschalter',
    closed: 'Geschlossen',
    closedMeaning: 'Postern leitet jeden Antrag weiter.',
    error: 'Letzter Fehler',
    errorNone: 'Keiner, seit dieses Gateway läuft',
    failing: { one: '{n} Fehlschlag in Folge', other: '{n} Fehlschläge in Folge' },
    gateway: 'Aus Sicht von',
    gatewayMeaning:
      'Jedes Gateway beobachtet seine eigenen Aufrufe. Die offenen Anträge sind die aller Gateways.',
    halfOpen: 'Halb offen',
    halfOpenMeaning: 'Der nächste Antrag entscheidet, ob der Schutzschalter schließt oder wieder öffnet.',
    label: 'Label',
    noCas: 'Keiner ausstellenden CA',
    noCasNext: 'Legen Sie eine ausstellende CA vom Typ Upstream-CA an.',
    none: 'Keine Upstream-CAs konfiguriert',
    noneNext:
      'Ergänzen Sie in postern.toml eine Tabelle [issuers.NAME] mit plugin = "remote-est" oder "remote-cmp".',
    ok: 'OK',
    open: 'Offen',
    openMeaning:
      'Bis dahin ruft Postern die Upstream-CA nicht auf. Geräte erhalten 503 und versuchen es erneut.',
    openSince: 'seit',
    openUntil: 'nächster Versuch',
    pending: 'Offene Anträge',
    problem: 'Störung',
    profile: 'Profil',
    protocol: 'Protokoll',
    success: 'Letzter Erfolg',
    unknown: 'Das Plugin meldet sie nicht',
    unreachable: 'Nicht erreichbar',
    url: 'URL',
  },
);

const every = 5000;

/** The configured upstream CAs, read again every few seconds. */
export function UpstreamCas() {
  const asked = useRead<readonly UpstreamCa[]>('/api/issuers/');
  useEffect(() => {
    const timer = setInterval(asked.reload, every);
    return () => clearInterval(timer);
  }, []);
  return (
    <Answer of={asked}>
      {(found) =>
        found.length === 0 ? (
          <Empty title={m('none')} next={m('noneNext')} />
        ) : (
          <div class="cards">
            {found.map((one) => (
              <Shown key={one.name} of={one} />
            ))}
          </div>
        )
      }
    </Answer>
  );
}

const Shown = ({ of }: { readonly of: UpstreamCa }) => (
  <Card title={of.name}>
    <Facts
      rows={[
        [
          words('state'),
          <State key="s" of={of} />,
          of.problem === null ? undefined : <Text of={of.problem} />,
        ],
        [m('circuit'), <Circuit key="c" of={of.circuit} />, circuitMeaning(of.circuit)],
        [m('url'), of.url === null ? m('unknown') : <Code key="u" of={of.url} />],
        [m('protocol'), of.protocol?.toUpperCase()],
        [m('label'), of.label && <Code key="l" of={of.label} />],
        [m('profile'), of.profile && <Code key="p" of={of.profile} />],
        certificateRow(of),
        [m('success'), last(of.last_success_at)],
        [
          m('error'),
          last(of.last_error?.at ?? null),
          of.last_error === null ? undefined : <Text of={of.last_error.detail} />,
        ],
        [m('pending'), <Pending key="n" of={of} />],
        [
          m('cas'),
          <Cas key="a" of={of.issuing_cas} />,
          of.issuing_cas.length === 0 ? m('noCasNext') : undefined,
        ],
        [m('gateway'), <Text key="g" of={of.gateway} />, m('gatewayMeaning')],
      ]}
    />
  </Card>
);

function State({ of: { ok, circuit } }: { readonly of: UpstreamCa }) {
  if (ok) return <Badge look="good">{m('ok')}</Badge>;
  return <Badge look="bad">{m(circuit.state === 'closed' ? 'problem' : 'unreachable')}</Badge>;
}

function Circuit({ of: { state, failures, since, next_try_at } }: { readonly of: UpstreamCa['circuit'] }) {
  if (state === 'closed') {
    return (
      <>
        <Badge look="good">{m('closed')}</Badge>
        {failures > 0 && <span class="quiet"> · {m('failing', { n: failures })}</span>}
      </>
    );
  }
  return (
    <>
      <Badge look={state === 'open' ? 'bad' : 'warn'}>{m(state === 'open' ? 'open' : 'halfOpen')}</Badge>
      {since !== null && (
        <>
          {' '}
          {m('openSince')} <When at={since} relative />
        </>
      )}
      {next_try_at !== null && (
        <>
          , {m('openUntil')} <When at={next_try_at} relative />
        </>
      )}
    </>
  );
}

const circuitMeaning = ({ state }: UpstreamCa['circuit']): string =>
  m(state === 'closed' ? 'closedMeaning' : state === 'open' ? 'openMeaning' : 'halfOpenMeaning');

const soon = 30 * 86_400_000;

function certificateRow({ client_certificate: own }: UpstreamCa) {
  if (own === null) return [m('certificate'), m('certificateNone'), m('certificateNoneMeaning')] as const;
  const left = moment(own.not_valid_after).getTime() - Date.now();
  return [
    m('certificate'),
    <>
      <Text of={own.subject} />
      <p>
        <Badge look={left <= 0 ? 'bad' : left < soon ? 'warn' : 'good'}>{m('certificateEnds')}</Badge>{' '}
        <When at={own.not_valid_after} relative />
      </p>
    </>,
  ] as const;
}

const last = (at: string | null): ComponentChildren =>
  at === null ? <span class="quiet">{m('errorNone')}</span> : <When at={at} relative />;

function Pending({ of: { name, pending_requests: count } }: { readonly of: UpstreamCa }) {
  if (count === 0 || !may('certificates.read')) return <>{number(count)}</>;
  const query = new URLSearchParams({ tab: 'requests', issuer: name, state: openStates });
  return <a href={`/upstreams?${query}`}>{number(count)}</a>;
}

const Cas = ({ of }: { readonly of: readonly number[] }) =>
  of.length === 0 ? (
    <span class="quiet">{m('noCas')}</span>
  ) : (
    <ul>
      {of.map((id) => (
        <li key={id}>
          <CaOf id={id} />
        </li>
      ))}
    </ul>
  );
