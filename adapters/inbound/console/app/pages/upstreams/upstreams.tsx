import { messages } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { CaOf, CertificateOf, DeviceOf } from '../../parts/display/reference.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { badgeColumn, momentColumn, numberColumn, textColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { ListPage } from '../../parts/lists/list-page.tsx';
import type { Page } from '../../router.ts';
import { words } from '../../words.ts';

const m = messages(
  {
    asked: 'Not answered yet',
    attempts: 'Failures in a row',
    ca: 'Certificate authority',
    certificate: 'Certificate',
    device: 'Device',
    failed: 'Failed',
    issued: 'Issued',
    issuer: 'Upstream',
    lead: 'Certificates that CAs elsewhere are asked for. What is open is asked for again by itself.',
    next: 'Asked again',
    none: 'No CA elsewhere has been asked yet',
    noneNext: 'Upstream CAs are named in the configuration of the service.',
    pending: 'The upstream is deciding',
    reason: 'Why not',
    received: 'To be confirmed',
    subject: 'Subject',
    title: 'Upstream requests',
    when: 'First asked',
  },
  {
    asked: 'Noch ohne Antwort',
    attempts: 'Fehlschläge in Folge',
    ca: 'Zertifizierungsstelle',
    certificate: 'Zertifikat',
    device: 'Gerät',
    failed: 'Gescheitert',
    issued: 'Ausgestellt',
    issuer: 'Vorgelagerte Stelle',
    lead: 'Zertifikate, um die Stellen anderswo gebeten werden. Nach Offenem wird von selbst wieder gefragt.',
    next: 'Nächste Nachfrage',
    none: 'Noch wurde keine Stelle anderswo gefragt',
    noneNext: 'Vorgelagerte Stellen stehen in der Konfiguration des Dienstes.',
    pending: 'Die Stelle entscheidet',
    reason: 'Warum nicht',
    received: 'Zu bestätigen',
    subject: 'Inhaber',
    title: 'Anfragen an andere Stellen',
    when: 'Zuerst gefragt',
  },
);

const states = ['asked', 'pending', 'received', 'issued', 'failed'] as const;
const looks = { asked: 'warn', pending: 'warn', received: 'warn', issued: 'good', failed: 'bad' } as const;

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

export const upstreams: Page = {
  path: '/upstreams',
  title: () => m('title'),
  needs: 'certificates.read',
  navigation: { group: 'system', order: 70 },
  view: () => (
    <ListPage<UpstreamRequest>
      path="/api/upstream-requests/"
      title={m('title')}
      lead={m('lead')}
      filters={[
        choiceFilter('state', words('state'), states, m),
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
          cell: (request) => (isOpen(request) ? <When at={request.next_at} /> : <span class="quiet">–</span>),
        },
        {
          name: 'reason',
          title: m('reason'),
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
  ),
};
