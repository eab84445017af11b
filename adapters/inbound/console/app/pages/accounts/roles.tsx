import { messages, number } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { createdColumn, nameColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    add: 'Add role',
    lead: 'A role is a set of permissions for users and service accounts.',
    none: 'No roles',
    permissions: 'Permissions',
    protected: 'protected',
    title: 'Roles',
  },
  {
    add: 'Rolle hinzufügen',
    lead: 'Eine Rolle fasst Berechtigungen für Benutzer und Dienstkonten zusammen.',
    none: 'Keine Rollen',
    permissions: 'Berechtigungen',
    protected: 'geschützt',
    title: 'Rollen',
  },
);

export interface Role {
  readonly id: number;
  readonly unique_name: string;
  readonly permissions: readonly string[];
  readonly is_protected: boolean;
  readonly created_at: string;
}

export const roles: Page = {
  path: '/roles',
  title: () => m('title'),
  needs: 'accounts.read',
  navigation: { group: 'administration', order: 20 },
  view: () => (
    <ListPage<Role>
      path="/api/roles/"
      title={m('title')}
      actions={
        may('accounts.write') && (
          <a class="button main" href="/roles/new">
            {m('add')}
          </a>
        )
      }
      lead={m('lead')}
      href={({ id }) => `/roles/${id}`}
      columns={[
        nameColumn(),
        {
          name: 'is_protected',
          title: words('state'),
          cell: ({ is_protected }) => is_protected && <Badge look="calm">{m('protected')}</Badge>,
        },
        {
          name: 'permissions',
          title: m('permissions'),
          isNumber: true,
          cell: ({ permissions }) => number(permissions.length),
        },
        createdColumn(),
      ]}
      empty={<Empty title={m('none')} />}
    />
  ),
};
