import type { ComponentChildren } from 'preact';
import { messages, moment } from '../../language.ts';
import type { Certificate } from '../../records.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { useDialog } from '../dialogs/dialog.tsx';
import { Empty } from '../display/answer.tsx';
import { Badge } from '../display/facts.tsx';
import { DomainOf, useChoices } from '../display/reference.tsx';
import { Text } from '../display/text.tsx';
import { codeColumn, momentColumn } from '../lists/columns.tsx';
import { choiceFilter, periodFilters, recordFilter } from '../lists/filters.ts';
import { List, type ListProps, useRound } from '../lists/list.tsx';
import type { ListFilter } from '../lists/narrowing.tsx';
import { protocolChoices, protocolTitle } from './certificate-words.ts';
import { RevokeSeveral } from './revoke-several.tsx';

const m = messages(
  {
    active: 'Valid',
    ca: 'Issuing CA',
    days: 'Within {n} days',
    domain: 'Domain',
    ends: 'Valid until',
    expired: 'Expired',
    expiresFrom: 'Expires from',
    expiresTo: 'Expires to',
    expiring: 'Expires',
    good: 'Valid',
    hold: 'On hold',
    issuedFrom: 'Issued from',
    issuedTo: 'Issued to',
    name: 'Name',
    noCertificates: 'No certificates yet',
    noCertificatesNext: 'Certificates appear here when devices enrol or when you issue one.',
    profile: 'Profile',
    protocol: 'Protocol',
    revoked: 'Revoked',
    serialNumber: 'Serial number',
    soon: 'Expires soon',
    state: 'State',
    title: 'Certificates',
  },
  {
    active: 'Gültig',
    ca: 'Ausstellende CA',
    days: 'In {n} Tagen',
    domain: 'Domäne',
    ends: 'Gültig bis',
    expired: 'Abgelaufen',
    expiresFrom: 'Läuft ab von',
    expiresTo: 'Läuft ab bis',
    expiring: 'Läuft ab',
    good: 'Gültig',
    hold: 'Ausgesetzt',
    issuedFrom: 'Ausgestellt von',
    issuedTo: 'Ausgestellt bis',
    name: 'Name',
    noCertificates: 'Noch keine Zertifikate',
    noCertificatesNext: 'Zertifikate erscheinen hier, wenn Geräte sie beantragen oder Sie eines ausstellen.',
    profile: 'Profil',
    protocol: 'Protokoll',
    revoked: 'Gesperrt',
    serialNumber: 'Seriennummer',
    soon: 'Läuft bald ab',
    state: 'Zustand',
    title: 'Zertifikate',
  },
);

const soon = 30 * 86_400_000;

/** What a certificate is worth now. */
export function CertificateState({ of }: { readonly of: Pick<Certificate, 'status' | 'not_valid_after'> }) {
  const left = moment(of.not_valid_after).getTime() - Date.now();
  if (of.status === 'revoked') return <Badge look="bad">{m('revoked')}</Badge>;
  if (left <= 0) return <Badge look="calm">{m('expired')}</Badge>;
  if (of.status === 'hold') return <Badge look="warn">{m('hold')}</Badge>;
  return left < soon ? <Badge look="warn">{m('soon')}</Badge> : <Badge look="good">{m('good')}</Badge>;
}

/** Certificates, all of them or those of something: `fixed` says which. */
export function CertificateList({
  fixed = {},
  empty,
}: {
  readonly fixed?: Readonly<Record<string, string>>;
  readonly empty?: ComponentChildren;
}) {
  const { dialog, open } = useDialog();
  const { round, again } = useRound();
  const domains = useChoices('/api/domains/', 'domains.read');
  const cas = useChoices('/api/issuing-cas/', 'cas.read');
  const profiles = useChoices('/api/cert-profiles/', 'profiles.read');
  const isNarrow = 'device' in fixed;
  const columns: ListProps<Certificate>['columns'] = [
    {
      name: 'common_name',
      title: m('name'),
      orderable: true,
      cell: ({ common_name, id }) => <Text of={common_name === '' ? `#${id}` : common_name} />,
    },
    { name: 'status', title: m('state'), cell: (certificate) => <CertificateState of={certificate} /> },
    momentColumn('not_valid_after', m('ends')),
    codeColumn('serial_number', m('serialNumber')),
    !('domain' in fixed) && {
      name: 'domain',
      title: m('domain'),
      cell: ({ domain }) => <DomainOf id={domain} />,
    },
    {
      name: 'protocol',
      title: m('protocol'),
      cell: ({ protocol }) => <Text of={protocolTitle(protocol)} />,
    },
  ];
  const filters: readonly ListFilter[] = [
    choiceFilter('state', m('state'), ['active', 'expired', 'hold', 'revoked'], m),
    choiceFilter('expires_within', m('expiring'), ['7', '30', '90'], (n) => m('days', { n: Number(n) })),
    recordFilter('domain', m('domain'), domains),
    recordFilter('cert_profile', m('profile'), profiles),
    { ...recordFilter('issuing_ca', m('ca'), cas), isRare: true },
    { name: 'protocol', title: m('protocol'), options: protocolChoices(), isRare: true },
    { name: 'serial_number', title: m('serialNumber'), isRare: true },
    ...[
      ...periodFilters('expires_', m('expiresFrom'), m('expiresTo')),
      ...periodFilters('created_', m('issuedFrom'), m('issuedTo')),
    ].map((filter) => ({ ...filter, isRare: true })),
  ];
  return (
    <>
      <List<Certificate>
        path="/api/certificates/"
        title={m('title')}
        fixed={fixed}
        round={round}
        exported
        searchable={!isNarrow}
        href={({ id }) => `/certificates/${id}`}
        filters={filters.filter(({ name }) => (isNarrow ? name === 'state' : !(name in fixed)))}
        columns={columns}
        empty={empty ?? <Empty title={m('noCertificates')} next={m('noCertificatesNext')} />}
        selection={
          may('certificates.revoke')
            ? {
                name: ({ common_name, id }) => (common_name === '' ? `#${id}` : common_name),
                isSelectable: ({ status }) => status !== 'revoked',
                actions: (records, clear) => (
                  <button
                    type="button"
                    class="danger"
                    onClick={() =>
                      open((close) => (
                        <RevokeSeveral
                          of={records}
                          after={() => {
                            clear();
                            again();
                          }}
                          close={close}
                        />
                      ))
                    }
                  >
                    {words('revoke')}
                  </button>
                ),
              }
            : undefined
        }
      />
      {dialog}
    </>
  );
}
