import { ApiError, read } from '../../api.ts';
import { type Asked, useAsked, useRead } from '../../data.ts';
import { messages, moment, number } from '../../language.ts';
import { Answer } from '../../parts/display/answer.tsx';
import { Badge, Card, Heading } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import type { CaPosition } from '../../records.ts';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { CrlState, isPast } from '../cas/cas.tsx';
import { Expiring, Inventory, Issued } from './overview-certificates.tsx';

const m = messages(
  {
    approvals: 'Waiting for a decision',
    approvalsNone: 'Nothing is waiting.',
    crls: 'Revocation lists',
    failed: 'Refused and failed, 24 hours',
    failedNone: 'Nothing was refused, and nothing failed.',
    health: 'Health',
    notReached: 'Problem',
    reached: 'OK',
    tasks: 'All of them',
    title: 'Overview',
  },
  {
    approvals: 'Wartet auf eine Entscheidung',
    approvalsNone: 'Nichts wartet.',
    crls: 'Sperrlisten',
    failed: 'Abgelehnt und gescheitert, 24 Stunden',
    failedNone: 'Nichts wurde abgelehnt, und nichts ist gescheitert.',
    health: 'Zustand',
    notReached: 'Störung',
    reached: 'OK',
    tasks: 'Alle zeigen',
    title: 'Übersicht',
  },
);

interface Health {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

interface Failures {
  readonly events: readonly { readonly action: string; readonly outcome: string; readonly count: number }[];
}

/** A card for each thing that the role may know of; what this service does not offer is left out. */
export const overview: Page = {
  path: '/',
  title: () => m('title'),
  navigation: { group: 'attention', order: 0 },
  view: () => (
    <>
      <Heading title={m('title')} />
      <div class="cards small">
        {may('approvals.read') && <Approvals />}
        <HealthCard />
        {may('audit.read') && <Failed />}
        {may('cas.read') && <Crls />}
        {may('certificates.read') && <Inventory />}
        {may('certificates.read') && <Expiring />}
        {may('certificates.read') && <Issued />}
      </div>
    </>
  ),
};

const isMissing = ({ error }: Asked<unknown>): boolean => error instanceof ApiError && error.status === 404;

function Approvals() {
  const asked = useRead<readonly unknown[]>('/api/approvals/?state=waiting&limit=100');
  if (isMissing(asked)) return null;
  return (
    <Card title={m('approvals')}>
      <Answer of={asked}>
        {({ length }) =>
          length === 0 ? (
            <p class="quiet">{m('approvalsNone')}</p>
          ) : (
            <div class="figures">
              <a href="/approvals">
                <strong>{length === 100 ? '100+' : number(length)}</strong>
                <span class="quiet">{m('tasks')}</span>
              </a>
            </div>
          )
        }
      </Answer>
    </Card>
  );
}

/** What is out of reach is answered with 503, and is an answer all the same. */
async function readHealth(abort: AbortSignal): Promise<Health> {
  try {
    return await read<Health>('/api/health/', abort);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return error.body as Health;
    throw error;
  }
}

function HealthCard() {
  const asked = useAsked('health', readHealth);
  return (
    <Card title={m('health')}>
      <Answer of={asked}>
        {({ checks }) => (
          <ul class="plain-list">
            {Object.entries(checks).map(([name, check]) => (
              <li key={name}>
                <Text of={name} />
                <Badge look={check.ok ? 'good' : 'bad'}>{check.ok ? m('reached') : m('notReached')}</Badge>
                {!check.ok && check.detail !== undefined && <span class="quiet">{check.detail}</span>}
              </li>
            ))}
          </ul>
        )}
      </Answer>
    </Card>
  );
}

const soon = 2 * 86_400_000;

function Crls() {
  const asked = useRead<readonly CaPosition[]>('/api/ca-hierarchy/');
  return (
    <Card title={m('crls')}>
      <Answer of={asked}>
        {(found) => {
          // The most urgent first.
          const due = (ca: CaPosition): number =>
            ca.crl ? moment(ca.crl.next_update).getTime() : Number.POSITIVE_INFINITY;
          const ordered = [...found].sort((a, b) => due(a) - due(b)).slice(0, 8);
          return (
            <ul class="plain-list">
              {ordered.map((ca) => (
                <li key={ca.id}>
                  <a href={`/cas/${ca.id}`}>
                    <Text of={ca.unique_name} />
                  </a>
                  <span>
                    {ca.crl && !isPast(ca.crl.next_update) && due(ca) - Date.now() < soon && (
                      <Badge look="warn">!</Badge>
                    )}
                    <CrlState of={ca} />
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Answer>
    </Card>
  );
}

function Failed() {
  const asked = useRead<Failures>('/api/overview/failures/');
  return (
    <Card title={m('failed')}>
      <Answer of={asked}>
        {({ events }) =>
          events.length === 0 ? (
            <p class="quiet">{m('failedNone')}</p>
          ) : (
            <ul class="plain-list">
              {events.slice(0, 8).map(({ action, outcome, count }) => (
                <li key={`${action} ${outcome}`}>
                  <a
                    href={`/audit?action=${encodeURIComponent(action)}&outcome=${encodeURIComponent(outcome)}`}
                  >
                    <Text of={action} />
                  </a>
                  <span>
                    <Badge look={outcome === 'failed' ? 'bad' : 'warn'}>{outcome}</Badge> {number(count)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}
