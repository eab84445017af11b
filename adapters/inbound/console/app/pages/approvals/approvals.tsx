import { useEffect } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { number } from '../../language.ts';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { Empty } from '../../parts/display/answer.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import { choiceFilter, periodFilters } from '../../parts/lists/filters.ts';
import { List, useRound } from '../../parts/lists/list.tsx';
import { type Page, path } from '../../router.ts';
import { may, session } from '../../session.ts';
import { words } from '../../words.ts';
import {
  type Approval,
  columns,
  decided,
  href,
  m,
  operations,
  protocolName,
  protocols,
  states,
} from './approval-list.tsx';
import { DecideSeveral, type Verb, verbTitle } from './decide-several.tsx';

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

/** The oldest request first. An account does not decide on its own requests. */
function Inbox() {
  const { dialog, open } = useDialog();
  const { round, again } = useRound();
  const me = session.value.is === 'signedIn' ? `user:${session.value.account.id}` : '';
  const decide = (verb: Verb, of: readonly Approval[], clear: () => void): void =>
    open((close) => (
      <DecideSeveral
        of={of}
        verb={verb}
        after={() => {
          clear();
          again();
        }}
        close={close}
      />
    ));
  return (
    <>
      <List<Approval>
        path="/api/approvals/"
        title={m('inbox')}
        fixed={{ state: 'waiting', ordering: 'created_at' }}
        searchable={false}
        round={round}
        href={href}
        columns={columns()
          .filter(({ name }) => name !== 'state')
          .map((column) => ({ ...column, orderable: false }))}
        selection={
          may('approvals.decide')
            ? {
                name: ({ subject }) => subject,
                isSelectable: ({ requester }) => requester !== me,
                actions: (records, clear) => (
                  <>
                    <button type="button" class="main" onClick={() => decide('approve', records, clear)}>
                      {verbTitle('approve')}
                    </button>
                    <button type="button" class="danger" onClick={() => decide('reject', records, clear)}>
                      {verbTitle('reject')}
                    </button>
                  </>
                ),
              }
            : undefined
        }
        empty={<Empty title={m('nothingWaits')} next={m('nothingWaitsNext')} />}
      />
      {dialog}
    </>
  );
}

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
