import { write } from '../../api.ts';
import { messages } from '../../language.ts';
import { type Failure, SeveralDialog } from '../../parts/dialogs/several-dialog.tsx';
import { tell } from '../../parts/dialogs/toast.tsx';
import { explain } from '../../parts/display/answer.tsx';
import { Text } from '../../parts/display/text.tsx';
import { type Approval, m as a, decided } from './approval-list.tsx';

const m = messages(
  {
    approve: 'Approve',
    approved: { one: '{n} request approved.', other: '{n} requests approved.' },
    approveTitle: { one: 'Approve {n} request?', other: 'Approve {n} requests?' },
    comment: 'Comment',
    commentHint: 'Other approvers see the comment, and it is kept with each request.',
    lead: 'Your decision applies to each of these requests as listed. Open a request to see its contents.',
    problems: 'No decision was recorded for these requests',
    reject: 'Reject',
    rejected: { one: '{n} request rejected.', other: '{n} requests rejected.' },
    rejectTitle: { one: 'Reject {n} request?', other: 'Reject {n} requests?' },
  },
  {
    approve: 'Genehmigen',
    approved: { one: '{n} Antrag genehmigt.', other: '{n} Anträge genehmigt.' },
    approveTitle: { one: '{n} Antrag genehmigen?', other: '{n} Anträge genehmigen?' },
    comment: 'Kommentar',
    commentHint: 'Andere Genehmigende sehen den Kommentar, und er bleibt bei jedem Antrag gespeichert.',
    lead: 'Ihre Entscheidung gilt für jeden dieser Anträge. Öffnen Sie einen Antrag, um seinen Inhalt zu sehen.',
    problems: 'Für diese Anträge wurde keine Entscheidung gespeichert',
    reject: 'Ablehnen',
    rejected: { one: '{n} Antrag abgelehnt.', other: '{n} Anträge abgelehnt.' },
    rejectTitle: { one: '{n} Antrag ablehnen?', other: '{n} Anträge ablehnen?' },
  },
);

export type Verb = 'approve' | 'reject';
export const verbTitle = (verb: Verb): string => m(verb);

/** Approves or rejects requests, each as it was listed: the digests make sure of that. */
export const DecideSeveral = ({
  of,
  verb,
  after,
  close,
}: {
  readonly of: readonly Approval[];
  readonly verb: Verb;
  readonly after: () => void;
  readonly close: () => void;
}) => (
  <SeveralDialog
    of={of}
    title={m(verb === 'approve' ? 'approveTitle' : 'rejectTitle', { n: of.length })}
    lead={m('lead')}
    name={({ subject }) => subject}
    href={({ id }) => `/approvals/${id}`}
    row={({ id, subject, operation, domain_name, cert_profile_name, requester_name }) => (
      <>
        <a href={`/approvals/${id}`} target="_blank" rel="noreferrer">
          <Text of={subject} />
        </a>
        <span class="quiet">
          <Text
            of={[a(operation), domain_name, cert_profile_name, requester_name]
              .filter((one) => one !== null && one !== '')
              .join(' · ')}
          />
        </span>
      </>
    )}
    action={m(verb)}
    danger={verb === 'reject' ? { object: '', isFinal: () => false } : undefined}
    fields={[{ name: 'comment', title: m('comment'), hint: m('commentHint'), type: 'area', maxLength: 2000 }]}
    send={async (values) => {
      const failures: Failure[] = [];
      for (const { id, request_hash, outcome_hash } of of) {
        try {
          await write('POST', `/api/approvals/${id}/${verb}/`, { ...values, request_hash, outcome_hash });
        } catch (error) {
          const { what, said } = explain(error);
          failures.push({ id, detail: said === '' ? what : said });
        }
      }
      const done = of.length - failures.length;
      if (done > 0) tell(m(verb === 'approve' ? 'approved' : 'rejected', { n: done }));
      decided.value++;
      after();
      return failures;
    }}
    failed={m('problems')}
    close={close}
  />
);
