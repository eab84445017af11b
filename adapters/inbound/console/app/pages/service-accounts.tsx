import { write } from '../api.ts';
import { messages } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import { RowButtons, useEditing } from '../parts/editing.tsx';
import { Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { List } from '../parts/list.tsx';
import { RoleOf, useChoices } from '../parts/reference.tsx';
import { Removal } from '../parts/removal.tsx';
import { Copied, SecretOnce } from '../parts/secret-once.tsx';
import { Code, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { AccountState, m as u } from './users.tsx';

const m = messages(
  {
    add: 'Add a service account',
    change: 'Change the service account',
    clientId: 'Client number',
    lead: 'Programs sign in to the API with these; the console refuses them.',
    none: 'There are no service accounts',
    noneNext: 'Add one for each program that is to use the API.',
    removeLead: 'What uses this account is locked out at once.',
    removeTitle: 'Delete this service account?',
    rotate: 'New secret',
    rotateAction: 'Make a new secret',
    rotateLead: 'The old secret and all tokens that were given for it are worth nothing at once.',
    rotateTitle: 'Make a new secret?',
    secret: 'Secret',
    title: 'Service accounts',
    use: 'Getting a token',
  },
  {
    add: 'Dienstkonto hinzufügen',
    change: 'Dienstkonto ändern',
    clientId: 'Client-Nummer',
    lead: 'Damit melden sich Programme an der API an; die Konsole weist sie ab.',
    none: 'Es gibt keine Dienstkonten',
    noneNext: 'Fügen Sie für jedes Programm, das die API benutzen soll, eines hinzu.',
    removeLead: 'Was dieses Konto benutzt, ist sofort ausgesperrt.',
    removeTitle: 'Dieses Dienstkonto löschen?',
    rotate: 'Neues Geheimnis',
    rotateAction: 'Neues Geheimnis erzeugen',
    rotateLead: 'Das alte Geheimnis und alle dafür ausgegebenen Token sind sofort wertlos.',
    rotateTitle: 'Neues Geheimnis erzeugen?',
    secret: 'Geheimnis',
    title: 'Dienstkonten',
    use: 'So bekommt man ein Token',
  },
);

interface ServiceAccount {
  readonly id: number;
  readonly unique_name: string;
  readonly role: number;
  readonly is_active: boolean;
  readonly client_id: string;
  /** Only in the answer to what made it. */
  readonly client_secret: string | null;
  readonly created_at: string;
}

type Editing =
  | 'add'
  | { readonly is: 'change' | 'rotate' | 'remove' | 'secret'; readonly of: ServiceAccount };

const path = '/api/service-accounts/';

export const serviceAccounts: Page = {
  path: '/service-accounts',
  title: () => m('title'),
  needs: 'accounts.read',
  navigation: { group: 'administration', order: 30 },
  view: () => {
    const editing = useEditing<Editing>();
    const { now, open, close, done } = editing;
    const writes = may('accounts.write');
    const showSecret = (of: ServiceAccount): void => {
      editing.again();
      open({ is: 'secret', of });
    };
    return (
      <>
        <Heading
          title={m('title')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => open('add')}>
                {m('add')}
              </button>
            )
          }
        />
        <p class="lead">{m('lead')}</p>
        <List<ServiceAccount>
          path={path}
          title={m('title')}
          round={editing.round}
          columns={[
            {
              name: 'unique_name',
              title: words('name'),
              orderable: true,
              cell: ({ unique_name }) => <Text of={unique_name} />,
            },
            {
              name: 'client_id',
              title: m('clientId'),
              cell: ({ client_id }) => <Code of={client_id} />,
            },
            { name: 'role', title: u('role'), orderable: true, cell: ({ role }) => <RoleOf id={role} /> },
            {
              name: 'is_active',
              title: words('state'),
              orderable: true,
              cell: ({ is_active }) => <AccountState isActive={is_active} />,
            },
            {
              name: 'created_at',
              title: words('created'),
              orderable: true,
              cell: ({ created_at }) => <When at={created_at} />,
            },
            ...(writes
              ? [
                  {
                    name: 'actions',
                    title: u('actions'),
                    cell: (of: ServiceAccount) => (
                      <RowButtons
                        name={of.unique_name}
                        buttons={[
                          [words('edit'), () => open({ is: 'change', of })],
                          [m('rotate'), () => open({ is: 'rotate', of })],
                          [words('delete'), () => open({ is: 'remove', of })],
                        ]}
                      />
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
        {now === 'add' && <Edit close={close} done={showSecret} />}
        {typeof now === 'object' && now.is === 'change' && <Edit of={now.of} close={close} done={done} />}
        {typeof now === 'object' && now.is === 'secret' && <Secret of={now.of} close={close} />}
        {typeof now === 'object' && now.is === 'rotate' && (
          <Confirm
            title={m('rotateTitle')}
            action={m('rotateAction')}
            close={close}
            run={async () => showSecret(await write<ServiceAccount>('POST', `${path}${now.of.id}/rotate/`))}
          >
            <p>
              <Text of={now.of.unique_name} />
            </p>
            <p>{m('rotateLead')}</p>
          </Confirm>
        )}
        {typeof now === 'object' && now.is === 'remove' && (
          <Removal
            title={m('removeTitle')}
            lead={m('removeLead')}
            path={`${path}${now.of.id}/`}
            name={now.of.unique_name}
            close={close}
            done={done}
          />
        )}
      </>
    );
  },
};

function Edit({
  of,
  close,
  done,
}: {
  readonly of?: ServiceAccount;
  readonly close: () => void;
  readonly done: (of: ServiceAccount) => void;
}) {
  const roles = useChoices('/api/roles/', 'accounts.read');
  return (
    <Dialog title={m(of ? 'change' : 'add')} close={close}>
      <Form
        action={words(of ? 'save' : 'add')}
        cancel={close}
        fields={[
          {
            name: 'unique_name',
            title: words('name'),
            required: true,
            maxLength: 255,
            initial: of?.unique_name,
          },
          {
            name: 'role',
            title: u('role'),
            type: 'choice',
            required: true,
            initial: of?.role,
            options: roles,
          },
          { name: 'is_active', title: u('active'), type: 'check', initial: of?.is_active ?? true },
        ]}
        send={async (values) => {
          const saved = of
            ? await write<ServiceAccount>('PATCH', `${path}${of.id}/`, values)
            : await write<ServiceAccount>('POST', path, values);
          if (of) tell(words('saved'));
          done(saved);
        }}
      />
    </Dialog>
  );
}

function Secret({ of, close }: { readonly of: ServiceAccount; readonly close: () => void }) {
  const { client_id: id, client_secret: secret } = of;
  if (secret === null) return null;
  const line = `curl -s ${location.origin}/api/token/ -d grant_type=client_credentials -d client_id=${id} -d client_secret=…`;
  return (
    <SecretOnce
      close={close}
      rows={[
        [m('clientId'), <Copied key="i" name={m('clientId')} of={id} />],
        [m('secret'), <Copied key="s" name={m('secret')} of={secret} />],
        [m('use'), <Code key="u" of={line} />],
      ]}
    />
  );
}
