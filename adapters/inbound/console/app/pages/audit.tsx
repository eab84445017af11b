import { useState } from 'preact/hooks';
import { read } from '../api.ts';
import { messages, number } from '../language.ts';
import { Action } from '../parts/action.tsx';
import { Empty } from '../parts/answer.tsx';
import { badgeColumn, momentColumn } from '../parts/columns.tsx';
import { Card } from '../parts/facts.tsx';
import { choiceFilter, periodFilters } from '../parts/filters.ts';
import { ListPage } from '../parts/list-page.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import type { Page } from '../router.ts';

const m = messages(
  {
    action: 'Deed',
    actor: 'Who',
    anchor: 'The newest seal has the number {n}. The log of the service has it too, with this digest:',
    anchorNone: 'No seal has been set yet: the first one is set some time after the start.',
    bad: 'The audit log is not as it was written',
    badAt: 'event {event}',
    badNext:
      'Somebody with access to the database has changed it, or it was put back to an earlier state. Keep a copy before anything else, and compare it with a backup.',
    chains: { one: 'in {n} chain', other: 'in {n} chains' },
    detail: 'Details',
    event: 'Event',
    failed: 'failed',
    good: 'The audit log is intact',
    goodLead: 'No event was changed, removed, inserted or moved.',
    events: { one: '{n} event has been read', other: '{n} events have been read' },
    none: 'Nothing is on record yet',
    object: 'To what',
    outcome: 'Outcome',
    refused: 'refused',
    success: 'done',
    title: 'Audit log',
    verdict: 'Verification',
    verify: 'Verify the chain',
    when: 'When',
  },
  {
    action: 'Tat',
    actor: 'Wer',
    anchor:
      'Das neueste Siegel hat die Nummer {n}. Im Protokoll des Dienstes steht es auch, mit dieser Prüfsumme:',
    anchorNone: 'Noch ist kein Siegel gesetzt: Das erste folgt einige Zeit nach dem Start.',
    bad: 'Das Prüfprotokoll ist nicht, wie es geschrieben wurde',
    badAt: 'Ereignis {event}',
    badNext:
      'Jemand mit Zugang zur Datenbank hat es geändert, oder sie wurde auf einen früheren Stand zurückgesetzt. Sichern Sie zuerst eine Kopie, und vergleichen Sie diese mit einer Sicherung.',
    chains: { one: 'in {n} Kette', other: 'in {n} Ketten' },
    detail: 'Einzelheiten',
    event: 'Ereignis',
    failed: 'gescheitert',
    good: 'Das Prüfprotokoll ist unversehrt',
    goodLead: 'Kein Ereignis wurde geändert, entfernt, eingefügt oder verschoben.',
    events: { one: '{n} Ereignis wurde gelesen', other: '{n} Ereignisse wurden gelesen' },
    none: 'Noch ist nichts verzeichnet',
    object: 'Woran',
    outcome: 'Ausgang',
    refused: 'abgelehnt',
    success: 'getan',
    title: 'Prüfprotokoll',
    verdict: 'Prüfung',
    verify: 'Kette prüfen',
    when: 'Wann',
  },
);

const outcomes = ['success', 'refused', 'failed'] as const;
const looks = { success: 'good', refused: 'warn', failed: 'bad' } as const;

