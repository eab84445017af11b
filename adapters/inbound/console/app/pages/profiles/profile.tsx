import { useShared } from '../../data.ts';
import { messages } from '../../language.ts';
import { Copy } from '../../parts/dialogs/action.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Text } from '../../parts/display/text.tsx';
import { ProfilePreview } from '../../parts/profiles/profile-preview.tsx';
import { rulesInWords } from '../../parts/profiles/profile-words.tsx';
import { textsOf } from '../../parts/profiles/rules.ts';
import type { Domain, Profile } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { m as p } from './profiles.tsx';

const m = messages(
  {
    alias: 'alias',
    copy: 'Copy to a new profile',
    domains: 'Domains that offer it',
    noDomains: 'No domain offers this profile, so no device can request it.',
    preview: 'Preview',
    removeLead: 'Only a profile that neither domains nor certificates refer to can be deleted.',
    removeTitle: 'Delete this profile?',
    rules: 'Rules',
    tabs: 'About the profile',
  },
  {
    alias: 'Alias',
    copy: 'In ein neues Profil kopieren',
    domains: 'Domänen, die es anbieten',
    noDomains: 'Keine Domäne bietet dieses Profil an, daher kann kein Gerät es beantragen.',
    preview: 'Vorschau',
    removeLead: 'Nur ein Profil, auf das weder Domänen noch Zertifikate verweisen, lässt sich löschen.',
    removeTitle: 'Dieses Profil löschen?',
    rules: 'Regeln',
    tabs: 'Über das Profil',
  },
);

const path = '/api/cert-profiles/';

export const profile: Page = {
  path: '/profiles/:id',
  title: () => p('title'),
  needs: 'profiles.read',
  view: recordView(path, Shown),
};

function Shown({ of: found }: Found<Profile>) {
  const { dialog, remove } = useRemoval({
    of: found,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/profiles'),
  });
  const { id, unique_name: name, profile: rules } = found;
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/profiles', title: p('title') }}
        actions={
          may('profiles.write') && (
            <>
              <a class="button main" href={`/profiles/${id}/edit`}>
                {words('edit')}
              </a>
              <a class="button" href={`/profiles/new?from=${id}`}>
                {m('copy')}
              </a>
              <button type="button" class="danger" onClick={remove}>
                {words('delete')}
              </button>
            </>
          )
        }
      />
      {textsOf(rules.description).map((one) => (
        <p class="lead" key={one}>
          <Text of={one} />
        </p>
      ))}
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'about', title: words('detail'), view: () => <About of={found} /> },
          {
            name: 'preview',
            title: m('preview'),
            view: () => <ProfilePreview id={id} rules={rules} />,
          },
          { name: 'json', title: 'JSON', view: () => <Source of={found} /> },
        ]}
      />
      {dialog}
    </>
  );
}

const About = ({ of: { id, profile: rules } }: { readonly of: Profile }) => (
  <div class="cards">
    <Card title={m('rules')} wide>
      <Facts rows={rulesInWords(rules)} />
    </Card>
    {may('domains.read') && <Domains id={id} />}
  </div>
);

function Domains({ id }: { readonly id: number }) {
  const asked = useShared<readonly Domain[]>('/api/domains/?limit=1000');
  return (
    <Card title={m('domains')} wide>
      <Answer of={asked}>
        {(domains) => {
          const offering = domains.flatMap((domain) =>
            domain.profiles.filter(({ profile }) => profile === id).map(({ alias }) => ({ domain, alias })),
          );
          if (offering.length === 0) return <p class="quiet">{m('noDomains')}</p>;
          return (
            <ul class="plain-list">
              {offering.map(({ domain, alias }) => (
                <li key={`${domain.id} ${alias}`}>
                  <a href={`/domains/${domain.id}`}>
                    <Text of={domain.unique_name} />
                  </a>
                  {alias !== null && (
                    <span class="quiet">
                      {m('alias')} <Text of={alias} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Card>
  );
}

function Source({ of: { profile: rules } }: { readonly of: Profile }) {
  const text = JSON.stringify(rules, null, 2);
  return (
    <Card title="JSON" actions={<Copy text={text} label="JSON" />}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </Card>
  );
}
