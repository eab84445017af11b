import { useEffect, useState } from 'preact/hooks';
import { write } from '../api.ts';
import { forget, useRead } from '../data.ts';
import { messages } from '../language.ts';
import { Answer } from '../parts/answer.tsx';
import { CertificateList } from '../parts/certificate-list.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Card, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { CaOf, ProfileOf, useChoices } from '../parts/reference.tsx';
import { Removal } from '../parts/removal.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Domain } from '../records.ts';
import { go, type Page } from '../router.ts';
import { may } from '../session.ts';
import { words } from '../words.ts';
import { m as d } from './domains.tsx';

const m = messages(
  {
    alias: 'here called',
    certificates: 'Certificates',
    change: 'Change the domain',
    paths: 'Where devices enrol',
    profilesLead: 'What devices of this domain may ask for.',
    removeLead: 'Only a domain without devices and certificates can be deleted.',
    removeTitle: 'Delete this domain?',
    tabs: 'About the domain',
  },
  {
    alias: 'heißt hier',
    certificates: 'Zertifikate',
    change: 'Domäne ändern',
    paths: 'Wo Geräte sich anmelden',
    profilesLead: 'Worum Geräte dieser Domäne bitten dürfen.',
    removeLead: 'Nur eine Domäne ohne Geräte und Zertifikate lässt sich löschen.',
    removeTitle: 'Diese Domäne löschen?',
    tabs: 'Über die Domäne',
  },
);

export const domain: Page = {
  path: '/domains/:id',
  title: () => d('title'),
  needs: 'domains.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Domain>(`/api/domains/${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown of={found} reload={asked.reload} />}</Answer>;
  },
};

function Shown({ of: found, reload }: { readonly of: Domain; readonly reload: () => void }) {
  const [open, setOpen] = useState<'change' | 'remove'>();
  const { id, unique_name: name } = found;
  useEffect(() => {
    document.title = `${plain(name)} · Postern`;
  }, [name]);
  return (
    <>
      <Heading
        title={<Text of={name} />}
        up={{ href: '/domains', title: d('title') }}
        actions={
          may('domains.write') && (
            <>
              <button type="button" onClick={() => setOpen('change')}>
                {words('edit')}
              </button>
              <button type="button" class="danger" onClick={() => setOpen('remove')}>
                {words('delete')}
              </button>
            </>
          )
        }
      />
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'about', title: words('detail'), view: () => <About of={found} /> },
          ...(may('certificates.read')
            ? [
                {
                  name: 'certificates',
                  title: m('certificates'),
                  view: () => <CertificateList fixed={{ domain: String(id) }} />,
                },
              ]
            : []),
        ]}
      />
      {open === 'change' && (
        <Change
          of={found}
          close={() => setOpen(undefined)}
          done={() => {
            setOpen(undefined);
            reload();
          }}
        />
      )}
      {open === 'remove' && (
        <Removal
          title={m('removeTitle')}
          lead={m('removeLead')}
          path={`/api/domains/${id}/`}
          name={name}
          forgets="/api/domains/"
          close={() => setOpen(undefined)}
          done={() => go('/domains')}
        />
      )}
    </>
  );
}

function About({ of: { unique_name, issuing_ca, profiles, created_at } }: { readonly of: Domain }) {
  const segment = encodeURIComponent(unique_name);
  return (
    <div class="cards">
      <Card title={words('detail')}>
        <Facts
          rows={[
            [d('name'), <Text key="n" of={unique_name} />],
            [d('ca'), <CaOf key="c" id={issuing_ca} />],
            [words('created'), <When key="w" at={created_at} relative />],
          ]}
        />
      </Card>
      <Card title={m('paths')}>
        <Facts
          rows={[
            ['EST', <Code key="e" of={`${location.origin}/.well-known/est/${segment}/`} />],
            ['CMP', <Code key="c" of={`${location.origin}/.well-known/cmp/p/${segment}`} />],
            ['REST', <Code key="r" of={`${location.origin}/rest/${segment}/`} />],
          ]}
        />
      </Card>
      <Card title={d('profiles')}>
        <p class="meaning">{m('profilesLead')}</p>
        <ul class="plain-list">
          {profiles.map(({ profile, alias }) => (
            <li key={profile}>
              <ProfileOf id={profile} />
              {alias !== null && (
                <span class="quiet">
                  {m('alias')} <Text of={alias} />
                </span>
              )}
            </li>
          ))}
        </ul>
      </Card>
    </div>
  );
}

function Change({
  of: found,
  close,
  done,
}: {
  readonly of: Domain;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const cas = useChoices('/api/issuing-cas/', 'cas.read');
  const offered = useChoices('/api/cert-profiles/', 'profiles.read');
  return (
    <Dialog title={m('change')} close={close}>
      <Form
        action={words('save')}
        cancel={close}
        fields={[
          { name: 'unique_name', title: d('name'), required: true, initial: found.unique_name },
          {
            name: 'issuing_ca',
            title: d('ca'),
            type: 'choice',
            initial: found.issuing_ca,
            options: cas,
          },
          {
            name: 'profiles',
            title: d('profiles'),
            type: 'checks',
            initial: found.profiles.map(({ profile }) => String(profile)),
            options: offered,
          },
        ]}
        send={async ({ profiles, ...values }) => {
          const chosen = (profiles as readonly string[]).map(Number);
          const alias = new Map(found.profiles.map((one) => [one.profile, one.alias]));
          await write('PATCH', `/api/domains/${found.id}/`, {
            ...values,
            profiles: chosen.map((profile) => ({ profile, alias: alias.get(profile) ?? null })),
          });
          forget('/api/domains/');
          tell(words('saved'));
          done();
        }}
      />
    </Dialog>
  );
}
