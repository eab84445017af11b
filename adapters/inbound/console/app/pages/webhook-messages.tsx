import { write } from '../api.ts';
import { messages, number } from '../language.ts';
import { Action } from '../parts/action.tsx';
import { Empty } from '../parts/answer.tsx';
import { useEditing } from '../parts/editing.tsx';
import { Badge, Heading } from '../parts/facts.tsx';
import { List } from '../parts/list.tsx';
import { useChoices } from '../parts/reference.tsx';
import { plain, Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { events, m as w } from './webhooks.tsx';

const m = messages(
  {
    again: 'Send again',
    attempts: 'Attempts',
    dead: 'Given up',
    delivered: 'Delivered',
    event: 'Of',
    from: 'From',
    last: 'Last answer',
    next: 'Next attempt',
    none: 'Nothing has been sent yet',
    noneNext: 'Send a test from the list of webhooks.',
    pending: 'Waits',
    sent: 'It is sent again.',
    title: 'Messages to webhooks',
    to: 'To',
    webhook: 'Webhook',
    when: 'When it happened',
  },
  {
    again: 'Noch einmal senden',
    attempts: 'Versuche',
    dead: 'Aufgegeben',
    delivered: 'Zugestellt',
    event: 'Worüber',
    from: 'Ab',
    last: 'Letzte Antwort',
    next: 'Nächster Versuch',
    none: 'Noch wurde nichts gesendet',
    noneNext: 'Senden Sie eine Probe aus der Liste der Webhooks.',
    pending: 'Wartet',
    sent: 'Sie wird noch einmal gesendet.',
    title: 'Nachrichten an Webhooks',
    to: 'Bis',
    webhook: 'Webhook',
    when: 'Wann es geschah',
  },
);

const states = ['pending', 'delivered', 'dead'] as const;
const looks = { pending: 'warn', delivered: 'good', dead: 'bad' } as const;

interface Delivery {
  readonly id: number;
  readonly created_at: string;
  readonly webhook: number;
  readonly webhook_id: string;
  readonly event: string;
  readonly state: (typeof states)[number];
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
    const { round, again } = useEditing();
    const webhooks = useChoices('/api/webhooks/', 'webhooks.read');
    return (
      <>
        <Heading title={m('title')} up={{ href: '/webhooks', title: w('title') }} />
        <List<Delivery>
          path={path}
          title={m('title')}
          round={round}
          searchable={false}
          filters={[
            { name: 'state', title: words('state'), options: states.map((one) => [one, m(one)] as const) },
            {
              name: 'webhook',
              title: m('webhook'),
              options: webhooks.map(([id, name]) => [String(id), plain(name)] as const),
            },
            {
              name: 'event',
              title: m('event'),
              options: Object.entries(events).map(([event, said]) => [event, w(said)] as const),
            },
            { name: 'from', title: m('from'), type: 'date' },
            { name: 'to', title: m('to'), type: 'date' },
          ]}
          columns={[
            {
              name: 'created_at',
              title: m('when'),
              orderable: true,
              cell: ({ created_at }) => <When at={created_at} />,
            },
            {
              name: 'webhook',
              title: m('webhook'),
              orderable: true,
              cell: ({ webhook }) => (
                <Text of={webhooks.find(([id]) => id === webhook)?.[1] ?? `#${webhook}`} />
              ),
            },
            {
              name: 'event',
              title: m('event'),
              orderable: true,
              cell: ({ event }) => <code class="whole">{plain(event)}</code>,
            },
            {
              name: 'state',
              title: words('state'),
              orderable: true,
              cell: ({ state }) => <Badge look={looks[state]}>{m(state)}</Badge>,
            },
            {
              name: 'attempts',
              title: m('attempts'),
              isNumber: true,
              orderable: true,
              cell: ({ attempts }) => number(attempts),
            },
            {
              name: 'last_status',
              title: m('last'),
              cell: ({ last_status: status, last_error: error }) => (
                <Text of={error ?? (status === null ? '–' : String(status))} />
              ),
            },
            {
              name: 'next_attempt_at',
              title: m('next'),
              orderable: true,
              cell: ({ next_attempt_at: next }) =>
                next === null ? <span class="quiet">–</span> : <When at={next} />,
            },
            ...(may('webhooks.write')
              ? [
                  {
                    name: 'actions',
                    title: w('actions'),
                    cell: ({ id, webhook_id }: Delivery) => (
                      <Action
                        look="plain"
                        label={`${m('again')}: ${plain(webhook_id)}`}
                        run={async () => {
                          await write('POST', `${path}${id}/redeliver/`);
                          again();
                        }}
                        done={m('sent')}
                      >
                        {m('again')}
                      </Action>
                    ),
                  },
                ]
              : []),
          ]}
          empty={
            <Empty title={m('none')}>
              <p>{m('noneNext')}</p>
            </Empty>
          }
        />
      </>
    );
  },
};
