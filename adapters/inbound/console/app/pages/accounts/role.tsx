import { store } from '../../api.ts';
import { forget } from '../../data.ts';
import { messages } from '../../language.ts';
import { byArea, deedOf, permissionArea } from '../../parts/accounts/permission-words.ts';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Card, Facts, Heading } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Form, nameField } from '../../parts/forms/form.tsx';
import type { Field, Values } from '../../parts/forms/input.tsx';
import { go, type Page } from '../../router.ts';
import { may, session } from '../../session.ts';
import { words } from '../../words.ts';
import { type Role, m as r } from './roles.tsx';

const m = messages(
  {
    lead: 'You can grant only permissions that you have yourself. A change applies from the next request of a user.',
    nothing: 'This role has no permissions.',
    protectedNext: 'This role is protected: it can do everything, and cannot be changed or deleted.',
    removeLead: 'Only a role that no account uses can be deleted.',
    removeTitle: 'Delete this role?',
  },
  {
    lead: 'Sie können nur Berechtigungen vergeben, die Sie selbst haben. Eine Änderung gilt ab der nächsten Anfrage eines Benutzers.',
    nothing: 'Diese Rolle hat keine Berechtigungen.',
    protectedNext: 'Diese Rolle ist geschützt: Sie darf alles und lässt sich weder ändern noch löschen.',
    removeLead: 'Nur eine Rolle, die kein Konto verwendet, lässt sich löschen.',
    removeTitle: 'Diese Rolle löschen?',
  },
);

const path = '/api/roles/';

/** A box for every permission that the one who is signed in may give, and for those that the role has; a group for each area. */
function fields(of?: Role): readonly Field[] {
  const own = session.value.is === 'signedIn' ? session.value.account.permissions : [];
  const given = of?.permissions ?? [];
  const offered = [...own, ...given.filter((one) => !own.includes(one))];
  return [
    nameField(of),
    ...[...byArea(offered)].map(
      ([area, permissions]): Field => ({
        name: `${area}.`,
        title: permissionArea(area) ?? area,
        type: 'checks',
        isInline: true,
        initial: given.filter((one) => permissions.includes(one)),
        options: permissions.map((one) => [one, deedOf(one)] as const),
      }),
    ),
  ];
}

const toBody = ({ unique_name, ...areas }: Values) => ({
  unique_name,
  permissions: Object.values(areas).flatMap((chosen) => (Array.isArray(chosen) ? chosen : [])),
});

const up = () => ({ href: '/roles', title: r('title') });

export const newRole: Page = {
  path: '/roles/new',
  title: () => r('add'),
  needs: 'accounts.write',
  view: () => (
    <>
      <Heading title={r('add')} up={up()} />
      <p class="lead">{m('lead')}</p>
      <Form
        action={words('add')}
        cancel={() => go('/roles')}
        fields={fields()}
        send={async (values) => {
          await store(path, undefined, toBody(values));
          forget(path);
          tell(words('saved'));
          go('/roles');
        }}
      />
    </>
  ),
};

export const role: Page = {
  path: '/roles/:id',
  title: () => r('title'),
  needs: 'accounts.read',
  view: recordView(path, Shown),
};

function Shown({ of, reload }: Found<Role>) {
  const { dialog, remove } = useRemoval({
    of,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/roles'),
  });
  const { unique_name: name, permissions, is_protected: isProtected } = of;
  const writes = may('accounts.write') && !isProtected;
  return (
    <>
      <RecordHeading
        name={name}
        up={up()}
        actions={
          writes && (
            <button type="button" class="danger" onClick={remove}>
              {words('delete')}
            </button>
          )
        }
      />
      {isProtected && <p class="notice">{m('protectedNext')}</p>}
      {writes ? (
        <>
          <p class="lead">{m('lead')}</p>
          <Form
            action={words('save')}
            fields={fields(of)}
            send={async (values) => {
              await store(path, of, toBody(values));
              forget(path);
              tell(words('saved'));
              reload();
            }}
          />
        </>
      ) : (
        <Card title={r('permissions')}>
          {permissions.length === 0 ? (
            <p class="quiet">{m('nothing')}</p>
          ) : (
            <Facts
              rows={[...byArea(permissions)].map(
                ([area, of]) => [permissionArea(area) ?? area, of.map(deedOf).join(', ')] as const,
              )}
            />
          )}
        </Card>
      )}
      {dialog}
    </>
  );
}
