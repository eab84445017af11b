import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { messages, number } from '../../language.ts';
import { Empty } from '../../parts/display/answer.tsx';
import { Badge, Heading } from '../../parts/display/facts.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { Text } from '../../parts/display/text.tsx';
import { momentColumn, textColumn } from '../../parts/lists/columns.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { type Column, List } from '../../parts/lists/list.tsx';
import { type Page, path } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';

export const m = messages(
  {
    asked: 'Asked for',
    by: 'By',
    decided: 'Approved',
    domain: 'Domain',
    expires: 'Ends',
    expired: 'Expired',
    granted: 'Granted',
    history: 'History',
    inbox: 'Waiting',
    issuance: 'New certificate',
    issued: 'Issued',
    management: 'Console or API',
    nothingWaits: 'Nothing is waiting',
    nothingWaitsNext:
      'Requests that a policy of this service holds back are decided here. All that was ever decided is under History.',
    nothingYet: 'Nothing has been held back yet',
    of: '{n} of {needed}',
    operation: 'What',
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
    waiting: 'Waiting',
    waitingCount: { one: '{n} request is waiting', other: '{n} requests are waiting' },
  },
  {
    asked: 'Angefragt',
    by: 'Von',
    decided: 'Genehmigt',
    domain: 'Domäne',
    expires: 'Endet',
    expired: 'Abgelaufen',
    granted: 'Genehmigt',
    history: 'Verlauf',
    inbox: 'Wartend',
    issuance: 'Neues Zertifikat',
    issued: 'Ausgestellt',
    management: 'Konsole oder API',
    nothingWaits: 'Nichts wartet',
    nothingWaitsNext:
      'Hier wird über Anträge entschieden, die eine Richtlinie zurückhält. Alles Entschiedene steht unter Verlauf.',
    nothingYet: 'Noch wurde nichts zurückgehalten',
    of: '{n} von {needed}',
    operation: 'Was',
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
    waiting: 'Wartet',
    waitingCount: { one: '{n} Antrag wartet', other: '{n} Anträge warten' },
  },
);

const states = ['waiting', 'granted', 'issued', 'revoked', 'rejected', 'expired', 'superseded'] as const;
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
  readonly approvers: number;
  readonly approvals: number;
}

export const protocolName = (protocol: Protocol): string =>
  protocol === 'management' ? m('management') : protocol.toUpperCase();

const looks = { waiting: 'warn', granted: 'good', issued: 'good', rejected: 'bad' } as const;

export const ApprovalState = ({ of }: { readonly of: Approval['state'] }) => (
  <Badge look={of in looks ? looks[of as keyof typeof looks] : 'calm'}>{m(of)}</Badge>
);

const columns = (): readonly Column<Approval>[] => [
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

const href = ({ id }: Approval): string => `/approvals/${id}`;

export const approvals: Page = {
  path: '/approvals',
  title: () => m('title'),
  needs: 'approvals.read',
  navigation: { group: 'attention', order: 10, mark: Mark },
  view: () => (
    <>
      <Heading
        title={m('title')}
        actions={
          <a class="button" href="/approvals/policies">
            {m('policies')}
          </a>
        }
      />
      <Tabs
        label={m('tabs')}
        tabs={[
          { name: 'waiting', title: m('inbox'), view: () => <Inbox /> },
          { name: 'history', title: m('history'), view: () => <History /> },
        ]}
      />
    </>
  ),
};

/** Those that wait longest first. */
const Inbox = () => (
  <List<Approval>
    path="/api/approvals/"
    title={m('inbox')}
    fixed={{ state: 'waiting', ordering: 'created_at' }}
    searchable={false}
    href={href}
    columns={columns()
      .filter(({ name }) => name !== 'state')
      .map((column) => ({ ...column, orderable: false }))}
    empty={<Empty title={m('nothingWaits')} next={m('nothingWaitsNext')} />}
  />
);

const History = () => (
  <List<Approval>
    path="/api/approvals/"
    title={m('history')}
    href={href}
    columns={columns()}
    filters={[
      choiceFilter('state', words('state'), states, m),
      choiceFilter('operation', m('operation'), operations, m),
      choiceFilter('protocol', m('protocol'), protocols, protocolName),
      ...periodFilters(),
    ]}
    empty={<Empty title={m('nothingYet')} />}
  />
);

const most = 100;
const every = 60_000;

/** Counts decisions made here. */
export const decided = signal(0);

/** How many wait, asked again with every page and decision, and every minute. */
function Mark() {
  const { data, reload } = useRead<readonly unknown[]>(
    may('approvals.read') ? `/api/approvals/?state=waiting&limit=${most}` : undefined,
  );
  const seen = `${path.value} ${decided.value}`;
  useEffect(() => {
    const timer = setInterval(reload, every);
    return () => clearInterval(timer);
  }, []);
  useEffect(reload, [seen]);
  const n = data?.length ?? 0;
  return n === 0 ? null : (
    <span class="mark">
      <span aria-hidden="true">{n === most ? `${number(most - 1)}+` : number(n)}</span>
      <span class="heard">, {m('waitingCount', { n })}</span>
    </span>
  );
}
