import type { ComponentChildren } from 'preact';
import { messages, moment } from '../../language.ts';
import type { Certificate } from '../../records.ts';
import { Empty } from '../display/answer.tsx';
import { Badge } from '../display/facts.tsx';
import { DomainOf } from '../display/reference.tsx';
import { Text } from '../display/text.tsx';
import { codeColumn, momentColumn } from '../lists/columns.tsx';
import { choiceFilter } from '../lists/filters.ts';
import { List, type ListProps } from '../lists/list.tsx';

const m = messages(
  {
    domain: 'Domain',
    ends: 'Good until',
    expired: 'Expired',
    good: 'Good',
    hold: 'On hold',
    name: 'Name',
    noCertificates: 'There are no certificates yet',
    noCertificatesNext: 'They come here when devices enrol, or when one is issued by hand.',
    protocol: 'Came by',
    revoked: 'Revoked',
    serialNumber: 'Serial number',
    soon: 'Ends soon',
    state: 'State',
    title: 'Certificates',
  },
  {
    domain: 'Domäne',
    ends: 'Gültig bis',
    expired: 'Abgelaufen',
    good: 'Gültig',
    hold: 'Ausgesetzt',
    name: 'Name',
    noCertificates: 'Es gibt noch keine Zertifikate',
    noCertificatesNext:
      'Sie erscheinen hier, wenn Geräte sich anmelden oder eines von Hand ausgestellt wird.',
    protocol: 'Kam über',
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
    { name: 'protocol', title: m('protocol'), cell: ({ protocol }) => <Text of={protocol} /> },
  ];
  return (
    <List<Certificate>
      path="/api/certificates/"
      title={m('title')}
      fixed={fixed}
      searchable={!('device' in fixed)}
      href={({ id }) => `/certificates/${id}`}
      filters={[
        choiceFilter('status', m('state'), ['good', 'hold', 'revoked'], m),
        ...('device' in fixed ? [] : [{ name: 'serial_number', title: m('serialNumber') }]),
      ]}
      columns={columns}
      empty={empty ?? <Empty title={m('noCertificates')} next={m('noCertificatesNext')} />}
    />
  );
}
