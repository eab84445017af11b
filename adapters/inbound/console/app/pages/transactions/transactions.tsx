import { messages } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { CertificateOf, DeviceOf, DomainOf } from '../../parts/display/reference.tsx';
import { Absent, Code, Text } from '../../parts/display/text.tsx';
import { badgeColumn, codeColumn, momentColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    certificate: 'Certificate',
    cr: 'further certificate',
    device: 'Device',
    domain: 'Domain',
    done: 'Done',
    expired: 'Expired',
    ir: 'first certificate',
    kur: 'renewal',
    lead: 'Requests of devices over CMP, from the first message to the confirmation.',
    name: 'Transaction',
    none: 'No CMP transactions yet',
    noneNext: 'The page of a device shows the commands for CMP.',
    operation: 'Operation',
    p10cr: 'by PKCS #10',
    pending: 'Pending approval',
    profile: 'Profile',
    rejected: 'Rejected',
    rr: 'revocation',
    title: 'CMP transactions',
    waiting: 'Waiting for confirmation',
    when: 'Begun',
  },
  {
    certificate: 'Zertifikat',
    cr: 'weiteres Zertifikat',
    device: 'Gerät',
    domain: 'Domäne',
    done: 'Fertig',
    expired: 'Abgelaufen',
    ir: 'erstes Zertifikat',
    kur: 'Erneuerung',
    lead: 'Anfragen von Geräten über CMP, von der ersten Nachricht bis zur Bestätigung.',
    name: 'Vorgang',
    none: 'Noch keine CMP-Vorgänge',
    noneNext: 'Die Befehle für CMP stehen auf der Seite des Geräts.',
    operation: 'Vorgang',
    p10cr: 'mit PKCS #10',
    pending: 'Wartet auf Genehmigung',
    profile: 'Profil',
    rejected: 'Abgelehnt',
    rr: 'Sperrung',
    title: 'CMP-Vorgänge',
    waiting: 'Wartet auf Bestätigung',
    when: 'Begonnen',
  },
);

const operations = ['ir', 'cr', 'kur', 'p10cr', 'rr'] as const;
const states = ['pending', 'waiting', 'done', 'rejected', 'expired'] as const;
const looks = { pending: 'warn', waiting: 'warn', done: 'good', rejected: 'bad', expired: 'calm' } as const;

interface Transaction {
  readonly id: number;
  readonly created_at: string;
  readonly transaction_id: string;
  readonly operation: (typeof operations)[number];
  readonly state: (typeof states)[number];
  readonly expires_at: string;
  readonly device: number | null;
  readonly domain: number;
  readonly cert_profile: string | null;
  readonly certificate: number | null;
}

export const transactions: Page = {
  path: '/transactions',
  title: () => m('title'),
  needs: 'certificates.read',
  navigation: { group: 'system', order: 60 },
  view: () => (
    <ListPage<Transaction>
      path="/api/transactions/"
      title={m('title')}
      lead={m('lead')}
      filters={[
        choiceFilter('state', words('state'), states, m),
        {
          name: 'operation',
          title: m('operation'),
          options: operations.map((one) => [one, `${one}: ${m(one)}`] as const),
        },
        ...periodFilters(),
      ]}
      columns={[
        codeColumn('transaction_id', m('name')),
        {
          name: 'operation',
          title: m('operation'),
          orderable: true,
          cell: ({ operation }) => (
            <span>
              <Code of={operation} /> {m(operation)}
            </span>
          ),
        },
        badgeColumn('state', words('state'), looks, m),
        { name: 'device', title: m('device'), cell: ({ device }) => <DeviceOf id={device} /> },
        { name: 'domain', title: m('domain'), cell: ({ domain }) => <DomainOf id={domain} /> },
        {
          name: 'cert_profile',
          title: m('profile'),
          cell: ({ cert_profile: name }) => (name === null ? <Absent /> : <Text of={name} />),
        },
        {
          name: 'certificate',
          title: m('certificate'),
          cell: ({ certificate }) => <CertificateOf id={certificate} />,
        },
        momentColumn('created_at', m('when')),
      ]}
      empty={<Empty title={m('none')} next={m('noneNext')} />}
    />
  ),
};
