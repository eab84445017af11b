import { useState } from 'preact/hooks';
import { read } from '../../api.ts';
import { messages } from '../../language.ts';
import { actionChoices, actionTitle, kindChoices } from '../../parts/audit/action-words.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Dialog, useDialog } from '../../parts/dialogs/dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import { momentColumn } from '../../parts/lists/columns.tsx';
import { periodFilters } from '../../parts/lists/filters.ts';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { words } from '../../words.ts';
import { type AuditEvent, actorName, EventFacts, ObjectOf, outcomes } from './audit-event.tsx';
import { AuditVerdict, type Verdict } from './audit-verdict.tsx';

const m = messages(
  {
    action: 'Action',
    actor: 'Actor',
    actorFilter: 'Actor or address',
    failed: 'Failed',
    none: 'No events yet',
    object: 'Object',
    objectKind: 'Kind of object',
    outcome: 'Outcome',
    refused: 'Rejected',
    success: 'Success',
    title: 'Audit log',
    unsuccessful: 'Rejected or failed',
    verify: 'Verify',
    when: 'Time',
  },
  {
    action: 'Aktion',
    actor: 'Akteur',
    actorFilter: 'Akteur oder Adresse',
    failed: 'Fehlgeschlagen',
    none: 'Noch keine Ereignisse',
    object: 'Objekt',
    objectKind: 'Art des Objekts',
    outcome: 'Ergebnis',
    refused: 'Abgelehnt',
    success: 'Erfolg',
    title: 'Prüfprotokoll',
    unsuccessful: 'Abgelehnt oder fehlgeschlagen',
    verify: 'Prüfen',
    when: 'Zeit',
  },
);

const looks = { success: 'good', refused: 'warn', failed: 'bad' } as const;

/** The verification reads every event. Milliseconds. */
const patience = 600_000;

export const audit: Page = {
  path: '/audit',
  title: () => m('title'),
  needs: 'audit.read',
  navigation: { group: 'administration', order: 40 },
  view: () => {
    const [verdict, setVerdict] = useState<Verdict>();
    const { dialog, open } = useDialog();
    const show = (event: AuditEvent): void =>
      open((close) => (
        <Dialog title={actionTitle(event.action)} close={close}>
          <div class="stack">
            <EventFacts of={event} />
            <button type="button" onClick={close}>
              {words('close')}
            </button>
          </div>
        </Dialog>
      ));
    return (
      <>
        <ListPage<AuditEvent>
          path="/api/audit-events/"
          title={m('title')}
          exported
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
            { name: 'action', title: m('action'), options: actionChoices() },
            { name: 'object_kind', title: m('objectKind'), options: kindChoices() },
            {
              name: 'outcome',
              title: m('outcome'),
              options: [
                ...outcomes.map((one) => [one, m(one)] as const),
                ['refused,failed', m('unsuccessful')] as const,
              ],
            },
            { name: 'actor', title: m('actorFilter') },
            ...periodFilters('', words('from'), words('to'), 'datetime-local'),
          ]}
          columns={[
            momentColumn('created_at', m('when')),
            { name: 'actor', title: m('actor'), cell: ({ actor }) => <Text of={actorName(actor)} /> },
            {
              name: 'action',
              title: m('action'),
              orderable: true,
              cell: ({ action }) => <Text of={actionTitle(action)} />,
            },
            {
              name: 'outcome',
              title: m('outcome'),
              orderable: true,
              // Of what did not succeed, the reason is worth its place on the line.
              cell: ({ outcome, detail }) => (
                <span>
                  <Badge look={looks[outcome]}>{m(outcome)}</Badge>{' '}
                  {outcome !== 'success' && (
                    <span class="quiet">{plain(Object.values(detail).map(String).join(' · '))}</span>
                  )}
                </span>
              ),
            },
            {
              name: 'object',
              title: m('object'),
              orderable: true,
              cell: (event) => <ObjectOf event={event} />,
            },
            {
              name: 'detail',
              title: words('detail'),
              cell: (event) => (
                <button
                  type="button"
                  class="plain"
                  aria-label={`${words('detail')}: ${plain(actionTitle(event.action))}`}
                  onClick={() => show(event)}
                >
                  {words('detail')}
                </button>
              ),
            },
          ]}
          empty={<Empty title={m('none')} />}
        >
          <div role="status">{verdict && <AuditVerdict of={verdict} />}</div>
        </ListPage>
        {dialog}
      </>
    );
  },
};
