import { useState } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { Copied } from '../../parts/dialogs/secret-once.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Card, Facts } from '../../parts/display/facts.tsx';
import { plain } from '../../parts/display/text.tsx';

const m = messages(
  {
    lead: 'Copy a URL into the configuration of a device. A profile with an alias here is named by the alias.',
    profile: 'Profile',
    title: 'Enrolment URLs',
    usual: 'None in the URL: domain_credential',
  },
  {
    lead: 'Kopieren Sie eine URL in die Konfiguration eines Geräts. Ein Profil mit einem Alias heißt darin wie der Alias.',
    profile: 'Profil',
    title: 'Adressen zum Anmelden',
    usual: 'Keines in der URL: domain_credential',
  },
);

const protocols = ['est', 'rest', 'cmp'] as const;

type Urls = Readonly<Record<(typeof protocols)[number], string | null>> & {
  readonly cert_profile: number | null;
  readonly name: string | null;
};

/** The URLs at which devices of a domain request certificates of a profile, over each enabled protocol. */
export function EnrolmentUrls({ domain }: { readonly domain: number }) {
  const asked = useRead<readonly Urls[]>(`/api/domains/${domain}/enrolment-urls/`);
  return (
    <Card title={m('title')} wide>
      <p class="meaning">{m('lead')}</p>
      <Answer of={asked}>{(found) => <Choice of={found} />}</Answer>
    </Card>
  );
}

function Choice({ of }: { readonly of: readonly Urls[] }) {
  const [chosen, choose] = useState(0);
  const urls = of[chosen] ?? of[0];
  return (
    <>
      <div class="field">
        <label for="enrolment-profile">{m('profile')}</label>
        <select
          id="enrolment-profile"
          name="enrolment_profile"
          value={chosen}
          onChange={({ currentTarget: { value } }) => choose(Number(value))}
        >
          {of.map(({ name }, n) => (
            <option key={name ?? ''} value={n}>
              {name === null ? m('usual') : plain(name)}
            </option>
          ))}
        </select>
      </div>
      {urls && (
        <Facts
          rows={protocols.map((protocol) => {
            const url = urls[protocol];
            const name = protocol.toUpperCase();
            return [name, url && <Copied key={protocol} name={name} of={url} />] as const;
          })}
        />
      )}
    </>
  );
}
