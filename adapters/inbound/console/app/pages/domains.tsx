import { useState } from 'preact/hooks';
import { write } from '../api.ts';
import { forget } from '../data.ts';
import { messages, number } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { List } from '../parts/list.tsx';
import { CaOf, useChoices } from '../parts/reference.tsx';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import type { Domain } from '../records.ts';
import { go, type Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

export const m = messages(
  {
    add: 'Add a domain',
    ca: 'Certificate authority',
    caUsual: 'That of the default domain',
    name: 'Name',
    nameHint: 'Stands in the paths by which devices enrol.',
    noDomains: 'There are no domains',
    profiles: 'Profiles',
    title: 'Domains',
  },
  {
    add: 'Domäne hinzufügen',
    ca: 'Zertifizierungsstelle',
    caUsual: 'Die der Standarddomäne',
    name: 'Name',
    nameHint: 'Steht in den Pfaden, über die Geräte sich anmelden.',
    noDomains: 'Es gibt keine Domänen',
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
    const [open, setOpen] = useState(false);
    return (
      <>
        <Heading
          title={m('title')}
          actions={
            may('domains.write') && (
              <button type="button" class="main" onClick={() => setOpen(true)}>
                {m('add')}
              </button>
            )
          }
        />
        <List<Domain>
          path="/api/domains/"
          title={m('title')}
          href={({ id }) => `/domains/${id}`}
          columns={[
            {
              name: 'unique_name',
              title: m('name'),
              orderable: true,
              cell: ({ unique_name }) => <Text of={unique_name} />,
            },
            { name: 'issuing_ca', title: m('ca'), cell: ({ issuing_ca }) => <CaOf id={issuing_ca} /> },
            {
              name: 'profiles',
              title: m('profiles'),
              isNumber: true,
              cell: ({ profiles }) => number(profiles.length),
            },
            {
              name: 'created_at',
              title: words('created'),
              orderable: true,
              cell: ({ created_at }) => <When at={created_at} />,
            },
          ]}
          empty={<Empty title={m('noDomains')} />}
        />
        {open && <AddDomain close={() => setOpen(false)} />}
      </>
    );
  },
};

function AddDomain({ close }: { readonly close: () => void }) {
  const cas = useChoices('/api/issuing-cas/', 'cas.read');
  return (
    <Dialog title={m('add')} close={close}>
      <Form
        action={words('add')}
        cancel={close}
        fields={[
          { name: 'unique_name', title: m('name'), required: true, maxLength: 100, hint: m('nameHint') },
          {
            name: 'issuing_ca',
            title: m('ca'),
            type: 'choice',
            options: [['', m('caUsual')], ...cas],
          },
        ]}
        send={async (values) => {
          const { id } = await write<Domain>('POST', '/api/domains/', values);
          forget('/api/domains/');
          go(`/domains/${id}`);
        }}
      />
    </Dialog>
  );
}
