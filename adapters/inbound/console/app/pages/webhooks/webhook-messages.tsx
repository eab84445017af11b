import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import {
  actionsColumn,
  badgeColumn,
  momentColumn,
  numberColumn,
  termColumn,
} from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters, recordFilter } from '../../parts/lists/filters.ts';
import { useRound } from '../../parts/lists/list.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import { eventTitle, webhookEvents } from '../../parts/webhooks/webhook-events.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { deliveryLooks, deliveryStates, m as l } from './last-message.tsx';
import { m as w } from './webhooks.tsx';

const m = messages(
  {
    again: 'Send again',
    attempts: 'Attempts',
    event: 'Of',
    last: 'Last response',
    next: 'Next attempt',
    none: 'Nothing has been sent yet',
    noneNext: 'Send a test message from the list of webhooks.',
    sent: 'The message will be sent again.',
    title: 'Webhook messages',
    webhook: 'Webhook',
    when: 'Time of the event',
  },
  {
    again: 'Noch einmal senden',
    attempts: 'Versuche',
    event: 'Ereignis',
    last: 'Letzte Antwort',
    next: 'Nächster Versuch',
    none: 'Noch wurde nichts gesendet',
    noneNext: 'Senden Sie eine Testnachricht aus der Liste der Webhooks.',
    sent: 'Die Nachricht wird noch einmal gesendet.',
    title: 'Webhook-Nachrichten',
    webhook: 'Webhook',
    when: 'Zeitpunkt',
  },
);

interface Delivery {
  readonly id: number;
  readonly created_at: string;
  readonly webhook: number;
  readonly webhook_id: string;
  readonly event: string;
  readonly state: (typeof deliveryStates)[number];
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

const path = '/api/webhook-deliveries/';

export const webhookMessages: Page = {
  path: '/webhooks/messages',
  title: () => m('title'),
  needs: 'webhooks.read',
  view: () => {
    const { round, again } = useRound();
    const webhooks = useChoices('/api/webhooks/', 'webhooks.read');
    return (
      <ListPage<Delivery>
        path={path}
        title={m('title')}
        up={{ href: '/webhooks', title: w('title') }}
        round={round}
        searchable={false}
        filters={[
          choiceFilter('state', words('state'), deliveryStates, l),
          recordFilter('webhook', m('webhook'), webhooks),
          choiceFilter('event', m('event'), webhookEvents, eventTitle),
          ...periodFilters(),
        ]}
        columns={[
          momentColumn('created_at', m('when')),
          {
            name: 'webhook',
            title: m('webhook'),
            orderable: true,
            cell: ({ webhook }) => (
              <Text of={webhooks.find(([id]) => id === webhook)?.[1] ?? `#${webhook}`} />
            ),
          },
          termColumn('event', m('event')),
          badgeColumn('state', words('state'), deliveryLooks, l),
          numberColumn('attempts', m('attempts')),
          {
            name: 'last_status',
            title: m('last'),
            wraps: true,
            cell: ({ last_status: status, last_error: error }) => (
              <Text of={error ?? (status === null ? words('absent') : String(status))} />
            ),
          },
          momentColumn('next_attempt_at', m('next')),
          may('webhooks.write') &&
            actionsColumn(({ id, webhook_id }) => (
              <Action
                look="plain"
                label={`${m('again')}: ${plain(webhook_id)}`}
                run={() => write('POST', `${path}${id}/redeliver/`).then(again)}
                done={m('sent')}
              >
                {m('again')}
              </Action>
            )),
        ]}
        empty={<Empty title={m('none')} next={m('noneNext')} />}
      />
    );
  },
};
