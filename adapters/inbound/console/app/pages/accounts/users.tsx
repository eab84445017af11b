import { messages } from '../../language.ts';
import {
  type Account,
  accountColumns,
  accountState,
  roleTitle,
  useAccountFields,
} from '../../parts/accounts/account.tsx';
import { EditDialog, type Editing } from '../../parts/dialogs/edit-dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { useChoices } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { useEditing } from '../../parts/forms/editing.tsx';
import { actionsColumn, RowButtons } from '../../parts/lists/columns.tsx';
import { choiceFilter, recordFilter } from '../../parts/lists/filters.ts';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may, session } from '../../session.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    add: 'Add user',
    change: 'Edit user',
    mine: 'This is your account. After a password change you have to sign in again.',
    none: 'No users',
    password: 'Password',
    passwordHint: 'At least 8 characters. The user has to choose another one at the first sign-in.',
    passwordNew: 'New password',
    passwordNewHint:
      'Leave empty to keep the password. A new password ends all sessions of the user, who has to choose another one at the next sign-in.',
    removeLead: 'Sessions end at once. What the user has done stays in the audit log.',
    removeTitle: 'Delete this user?',
    title: 'Users',
    username: 'User name',
    you: 'you',
  },
  {
    add: 'Benutzer hinzufügen',
    change: 'Benutzer bearbeiten',
    mine: 'Das ist Ihr Konto. Nach einer Änderung des Kennworts müssen Sie sich neu anmelden.',
    none: 'Keine Benutzer',
    password: 'Kennwort',
    passwordHint: 'Mindestens 8 Zeichen. Bei der ersten Anmeldung muss der Benutzer ein anderes wählen.',
    passwordNew: 'Neues Kennwort',
    passwordNewHint:
      'Leer lassen, um das Kennwort zu behalten. Ein neues Kennwort beendet alle Sitzungen des Benutzers; bei der nächsten Anmeldung muss er ein anderes wählen.',
    removeLead: 'Sitzungen enden sofort. Was der Benutzer getan hat, bleibt im Prüfprotokoll.',
    removeTitle: 'Diesen Benutzer löschen?',
    title: 'Benutzer',
    username: 'Benutzername',
    you: 'Sie',
  },
);

interface User extends Account {
  readonly username: string;
}

const path = '/api/users/';
const isMe = ({ id }: User): boolean => session.value.is === 'signedIn' && session.value.account.id === id;

export const users: Page = {
  path: '/users',
  title: () => m('title'),
  needs: 'accounts.read',
  navigation: { group: 'administration', order: 10 },
  view: () => {
    const { round, dialog, edit, remove } = useEditing<User>({
      collection: path,
      Edit,
      removal: ({ username: name }) => ({
        title: m('removeTitle'),
        lead: m('removeLead'),
        name,
      }),
    });
    const roles = useChoices('/api/roles/', 'accounts.read');
    const writes = may('accounts.write');
    return (
      <>
        <ListPage<User>
          path={path}
          title={m('title')}
          actions={
            writes && (
              <button type="button" class="main" onClick={() => edit()}>
                {m('add')}
              </button>
            )
          }
          round={round}
          filters={[
            recordFilter('role', roleTitle(), roles),
            choiceFilter('is_active', words('state'), ['true', 'false'], (one) =>
              accountState(one === 'true'),
            ),
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
            ...accountColumns(),
            writes &&
              actionsColumn((of) => (
                <RowButtons
                  name={of.username}
                  buttons={[
                    [words('edit'), () => edit(of)],
                    [words('delete'), () => remove(of)],
                  ]}
                />
              )),
          ]}
          empty={<Empty title={m('none')} />}
        />
        {dialog}
      </>
    );
  },
};

function Edit(editing: Editing<User>) {
  const { of } = editing;
  const account = useAccountFields(of);
  return (
    <EditDialog
      {...editing}
      title={m(of ? 'change' : 'add')}
      collection={path}
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
        ...account,
      ]}
      done={words('saved')}
    >
      {of && isMe(of) && <p class="notice">{m('mine')}</p>}
    </EditDialog>
  );
}
