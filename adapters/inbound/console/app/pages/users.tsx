import { write } from '../api.ts';
import { messages } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { RowButtons, useEditing } from '../parts/editing.tsx';
import { Badge, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { List } from '../parts/list.tsx';
import { RoleOf, useChoices } from '../parts/reference.tsx';
import { Removal } from '../parts/removal.tsx';
import { plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may, session } from '../session.ts';
import { words } from '../words.ts';

export const m = messages(
  {
    actions: 'Actions',
    active: 'May sign in',
    add: 'Add a user',
    change: 'Change the user',
    inactive: 'Locked out',
    mine: 'This is you. After a change of the password you sign in again.',
    none: 'There are no users',
    password: 'Password',
    passwordHint: '8 characters at least.',
    passwordNew: 'New password',
    passwordNewHint: 'Left empty, it stays as it is. A new one ends all sessions of the user.',
    removeLead: 'Sessions end at once. What the user has done stays in the audit log.',
    removeTitle: 'Delete this user?',
    role: 'Role',
    title: 'Users',
    username: 'User name',
    you: 'you',
  },
  {
    actions: 'Aktionen',
    active: 'Darf sich anmelden',
    add: 'Benutzer hinzufügen',
    change: 'Benutzer ändern',
    inactive: 'Ausgesperrt',
    mine: 'Das sind Sie. Nach einer Änderung des Kennworts melden Sie sich neu an.',
    none: 'Es gibt keine Benutzer',
    password: 'Kennwort',
    passwordHint: 'Mindestens 8 Zeichen.',
    passwordNew: 'Neues Kennwort',
    passwordNewHint: 'Bleibt das leer, ändert es sich nicht. Ein neues beendet alle Sitzungen des Benutzers.',
    removeLead: 'Sitzungen enden sofort. Was der Benutzer getan hat, bleibt im Prüfprotokoll.',
    removeTitle: 'Diesen Benutzer löschen?',
    role: 'Rolle',
    title: 'Benutzer',
    username: 'Benutzername',
    you: 'Sie',
  },
);

interface User {
  readonly id: number;
  readonly username: string;
  readonly role: number;
  readonly is_active: boolean;
  readonly created_at: string;
}

const path = '/api/users/';
const isMe = ({ id }: User): boolean => session.value.is === 'signedIn' && session.value.account.id === id;

export const AccountState = ({ isActive }: { readonly isActive: boolean }) => (
  <Badge look={isActive ? 'good' : 'calm'}>{m(isActive ? 'active' : 'inactive')}</Badge>
);

export const users: Page = {
  path: '/users',
  title: () => m('title'),
  needs: 'accounts.read',
  navigation: { group: 'administration', order: 10 },
  view: () => {
    const editing = useEditing<'add' | { readonly change: User } | { readonly remove: User }>();
    const { now, open, close, done } = editing;
    const roles = useChoices('/api/roles/', 'accounts.read');
    const writes = may('accounts.write');
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
        <List<User>
          path={path}
          title={m('title')}
          round={editing.round}
          filters={[
            {
              name: 'role',
              title: m('role'),
              options: roles.map(([id, name]) => [String(id), plain(name)] as const),
            },
            {
              name: 'is_active',
              title: words('state'),
              options: [
                ['true', m('active')],
                ['false', m('inactive')],
              ],
            },
          ]}
          columns={[
            {
              name: 'username',
              title: m('username'),
              orderable: true,
              cell: (user) => (
                <span>
                  <Text of={user.username} /> {isMe(user) && <span class="quiet">({m('you')})</span>}
                </span>
              ),
            },
            { name: 'role', title: m('role'), orderable: true, cell: ({ role }) => <RoleOf id={role} /> },
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
                    title: m('actions'),
                    cell: (user: User) => (
                      <RowButtons
                        name={user.username}
                        buttons={[
                          [words('edit'), () => open({ change: user })],
                          [words('delete'), () => open({ remove: user })],
                        ]}
                      />
                    ),
                  },
                ]
              : []),
          ]}
          empty={<Empty title={m('none')} />}
        />
        {now === 'add' && <Edit close={close} done={done} />}
        {typeof now === 'object' && 'change' in now && <Edit of={now.change} close={close} done={done} />}
        {typeof now === 'object' && 'remove' in now && (
          <Removal
            title={m('removeTitle')}
            lead={m('removeLead')}
            path={`${path}${now.remove.id}/`}
            name={now.remove.username}
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
  readonly of?: User;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const roles = useChoices('/api/roles/', 'accounts.read');
  return (
    <Dialog title={m(of ? 'change' : 'add')} close={close}>
      {of && isMe(of) && <p class="notice">{m('mine')}</p>}
      <Form
        action={words(of ? 'save' : 'add')}
        cancel={close}
        fields={[
          { name: 'username', title: m('username'), required: true, maxLength: 150, initial: of?.username },
          {
            name: 'password',
            title: m(of ? 'passwordNew' : 'password'),
            type: 'password',
            hint: m(of ? 'passwordNewHint' : 'passwordHint'),
            required: !of,
            autocomplete: 'new-password',
          },
          {
            name: 'role',
            title: m('role'),
            type: 'choice',
            required: true,
            initial: of?.role,
            options: roles,
          },
          { name: 'is_active', title: m('active'), type: 'check', initial: of?.is_active ?? true },
        ]}
        send={async (values) => {
          if (of) await write('PATCH', `${path}${of.id}/`, values);
          else await write('POST', path, values);
          tell(words('saved'));
          done();
        }}
      />
    </Dialog>
  );
}
