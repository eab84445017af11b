import { messages, number } from '../../language.ts';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { CaOf, useChoices } from '../../parts/display/reference.tsx';
import { createdColumn, textColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Domain } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';

export const m = messages(
  {
    add: 'Add domain',
    ca: 'Certificate authority',
    caUsual: 'The CA of the default domain',
    name: 'Name',
    nameHint: 'Part of the enrolment URLs of its devices.',
    noDomains: 'No domains',
    profiles: 'Profiles',
    title: 'Domains',
  },
  {
    add: 'Domäne hinzufügen',
    ca: 'Zertifizierungsstelle',
    caUsual: 'Die CA der Standarddomäne',
    name: 'Name',
    nameHint: 'Teil der Adressen, unter denen sich ihre Geräte anmelden.',
    noDomains: 'Keine Domänen',
    profiles: 'Profile',
    title: 'Domänen',
  },
);

export const domains: Page = {
  path: '/domains',
  title: () => m('title'),
  needs: 'domains.read',
  navigation: { group: 'inventory', order: 20 },
  view: () => {
    const { dialog, open } = useDialog();
    return (
      <>
        <ListPage<Domain>
          path="/api/domains/"
          title={m('title')}
          actions={
            may('domains.write') && (
              <button type="button" class="main" onClick={() => open((close) => <AddDomain close={close} />)}>
                {m('add')}
              </button>
            )
          }
          href={({ id }) => `/domains/${id}`}
          columns={[
            textColumn('unique_name', m('name')),
            { name: 'issuing_ca', title: m('ca'), cell: ({ issuing_ca }) => <CaOf id={issuing_ca} /> },
            {
              name: 'profiles',
              title: m('profiles'),
              isNumber: true,
              cell: ({ profiles }) => number(profiles.length),
            },
            createdColumn(),
          ]}
          empty={<Empty title={m('noDomains')} />}
        />
        {dialog}
      </>
    );
  },
};

function AddDomain({ close }: { readonly close: () => void }) {
  const cas = useChoices('/api/issuing-cas/', 'cas.read');
  return (
    <EditDialog<Domain>
      title={m('add')}
      collection="/api/domains/"
      fields={[
        { name: 'unique_name', title: m('name'), required: true, maxLength: 100, hint: m('nameHint') },
        { name: 'issuing_ca', title: m('ca'), type: 'choice', options: [['', m('caUsual')], ...cas] },
      ]}
      saved={({ id }) => go(`/domains/${id}`)}
      close={close}
    />
  );
}