interface AuditEvent {
  readonly id: number;
  readonly created_at: string;
  readonly actor: {
    readonly kind: string;
    readonly id: number | null;
    readonly name: string;
    readonly address: string;
  };
  readonly action: string;
  readonly object: string;
  readonly outcome: (typeof outcomes)[number];
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

interface Verdict {
  readonly is_intact: boolean;
  readonly events: number;
  readonly chains: number;
  readonly anchor: { readonly number: number; readonly digest: string } | null;
  readonly problems: readonly {
    readonly chain: string;
    readonly sequence: number;
    readonly event: number | null;
    readonly detail: string;
  }[];
}

/** All of it is read. */
const patience = 600_000;

export const audit: Page = {
  path: '/audit',
  title: () => m('title'),
  needs: 'audit.read',
  navigation: { group: 'administration', order: 40 },
  view: () => {
    const [verdict, setVerdict] = useState<Verdict>();
    return (
      <ListPage<AuditEvent>
        path="/api/audit-events/"
        title={m('title')}
        actions={
          <Action
            run={async () =>
              setVerdict(await read<Verdict>('/api/audit-events/verification/', undefined, patience))
            }
          >
            {m('verify')}
          </Action>
        }
        filters={[
          { name: 'action', title: m('action') },
          { name: 'object', title: m('object') },
          { name: 'actor', title: m('actor') },
          choiceFilter('outcome', m('outcome'), outcomes, m),
          ...periodFilters(),
        ]}
        columns={[
          momentColumn('created_at', m('when')),
          { name: 'actor', title: m('actor'), cell: ({ actor }) => <Actor of={actor} /> },
          {
            name: 'action',
            title: m('action'),
            orderable: true,
            cell: ({ action }) => <code class="whole">{plain(action)}</code>,
          },
          badgeColumn('outcome', m('outcome'), looks, m),
          {
            name: 'object',
            title: m('object'),
            orderable: true,
            cell: ({ object }) => <ObjectOf name={object} />,
          },
          {
            name: 'detail',
            title: m('detail'),
            cell: ({ detail }) => (
              <Text
                of={Object.entries(detail)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join(' · ')}
              />
            ),
          },
          { name: 'id', title: m('event'), isNumber: true, orderable: true, cell: ({ id }) => id },
        ]}
        empty={<Empty title={m('none')} />}
      >
        <div role="status">{verdict && <Shown of={verdict} />}</div>
      </ListPage>
    );
  },
};

const Actor = ({ of: { kind, name, address } }: { readonly of: AuditEvent['actor'] }) => (
  <span>
    <Text of={name === '' ? kind : name} />
    {address !== '' && (
      <>
        {' '}
        <span class="quiet">
          <Text of={address} />
        </span>
      </>
    )}
  </span>
);

const places: Readonly<Record<string, string>> = {
  approval: 'approvals',
  certificate: 'certificates',
  credential: 'tls',
  device: 'devices',
  domain: 'domains',
  issuingCa: 'cas',
  ca: 'cas',
  profile: 'profiles',
  certProfile: 'profiles',
  role: 'roles',
  truststore: 'truststores',
  devidRegistration: 'registrations',
};

/** `device:7`, a link where there is a page for it. */
function ObjectOf({ name }: { readonly name: string }) {
  const [, kind = '', id] = /^(\w+):(\d+)$/.exec(name) ?? [];
  const place = Object.hasOwn(places, kind) ? places[kind] : undefined;
  return place === undefined ? (
    <Text of={name} />
  ) : (
    <a class="whole" href={`/${place}/${id}`}>
      {name}
    </a>
  );
}

const Shown = ({
  of: { is_intact: isIntact, events, chains, anchor, problems },
}: {
  readonly of: Verdict;
}) => (
  <Card title={m('verdict')}>
    <div class={`notice ${isIntact ? 'good' : 'bad'}`}>
      <p>
        <strong>{m(isIntact ? 'good' : 'bad')}</strong>
      </p>
      <p>
        {isIntact && m('goodLead')} {m('events', { n: events })}, {m('chains', { n: chains })}.
      </p>
      {!isIntact && <p>{m('badNext')}</p>}
    </div>
    {problems.length > 0 && (
      <ul class="plain-list">
        {problems.map(({ chain, sequence, event, detail }) => (
          <li key={`${chain} ${sequence}`}>
            <Text of={detail} />
            <span class="quiet">
              {event !== null && `${m('badAt', { event: number(event) })} · `}
              <Code of={chain} /> {number(sequence)}
            </span>
          </li>
        ))}
      </ul>
    )}
    {anchor === null ? (
      <p class="quiet">{m('anchorNone')}</p>
    ) : (
      <div>
        <p class="quiet">{m('anchor', { n: anchor.number })}</p>
        <p>
          <Code of={anchor.digest} />
        </p>
      </div>
    )}
  </Card>
);
