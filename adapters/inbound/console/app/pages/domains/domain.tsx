import { messages } from '../../language.ts';
import { CertificateList } from '../../parts/certificates/certificate-list.tsx';
import { type Changing, EditDialog } from '../../parts/dialogs/edit-dialog.tsx';
import { useRemoval } from '../../parts/dialogs/removal.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { CaOf, ProfileOf, useChoices } from '../../parts/display/reference.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Domain } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { DevicesOf } from '../devices/devices.tsx';
import { DomainPolicies } from './domain-policies.tsx';
import { m as d } from './domains.tsx';
import { EnrolmentUrls } from './enrolment-urls.tsx';

const m = messages(
  {
    alias: 'alias',
    certificates: 'Certificates',
    change: 'Edit domain',
    devices: 'Devices',
    profilesLead: 'Profiles that devices of this domain can request.',
    removeLead: 'Only a domain without devices and certificates can be deleted.',
    removeTitle: 'Delete this domain?',
    tabs: 'About the domain',
  },
  {
    alias: 'Alias',
    certificates: 'Zertifikate',
    change: 'Domäne bearbeiten',
    devices: 'Geräte',
    profilesLead: 'Profile, die Geräte dieser Domäne beantragen dürfen.',
    removeLead: 'Nur eine Domäne ohne Geräte und Zertifikate lässt sich löschen.',
    removeTitle: 'Diese Domäne löschen?',
    tabs: 'Über die Domäne',
  },
);

const path = '/api/domains/';

export const domain: Page = {
  path: '/domains/:id',
  title: () => d('title'),
  needs: 'domains.read',
  view: recordView(path, Shown),
};

function Shown({ of: found, reload }: Found<Domain>) {
  const { dialog, open, remove } = useRemoval({
    of: found,
    title: m('removeTitle'),
    lead: m('removeLead'),
    collection: path,
    after: () => go('/domains'),
  });
  const { id, unique_name: name } = found;
  const change = (): void => open((close) => <Change of={found} saved={reload} close={close} />);
  return (
    <>
      <RecordHeading
        name={name}
        up={{ href: '/domains', title: d('title') }}
        actions={
          may('domains.write') && (
            <>
              <button type="button" onClick={change}>
                {words('edit')}
              </button>
              <button type="button" class="danger" onClick={remove}>
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
          ...(may('devices.read')
            ? [{ name: 'devices', title: m('devices'), view: () => <DevicesOf domain={id} /> }]
            : []),
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
      {dialog}
    </>
  );
}

function About({ of: { id, unique_name, issuing_ca, profiles, created_at } }: { readonly of: Domain }) {
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
      <EnrolmentUrls domain={id} />
      {may('approvals.read') && <DomainPolicies domain={id} />}
    </div>
  );
}

function Change(editing: Changing<Domain>) {
  const { unique_name, issuing_ca, profiles: given } = editing.of;
  const cas = useChoices('/api/issuing-cas/', 'cas.read');
  const offered = useChoices('/api/cert-profiles/', 'profiles.read');
  const alias = new Map(given.map((one) => [one.profile, one.alias]));
  return (
    <EditDialog
      {...editing}
      title={m('change')}
      collection={path}
      body={({ profiles, ...values }) => ({
        ...values,
        profiles: (profiles as readonly string[])
          .map(Number)
          .map((profile) => ({ profile, alias: alias.get(profile) ?? null })),
      })}
      fields={[
        { name: 'unique_name', title: d('name'), required: true, initial: unique_name },
        { name: 'issuing_ca', title: d('ca'), type: 'choice', initial: issuing_ca, options: cas },
        {
          name: 'profiles',
          title: d('profiles'),
          type: 'checks',
          initial: given.map(({ profile }) => String(profile)),
          options: offered,
        },
      ]}
    />
  );
}
