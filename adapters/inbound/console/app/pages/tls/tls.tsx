import { messages, moment } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge } from '../../parts/display/facts.tsx';
import { Absent } from '../../parts/display/text.tsx';
import { momentColumn, nameColumn, textColumn } from '../../parts/lists/columns.tsx';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    active: 'Active',
    add: 'Add credential',
    commonName: 'Common name',
    ends: 'Valid until',
    expired: 'Expired',
    issued: 'Certificate for this service',
    issuingCa: 'Issuing CA',
    kind: 'Type',
    lead: 'Certificates whose private keys this service holds. One TLS server credential is active at a time.',
    none: 'No TLS credentials',
    owner: 'Owner of devices (DevOwnerID)',
    ready: 'Inactive',
    rootCa: 'Root CA',
    signer: 'Signer',
    suite: 'Signs with',
    title: 'TLS credentials',
    tlsServer: 'TLS server',
  },
  {
    active: 'Aktiv',
    add: 'Zertifikat hinzufügen',
    commonName: 'Common Name',
    ends: 'Gültig bis',
    expired: 'Abgelaufen',
    issued: 'Zertifikat für diesen Dienst',
    issuingCa: 'Ausstellende CA',
    kind: 'Art',
    lead: 'Zertifikate, deren private Schlüssel dieser Dienst hat. Ein TLS-Server-Zertifikat ist jeweils aktiv.',
    none: 'Keine TLS-Zertifikate',
    owner: 'Besitzer von Geräten (DevOwnerID)',
    ready: 'Inaktiv',
    rootCa: 'Root-CA',
    signer: 'Signierer',
    suite: 'Signiert mit',
    title: 'TLS-Zertifikate',
    tlsServer: 'TLS-Server',
  },
);

/** By `credential_type`. */
const types = ['tlsServer', 'rootCa', 'issuingCa', 'issued', 'owner', 'signer'] as const;
export const tlsServer = 0;

export const credentialType = (type: number): string => {
  const name = types[type];
  return name === undefined ? String(type) : m(name);
};

export interface Credential {
  readonly id: number;
  readonly credential_type: number;
  readonly created_at: string;
  readonly unique_name: string;
  readonly common_name: string;
  readonly is_active: boolean;
  readonly not_valid_after: string;
  readonly signature_suite: string;
  readonly updated_at: string;
  readonly issuing_ca: number | null;
}

export const hasExpired = ({ not_valid_after: end }: Credential): boolean =>
  moment(end).getTime() <= Date.now();

export function CredentialState({ of }: { readonly of: Credential }) {
  if (hasExpired(of)) return <Badge look="bad">{m('expired')}</Badge>;
  if (of.credential_type !== tlsServer) return <Absent />;
  return of.is_active ? <Badge look="good">{m('active')}</Badge> : <Badge look="calm">{m('ready')}</Badge>;
}

export const tls: Page = {
  path: '/tls',
  title: () => m('title'),
  needs: 'credentials.read',
  navigation: { group: 'system', order: 10 },
  view: () => (
    <ListPage<Credential>
      path="/api/tls/"
      title={m('title')}
      actions={
        may('credentials.write') && (
          <a class="button main" href="/tls/new">
            {m('add')}
          </a>
        )
      }
      lead={m('lead')}
      href={({ id }) => `/tls/${id}`}
      filters={[
        {
          name: 'credential_type',
          title: m('kind'),
          options: types.map((_, type) => [String(type), credentialType(type)] as const),
        },
      ]}
      columns={[
        nameColumn(),
        {
          name: 'credential_type',
          title: m('kind'),
          orderable: true,
          cell: ({ credential_type }) => credentialType(credential_type),
        },
        {
          name: 'is_active',
          title: words('state'),
          orderable: true,
          cell: (credential) => <CredentialState of={credential} />,
        },
        textColumn('common_name', m('commonName')),
        momentColumn('not_valid_after', m('ends')),
        textColumn('signature_suite', m('suite')),
      ]}
      empty={<Empty title={m('none')} />}
    />
  ),
};
