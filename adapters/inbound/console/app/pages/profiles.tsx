import { messages } from '../language.ts';
import { Empty } from '../parts/answer.tsx';
import { Heading } from '../parts/facts.tsx';
import { List } from '../parts/list.tsx';
import { validityInWords } from '../parts/profile-words.tsx';
import { textsOf } from '../parts/rules.ts';
import { Text } from '../parts/text.tsx';
import { When } from '../parts/when.tsx';
import type { Profile } from '../records.ts';
import type { Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';

export const m = messages(
  {
    add: 'Add a profile',
    description: 'What for',
    noProfiles: 'There are no profiles',
    title: 'Certificate profiles',
    validity: 'Good for',
  },
  {
    add: 'Profil hinzufügen',
    description: 'Wofür',
    noProfiles: 'Es gibt keine Profile',
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
    <>
      <Heading
        title={m('title')}
        actions={
          may('profiles.write') && (
            <a class="button main" href="/profiles/new">
              {m('add')}
            </a>
          )
        }
      />
      <List<Profile>
        path="/api/cert-profiles/"
        title={m('title')}
        href={({ id }) => `/profiles/${id}`}
        columns={[
          {
            name: 'unique_name',
            title: words('name'),
            orderable: true,
            cell: ({ unique_name }) => <Text of={unique_name} />,
          },
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
          {
            name: 'created_at',
            title: words('created'),
            orderable: true,
            cell: ({ created_at }) => <When at={created_at} />,
          },
        ]}
        empty={<Empty title={m('noProfiles')} />}
      />
    </>
  ),
};
