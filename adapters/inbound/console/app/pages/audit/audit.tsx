import { useState } from 'preact/hooks';
import { read } from '../../api.ts';
import { messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import { badgeColumn, momentColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';

import { AuditVerdict, type Verdict } from './audit-verdict.tsx';

const m = messages(
  {
    action: 'Deed',
    actor: 'Who',
    detail: 'Details',
    event: 'Event',
    failed: 'failed',
    none: 'Nothing is on record yet',
    object: 'To what',
    outcome: 'Outcome',
    refused: 'refused',
    success: 'done',
    title: 'Audit log',
    verify: 'Verify the chain',
    when: 'When',
  },
  {
    action: 'Tat',
    actor: 'Wer',
    detail: 'Einzelheiten',
    event: 'Ereignis',
    failed: 'gescheitert',
    none: 'Noch ist nichts verzeichnet',
    object: 'Woran',
    outcome: 'Ausgang',
    refused: 'abgelehnt',
    success: 'getan',
    title: 'Prüfprotokoll',
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
        <div role="status">{verdict && <AuditVerdict of={verdict} />}</div>
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
