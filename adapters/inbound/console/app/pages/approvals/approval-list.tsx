import { signal } from '@preact/signals';
import { messages } from '../../language.ts';
import { Badge } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { momentColumn, textColumn } from '../../parts/lists/columns.tsx';
import type { Column } from '../../parts/lists/list.tsx';
import { words } from '../../words.ts';

export const m = messages(
  {
    asked: 'Requested',
    by: 'Requester',
    decided: 'Approvals',
    domain: 'Domain',
    expired: 'Expired',
    granted: 'Granted',
    history: 'History',
    inbox: 'Pending',
    issuance: 'New certificate',
    issued: 'Issued',
    management: 'Console or API',
    nothingWaits: 'No pending approvals',
    nothingWaitsNext: 'Requests that match an approval policy appear here. Past requests are under History.',
    nothingYet: 'No requests yet',
    of: '{n} of {needed}',
    operation: 'Operation',
    policies: 'Policies',
    profile: 'Profile',
    protocol: 'Protocol',
    rejected: 'Rejected',
    renewal: 'Renewal',
    revocation: 'Revocation',
    revoked: 'Revoked',
    subject: 'Subject',
    superseded: 'Superseded',
    tabs: 'Requests',
    title: 'Approvals',
    waiting: 'Pending',
    waitingCount: { one: '{n} pending approval', other: '{n} pending approvals' },
  },
  {
    asked: 'Beantragt',
    by: 'Antragsteller',
    decided: 'Genehmigungen',
    domain: 'Domäne',
    expired: 'Abgelaufen',
    granted: 'Bewilligt',
    history: 'Verlauf',
    inbox: 'Offen',
    issuance: 'Neues Zertifikat',
    issued: 'Ausgestellt',
    management: 'Konsole oder API',
    nothingWaits: 'Keine offenen Genehmigungen',
    nothingWaitsNext:
      'Hier erscheinen Anträge, für die eine Genehmigungsrichtlinie gilt. Frühere Anträge stehen unter Verlauf.',
    nothingYet: 'Noch keine Anträge',
    of: '{n} von {needed}',
    operation: 'Vorgang',
    policies: 'Richtlinien',
    profile: 'Profil',
    protocol: 'Protokoll',
    rejected: 'Abgelehnt',
    renewal: 'Erneuerung',
    revocation: 'Sperrung',
    revoked: 'Gesperrt',
    subject: 'Inhaber',
    superseded: 'Abgelöst',
    tabs: 'Anträge',
    title: 'Genehmigungen',
    waiting: 'Offen',
    waitingCount: { one: '{n} offene Genehmigung', other: '{n} offene Genehmigungen' },
  },
);

export const states = [
  'waiting',
  'granted',
  'issued',
  'revoked',
  'rejected',
  'expired',
  'superseded',
] as const;
export const operations = ['issuance', 'renewal', 'revocation'] as const;
export const protocols = ['est', 'rest', 'cmp', 'management'] as const;
export type Operation = (typeof operations)[number];
export type Protocol = (typeof protocols)[number];

export interface Approval {
  readonly id: number;
  readonly created_at: string;
  readonly state: (typeof states)[number];
  readonly expires_at: string;
  readonly operation: Operation;
  readonly protocol: Protocol;
  readonly domain_name: string;
  readonly cert_profile_name: string | null;
  readonly requester: string;
  readonly requester_name: string;
  readonly subject: string;
  readonly request_hash: string;
  readonly outcome_hash: string;
  readonly approvers: number;
  readonly approvals: number;
}

export const protocolName = (protocol: Protocol): string =>
  protocol === 'management' ? m('management') : protocol.toUpperCase();

const looks = { waiting: 'warn', granted: 'good', issued: 'good', rejected: 'bad' } as const;

export const ApprovalState = ({ of }: { readonly of: Approval['state'] }) => (
  <Badge look={of in looks ? looks[of as keyof typeof looks] : 'calm'}>{m(of)}</Badge>
);

export const columns = (): readonly Column<Approval>[] => [
  textColumn('subject', m('subject')),
  {
    name: 'state',
    title: words('state'),
    orderable: true,
    cell: ({ state }) => <ApprovalState of={state} />,
  },
  {
    name: 'approvals',
    title: m('decided'),
    cell: ({ approvals, approvers }) => m('of', { n: approvals, needed: approvers }),
  },
  { name: 'operation', title: m('operation'), orderable: true, cell: ({ operation }) => m(operation) },
  {
    name: 'domain',
    title: m('domain'),
    orderable: true,
    cell: ({ domain_name }) => <Text of={domain_name} />,
  },
  {
    name: 'protocol',
    title: m('protocol'),
    orderable: true,
    cell: ({ protocol }) => protocolName(protocol),
  },
  { name: 'requester', title: m('by'), cell: ({ requester_name }) => <Text of={requester_name} /> },
  momentColumn('created_at', m('asked')),
];

export const href = ({ id }: Approval): string => `/approvals/${id}`;

/** Counts decisions made here. */
export const decided = signal(0);
