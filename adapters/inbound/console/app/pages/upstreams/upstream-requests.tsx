import { messages } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { CaOf, CertificateOf, DeviceOf } from '../../parts/display/reference.tsx';
import { Absent, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { badgeColumn, momentColumn, numberColumn, textColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { List } from '../../parts/lists/list.tsx';
import { words } from '../../words.ts';

const states = ['asked', 'pending', 'received', 'issued', 'failed'] as const;
const looks = { asked: 'warn', pending: 'warn', received: 'warn', issued: 'good', failed: 'bad' } as const;
/** As the filter of the API writes the requests that have no result yet. */
export const openStates = 'asked,pending,received';

const m = messages(
  {
    asked: 'No response yet',
    attempts: 'Consecutive failures',
    ca: 'Issuing CA',
    certificate: 'Certificate',
    device: 'Device',
    failed: 'Failed',
    issued: 'Issued',
    issuer: 'Upstream CA',
    next: 'Next attempt',
    none: 'No requests to upstream CAs yet',
    noneNext: 'Requests appear here when devices of a domain with an upstream CA enrol.',
    [openStates]: 'Pending (all)',
    pending: 'Pending at the upstream CA',
    reason: 'Last error',
    received: 'Waiting for confirmation',
    subject: 'Subject',
    title: 'Requests',
    when: 'First requested',
  },
  {
    asked: 'Noch keine Antwort',
    attempts: 'Fehlschläge in Folge',
    ca: 'Ausstellende CA',
    certificate: 'Zertifikat',
    device: 'Gerät',
    failed: 'Fehlgeschlagen',
    issued: 'Ausgestellt',
    issuer: 'Upstream-CA',
    next: 'Nächster Versuch',
    none: 'Noch keine Anträge an Upstream-CAs',
    noneNext: 'Anträge erscheinen hier, wenn Geräte einer Domäne mit Upstream-CA Zertifikate beantragen.',
    [openStates]: 'Offen (alle)',
    pending: 'Offen bei der Upstream-CA',
    reason: 'Letzter Fehler',
    received: 'Zu bestätigen',
    subject: 'Inhaber',
    title: 'Anträge',
    when: 'Zuerst beantragt',
  },
);

export const requestsTitle = (): string => m('title');

interface UpstreamRequest {
  readonly id: number;
  readonly created_at: string;
  readonly issuer: string;
  readonly issuing_ca: number | null;
  readonly state: (typeof states)[number];
  readonly subject: string;
  readonly attempts: number;
  readonly next_at: string;
  readonly reason: string | null;
  readonly device: number | null;
  readonly certificate: number | null;
}

const isOpen = ({ state }: UpstreamRequest): boolean => state !== 'issued' && state !== 'failed';

/** Requests that this service has made to upstream CAs. */
export const UpstreamRequests = () => (
  <List<UpstreamRequest>
    path="/api/upstream-requests/"
    title={m('title')}
    filters={[
      choiceFilter('state', words('state'), [openStates, ...states], m),
      { name: 'issuer', title: m('issuer') },
      ...periodFilters(),
    ]}
    columns={[
      textColumn('subject', m('subject')),
      badgeColumn('state', words('state'), looks, m),
      textColumn('issuer', m('issuer')),
      { name: 'issuing_ca', title: m('ca'), cell: ({ issuing_ca }) => <CaOf id={issuing_ca} /> },
      numberColumn('attempts', m('attempts')),
      {
        name: 'next_at',
        title: m('next'),
        orderable: true,
        cell: (request) => (isOpen(request) ? <When at={request.next_at} /> : <Absent />),
      },
      {
        name: 'reason',
        title: m('reason'),
        wraps: true,
        cell: ({ reason }) => reason !== null && <Text of={reason} />,
      },
      { name: 'device', title: m('device'), cell: ({ device }) => <DeviceOf id={device} /> },
      {
        name: 'certificate',
        title: m('certificate'),
        cell: ({ certificate }) => <CertificateOf id={certificate} />,
      },
      momentColumn('created_at', m('when')),
    ]}
    empty={<Empty title={m('none')} next={m('noneNext')} />}
  />
);
