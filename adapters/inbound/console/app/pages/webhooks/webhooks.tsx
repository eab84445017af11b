import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { EditDialog, type Editing } from '../../parts/dialogs/edit-dialog.tsx';
import { Copied, SecretOnce } from '../../parts/dialogs/secret-once.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { plain, Text } from '../../parts/display/text.tsx';
import { nameField } from '../../parts/forms/form.tsx';
import { useSecretEditing } from '../../parts/forms/secret-editing.tsx';
import { actionsColumn, codeColumn, nameColumn, RowButtons } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import { eventTitle, type WebhookEvent, webhookEvents } from '../../parts/webhooks/webhook-events.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { LastMessage } from './last-message.tsx';

export const m = messages(
  {
    active: 'Active',
    add: 'Add webhook',
    all: 'all',
    change: 'Edit webhook',
    deliveries: 'Messages',
    events: 'Events',
    eventsHint: 'Select none for all.',
    inactive: 'Inactive',
    last: 'Last message',
    lead: 'Webhooks notify other systems of events with signed messages.',
    none: 'No webhooks',
    noneNext: 'Add one to notify a ticket system or a chat of pending requests.',
    removeLead: 'Postern sends no more messages to it and deletes its stored messages.',
    removeTitle: 'Delete this webhook?',
    rotate: 'New secret',
    rotateLead:
      'Postern signs all further messages with the new secret, pending ones included. The old secret is lost.',
    rotateTitle: 'Replace the signing secret?',
    secret: 'Signing secret',
    system: 'The trust store of the system',
    test: 'Send test message',
    tested: 'The test message has been queued. Its result appears under Last message.',
    title: 'Webhooks',
    truststore: 'Trust anchors for its TLS certificate',
    url: 'Address',
    urlHint: 'https://tickets.example/postern',
  },
  {
    active: 'Aktiv',
    add: 'Webhook hinzufügen',
    all: 'alles',
    change: 'Webhook bearbeiten',
    deliveries: 'Nachrichten',
    events: 'Ereignisse',
    eventsHint: 'Ohne Auswahl: alle.',
    inactive: 'Inaktiv',
    last: 'Letzte Nachricht',
    lead: 'Webhooks melden Ereignisse mit signierten Nachrichten an andere Systeme.',
    none: 'Keine Webhooks',
    noneNext:
      'Fügen Sie einen hinzu, um etwa ein Ticketsystem oder einen Chat über offene Anträge zu benachrichtigen.',
    removeLead: 'Postern sendet ihm nichts mehr und löscht seine gespeicherten Nachrichten.',
    removeTitle: 'Diesen Webhook löschen?',
    rotate: 'Neues Geheimnis',
    rotateLead:
      'Postern signiert dann alle Nachrichten mit dem neuen Geheimnis, auch die noch ausstehenden. Das alte geht verloren.',
    rotateTitle: 'Signiergeheimnis ersetzen?',
    secret: 'Signiergeheimnis',
    system: 'Der Vertrauensspeicher des Systems',
    test: 'Testnachricht senden',
    tested: 'Die Testnachricht ist eingereiht. Ihr Ergebnis erscheint unter Letzte Nachricht.',
    title: 'Webhooks',
    truststore: 'Vertrauensanker für sein TLS-Zertifikat',
    url: 'Adresse',
    urlHint: 'https://tickets.example/postern',
  },
);

interface Webhook {
  readonly id: number;
  readonly unique_name: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly is_active: boolean;
  readonly truststore: number | null;
  /** Only in the answer to what made it. */
  readonly signing_secret: string | null;
}

const path = '/api/webhooks/';

export const webhooks: Page = {
  path: '/webhooks',
  title: () => m('title'),
  needs: 'webhooks.read',
  navigation: { group: 'system', order: 50 },
  view: () => {
    const writes = may('webhooks.write');
    const { round, again, dialog, add, edit, rotate, remove } = useSecretEditing<Webhook>({
      collection: path,
      Edit,
      Secret,
      rotation: { title: m('rotateTitle'), lead: m('rotateLead') },
      removal: ({ unique_name: name }) => ({ title: m('removeTitle'), lead: m('removeLead'), name }),
    });
    return (
      <>
        <ListPage<Webhook>
          path={path}
          title={m('title')}
          lead={m('lead')}
          actions={
            <>
              <a class="button" href="/webhooks/messages">
                {m('deliveries')}
              </a>
              {writes && (
                <button type="button" class="main" onClick={add}>
                  {m('add')}
                </button>
              )}
            </>
          }
          round={round}
          columns={[
            nameColumn(),
            codeColumn('url', m('url')),
            {
              name: 'events',
              title: m('events'),
              cell: (webhook) =>
                webhook.events.length === 0 ? (
                  <span class="quiet">{m('all')}</span>
                ) : (
                  <Text of={webhook.events.join(', ')} />
                ),
            },
            {
              name: 'is_active',
              title: words('state'),
              orderable: true,
              cell: ({ is_active }) => (
                <Badge look={is_active ? 'good' : 'calm'}>{m(is_active ? 'active' : 'inactive')}</Badge>
              ),
            },
            {
              name: 'last',
              title: m('last'),
              wraps: true,
              cell: ({ id }) => <LastMessage key={round} webhook={id} />,
            },
            writes &&
              actionsColumn((of) => (
                <span class="buttons">
                  <Action
                    look="plain"
                    label={`${m('test')}: ${plain(of.unique_name)}`}
                    run={() => write('POST', `${path}${of.id}/test/`).then(again)}
                    done={m('tested')}
                  >
                    {m('test')}
                  </Action>
                  <RowButtons
                    name={of.unique_name}
                    buttons={[
                      [words('edit'), () => edit(of)],
                      [m('rotate'), () => rotate(of)],
                      [words('delete'), () => remove(of)],
                    ]}
                  />
                </span>
              )),
          ]}
          empty={<Empty title={m('none')} next={m('noneNext')} />}
        />
        {dialog}
      </>
    );
  },
};

function Edit(editing: Editing<Webhook>) {
  const { of } = editing;
  const truststores = useChoices('/api/truststores/', 'truststores.read', 'intended_usage=1');
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={path}
      body={(values) => ({ truststore: null, ...values })}
      fields={[
        nameField(of),
        {
          name: 'url',
          title: m('url'),
          required: true,
          isCode: true,
          maxLength: 1000,
          hint: m('urlHint'),
          initial: of?.url,
        },
        {
          name: 'events',
          title: m('events'),
          type: 'checks',
          hint: m('eventsHint'),
          initial: of?.events,
          options: webhookEvents.map((event) => [event, eventTitle(event)] as const),
        },
        {
          name: 'truststore',
          title: m('truststore'),
          type: 'choice',
          initial: of?.truststore,
          options: [['', m('system')], ...truststores],
        },
        { name: 'is_active', title: m('active'), type: 'check', initial: of?.is_active ?? true },
      ]}
    />
  );
}

function Secret({
  of: { signing_secret: secret },
  close,
}: {
  readonly of: Webhook;
  readonly close: () => void;
}) {
  if (secret === null) return null;
  const name = m('secret');
  return <SecretOnce close={close} rows={[[name, <Copied key="s" name={name} of={secret} />]]} />;
}
