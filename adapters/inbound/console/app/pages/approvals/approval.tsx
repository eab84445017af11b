import { write } from '../../api.ts';
import { messages, number } from '../../language.ts';
import { Copy } from '../../parts/dialogs/action.tsx';
import { useDialog } from '../../parts/dialogs/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { save } from '../../parts/display/download.tsx';
import { Card } from '../../parts/display/facts.tsx';
import { type Found, RecordHeading, recordView } from '../../parts/display/record.tsx';
import { Text } from '../../parts/display/text.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import { Differences, Portraits } from './approval-contents.tsx';
import { m as a, decided } from './approval-list.tsx';
import { type Approval, Decisions, Request, Revocations } from './approval-request.tsx';

const m = messages(
  {
    approve: 'Approve',
    approveTitle: 'Approve this request?',
    comment: 'Comment',
    commentHint: 'Other approvers see the comment, and it is kept with the request.',
    custodian:
      'You registered or changed this device, or have seen its secrets. Another account has to approve its request.',
    mine: 'This is your own request. Another approver has to decide on it.',
    pem: 'Original request',
    reject: 'Reject',
    rejectTitle: 'Reject this request?',
    told: 'Your decision has been saved.',
    twice: 'You have already decided on this request. It needs the decision of another approver.',
  },
  {
    approve: 'Genehmigen',
    approveTitle: 'Diesen Antrag genehmigen?',
    comment: 'Kommentar',
    commentHint: 'Andere Genehmigende sehen den Kommentar, und er bleibt beim Antrag gespeichert.',
    custodian:
      'Sie haben dieses Gerät angelegt oder geändert oder seine Geheimnisse gesehen. Ein anderes Konto muss den Antrag genehmigen.',
    mine: 'Das ist Ihr eigener Antrag. Über ihn muss jemand anderes entscheiden.',
    pem: 'Ursprünglicher Antrag',
    reject: 'Ablehnen',
    rejectTitle: 'Diesen Antrag ablehnen?',
    told: 'Ihre Entscheidung wurde gespeichert.',
    twice: 'Sie haben über diesen Antrag schon entschieden. Es fehlt die Entscheidung einer weiteren Person.',
  },
);

const obstacles = {
  own_request: 'mine',
  decided_already: 'twice',
  device_custodian: 'custodian',
} as const;

type Verb = 'approve' | 'reject';

export const approval: Page = {
  path: '/approvals/:id',
  title: () => a('title'),
  needs: 'approvals.read',
  view: recordView('/api/approvals/', Shown),
};

function Shown({ of: found, reload }: Found<Approval>) {
  const { dialog, open } = useDialog();
  const { subject, state, obstacle, content, revocations, request } = found;
  const isOpen = state === 'waiting' && may('approvals.decide');
  const mayReject = obstacle === null || obstacle === 'device_custodian';
  const decide = (verb: Verb): void =>
    open((close) => <Decide of={found} verb={verb} after={reload} close={close} />);
  return (
    <>
      <RecordHeading
        name={subject}
        up={{ href: '/approvals', title: a('title') }}
        actions={
          isOpen &&
          mayReject && (
            <>
              <button
                type="button"
                class="main"
                disabled={obstacle !== null}
                aria-describedby={obstacle === null ? undefined : 'obstacle'}
                onClick={() => decide('approve')}
              >
                {m('approve')}
              </button>
              <button type="button" class="danger" onClick={() => decide('reject')}>
                {m('reject')}
              </button>
            </>
          )
        }
      />
      {isOpen && obstacle !== null && (
        <p class="notice" id="obstacle">
          {m(obstacles[obstacle])}
        </p>
      )}
      <div class="cards">
        <Request of={found} />
        <Decisions of={found} />
        {content && <Differences of={content} />}
        {content && <Portraits of={content} />}
        {revocations && <Revocations of={revocations} />}
        {request !== null && <Pem of={request} />}
      </div>
      {dialog}
    </>
  );
}

const Pem = ({ of }: { readonly of: string }) => (
  <Card
    title={m('pem')}
    wide
    actions={
      <span class="buttons">
        <Copy text={of} label={m('pem')} />
        <button
          type="button"
          class="plain"
          onClick={() => save(new Blob([of], { type: 'application/x-pem-file' }), 'request.pem')}
        >
          {words('download')}
        </button>
      </span>
    }
  >
    <details>
      <summary>{words('showAll', { n: number(of.length) })}</summary>
      <pre>{of}</pre>
    </details>
  </Card>
);

/** The digests say what was seen here: another request, or another outcome, is not decided on by mistake. */
const Decide = ({
  of: { id, subject, request_hash, outcome_hash },
  verb,
  after,
  close,
}: {
  readonly of: Approval;
  readonly verb: Verb;
  readonly after: () => void;
  readonly close: () => void;
}) => (
  <FormDialog
    title={m(verb === 'approve' ? 'approveTitle' : 'rejectTitle')}
    action={m(verb)}
    danger={verb === 'reject' ? { object: subject, isFinal: () => false } : undefined}
    fields={[{ name: 'comment', title: m('comment'), hint: m('commentHint'), type: 'area', maxLength: 2000 }]}
    send={async (values) => {
      await write('POST', `/api/approvals/${id}/${verb}/`, { ...values, request_hash, outcome_hash });
      decided.value++;
      after();
    }}
    done={m('told')}
    close={close}
  >
    {verb === 'approve' && (
      <p>
        <Text of={subject} />
      </p>
    )}
  </FormDialog>
);
