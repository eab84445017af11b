import { messages } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Text } from '../../parts/display/text.tsx';
import { createdColumn, nameColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import { validityInWords } from '../../parts/profiles/profile-words.tsx';
import { textsOf } from '../../parts/profiles/rules.ts';
import type { Profile } from '../../records.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';

export const m = messages(
  {
    add: 'Add profile',
    description: 'Purpose',
    noProfiles: 'No profiles',
    title: 'Certificate profiles',
    validity: 'Validity',
  },
  {
    add: 'Profil hinzufügen',
    description: 'Vorgänge',
    noProfiles: 'Keine Profile',
    title: 'Zertifikatsprofile',
    validity: 'Gültig für',
  },
);

export const profiles: Page = {
  path: '/profiles',
  title: () => m('title'),
  needs: 'profiles.read',
  navigation: { group: 'trust', order: 20 },
  view: () => (
    <ListPage<Profile>
      path="/api/cert-profiles/"
      title={m('title')}
      actions={
        may('profiles.write') && (
          <a class="button main" href="/profiles/new">
            {m('add')}
          </a>
        )
      }
      href={({ id }) => `/profiles/${id}`}
      columns={[
        nameColumn(),
        {
          name: 'description',
          title: m('description'),
          cell: ({ profile }) => <Text of={textsOf(profile.description).join('')} />,
        },
        {
          name: 'validity',
          title: m('validity'),
          cell: ({ profile }) => <Text of={validityInWords(profile)} />,
        },
        createdColumn(),
      ]}
      empty={<Empty title={m('noProfiles')} />}
    />
  ),
};
