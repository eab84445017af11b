import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { write } from '../api.ts';
import { useRead } from '../data.ts';
import { messages, number } from '../language.ts';
import { Copy } from '../parts/action.tsx';
import { Answer } from '../parts/answer.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { save } from '../parts/download.tsx';
import { extensionMeaning } from '../parts/extension-words.ts';
import { Badge, Card, Facts, Heading } from '../parts/facts.tsx';
import { Form } from '../parts/form.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import { When } from '../parts/when.tsx';
import type { Page } from '../router.ts';
import { may, session } from '../session.ts';
import { words } from '../words.ts';
import { ApprovalState, m as a, decided, type Approval as Listed, protocolName } from './approvals.tsx';

const m = messages(
  {
    address: 'From the address',
    approve: 'Approve',
    approved: 'Approved',
    approveTitle: 'Approve this request?',
    asked: 'Asked for',
    because: 'Why',
    certificate: 'Certificate',
    certificateShow: 'Show the certificate',
    comment: 'Comment',
    commentHint: 'Others see it, and it stays on record.',
    critical: 'critical',
    decisions: 'Decisions',
    device: 'Device',
    differences: 'Where the certificate would differ from the request',
    differencesLead: 'What the profile adds, changes and leaves out.',
    differencesNone: 'It would say exactly what was asked for.',
    extensionsNone: 'No extensions',
    field: 'Field',
    fingerprint: 'SHA-256 of the key',
    full: 'What would be issued, in full',
    invalidity: 'Key known to others since',
    issuer: 'Issuer',
    key: 'Key',
    keyNone: 'It is yet to be made here.',
    meaningExpired: 'Nobody decided in time, or the requester has not come for it.',
    meaningGranted: 'The requester gets it when they ask again.',
    meaningIssued: 'The requester has it.',
    meaningRejected: 'One rejection is enough.',
    meaningRevoked: 'The certificates are revoked.',
    meaningSuperseded: 'What would come of it changed, so it is decided on anew.',
    meaningWaiting: 'The requester is told to ask again later.',
    mine: 'You have asked for this yourself. Somebody else has to decide.',
    names: 'Alternative names',
    noDecisions: 'Nobody has decided yet.',
    notAfter: 'Valid until',
    notBefore: 'Valid from',
    nothing: 'nothing',
    outcome: 'Would be issued',
    outcomeHash: 'SHA-256 of the outcome',
    outcomeHashNext: 'What you decide counts for this request and this outcome, and for no other.',
    pem: 'The request as it came',
    policy: 'Held back by the policy',
    progress: '{n} of {needed} approvals',
    reason: 'Reason',
    reject: 'Reject',
    rejected: 'Rejected',
    rejectTitle: 'Reject this request?',
    request: 'The request',
    requested: 'Asked for',
    requester: 'Asked for by',
    requestHash: 'SHA-256 of the request',
    revocations: 'What would be revoked',
    serial: 'Serial number',
    told: 'Your decision is recorded.',
    twice: 'You have decided already. Others have to decide now.',
    until: 'Time to decide until',
    untilGranted: 'Can be fetched until',
    untilOther: 'Answers the request until',
  },
  {
    address: 'Von der Adresse',
    approve: 'Genehmigen',
    approved: 'Genehmigt',
    approveTitle: 'Diesen Antrag genehmigen?',
    asked: 'Angefragt',
    because: 'Warum',
    certificate: 'Zertifikat',
    certificateShow: 'Das Zertifikat zeigen',
    comment: 'Kommentar',
    commentHint: 'Andere sehen ihn, und er bleibt verzeichnet.',
    critical: 'kritisch',
    decisions: 'Entscheidungen',
    device: 'Gerät',
    differences: 'Worin das Zertifikat vom Antrag abwiche',
    differencesLead: 'Was das Profil hinzufügt, ändert und weglässt.',
    differencesNone: 'Es stünde genau das darin, worum gebeten wurde.',
    extensionsNone: 'Keine Erweiterungen',
    field: 'Feld',
    fingerprint: 'SHA-256 des Schlüssels',
    full: 'Was ausgestellt würde, vollständig',
    invalidity: 'Schlüssel anderen bekannt seit',
    issuer: 'Aussteller',
    key: 'Schlüssel',
    keyNone: 'Er wird erst hier erzeugt.',
    meaningExpired: 'Niemand hat rechtzeitig entschieden, oder es wurde nicht abgeholt.',
    meaningGranted: 'Der Antragsteller bekommt es, wenn er wieder fragt.',
    meaningIssued: 'Der Antragsteller hat es.',
    meaningRejected: 'Eine Ablehnung genügt.',
    meaningRevoked: 'Die Zertifikate sind gesperrt.',
    meaningSuperseded: 'Was dabei herauskäme, hat sich geändert; darüber wird neu entschieden.',
    meaningWaiting: 'Dem Antragsteller wird gesagt, er solle später wieder fragen.',
    mine: 'Das haben Sie selbst beantragt. Jemand anderes muss entscheiden.',
    names: 'Alternative Namen',
    noDecisions: 'Noch hat niemand entschieden.',
    notAfter: 'Gültig bis',
    notBefore: 'Gültig ab',
    nothing: 'nichts',
    outcome: 'Würde ausgestellt',
    outcomeHash: 'SHA-256 des Ergebnisses',
    outcomeHashNext: 'Ihre Entscheidung gilt für diesen Antrag und dieses Ergebnis und für nichts anderes.',
    pem: 'Der Antrag, wie er kam',
    policy: 'Zurückgehalten von der Richtlinie',
    progress: '{n} von {needed} Genehmigungen',
    reason: 'Grund',
    reject: 'Ablehnen',
    rejected: 'Abgelehnt',
    rejectTitle: 'Diesen Antrag ablehnen?',
    request: 'Der Antrag',
    requested: 'Angefragt',
    requester: 'Beantragt von',
    requestHash: 'SHA-256 des Antrags',
    revocations: 'Was gesperrt würde',
    serial: 'Seriennummer',
    told: 'Ihre Entscheidung ist verzeichnet.',
    twice: 'Sie haben schon entschieden. Jetzt müssen andere entscheiden.',
    until: 'Zeit zur Entscheidung bis',
    untilGranted: 'Abzuholen bis',
    untilOther: 'Beantwortet den Antrag bis',
  },
);

interface Portrait {
  readonly subject: string;
  readonly subject_alternative_names: readonly string[];
  readonly key_type: string;
  readonly key_fingerprint: string | null;
  readonly extensions: readonly {
    readonly oid: string;
    readonly critical: boolean;
    readonly value: string;
  }[];
}

interface Content {
  readonly requested: Portrait;
  readonly outcome: Portrait & {
    readonly issuer: string;
    readonly not_before: string;
    readonly not_after: string;
  };
  readonly differences: readonly {
    readonly field: string;
    readonly requested: readonly string[];
    readonly outcome: readonly string[];
  }[];
  readonly explanations: readonly {
    readonly field: string;
    readonly value: string;
    readonly because: string;
  }[];
}

interface Revocation {
  readonly certificate: number;
  readonly subject: string;
  readonly serial_number: string;
  readonly reason: string;
  readonly invalidity_date: string | null;
}

interface Decision {
  readonly approver: string;
  readonly approver_name: string;
  readonly verdict: 'approved' | 'rejected';
  readonly comment: string;
  readonly created_at: string;
}

interface Approval extends Listed {
  readonly address: string;
  readonly device: number | null;
  readonly device_name: string | null;
  readonly policy_name: string;
  readonly request_hash: string;
  readonly outcome_hash: string;
  readonly certificate: number | null;
  readonly content: Content | null;
  readonly revocations: readonly Revocation[] | null;
  readonly request: string | null;
  readonly decisions: readonly Decision[];
}

type Verb = 'approve' | 'reject';

export const approval: Page = {
  path: '/approvals/:id',
  title: () => a('title'),
  needs: 'approvals.read',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Approval>(`/api/approvals/${encodeURIComponent(id)}/`);
    return <Answer of={asked}>{(found) => <Shown of={found} reload={asked.reload} />}</Answer>;
  },
};

function Shown({ of: found, reload }: { readonly of: Approval; readonly reload: () => void }) {
  const [open, setOpen] = useState<Verb>();
  const { subject, state, requester, decisions, content, revocations, request } = found;
  useEffect(() => {
    document.title = `${plain(subject)} · Postern`;
  }, [subject]);
  const me = session.value.is === 'signedIn' ? `user:${session.value.account.id}` : '';
  const isOpen = state === 'waiting' && may('approvals.decide');
  const objection =
    requester === me ? m('mine') : decisions.some(({ approver }) => approver === me) ? m('twice') : undefined;
  return (
    <>
      <Heading
        title={<Text of={subject} />}
        up={{ href: '/approvals', title: a('title') }}
        actions={
          isOpen &&
          objection === undefined && (
            <>
              <button type="button" class="main" onClick={() => setOpen('approve')}>
                {m('approve')}
              </button>
              <button type="button" class="danger" onClick={() => setOpen('reject')}>
                {m('reject')}
              </button>
            </>
          )
        }
      />
      {isOpen && objection !== undefined && <p class="notice">{objection}</p>}
      <div class="cards">
        <Request of={found} />
        <Decisions of={found} />
        {content && <Differences of={content} />}
        {content && <Full of={content} />}
        {revocations && <Revocations of={revocations} />}
        {request !== null && <Pem of={request} />}
      </div>
      {open && (
        <Decide
          of={found}
          verb={open}
          close={() => setOpen(undefined)}
          done={() => {
            setOpen(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

const meanings = {
  waiting: 'meaningWaiting',
  granted: 'meaningGranted',
  issued: 'meaningIssued',
  revoked: 'meaningRevoked',
  rejected: 'meaningRejected',
  expired: 'meaningExpired',
  superseded: 'meaningSuperseded',
} as const;

function Request({ of }: { readonly of: Approval }) {
  const until = of.state === 'waiting' ? 'until' : of.state === 'granted' ? 'untilGranted' : 'untilOther';
  return (
    <Card title={m('request')}>
      <Facts
        rows={[
          [words('state'), <ApprovalState key="s" of={of.state} />, m(meanings[of.state])],
          [a('operation'), `${a(of.operation)} · ${protocolName(of.protocol)}`],
          [m('requester'), <Text key="r" of={of.requester_name} />, <Text key="k" of={of.requester} />],
          [m('address'), <Code key="a" of={of.address} />],
          [
            m('device'),
            of.device !== null && of.device_name !== null ? (
              <a key="d" href={`/devices/${of.device}`}>
                <Text of={of.device_name} />
              </a>
            ) : null,
          ],
          [a('domain'), <Text key="o" of={of.domain_name} />],
          [a('profile'), of.cert_profile_name === null ? null : <Text key="p" of={of.cert_profile_name} />],
          [m('policy'), <Text key="l" of={of.policy_name} />],
          [m('asked'), <When key="w" at={of.created_at} relative />],
          [m(until), <When key="u" at={of.expires_at} relative />],
          [
            m('certificate'),
            of.certificate !== null && may('certificates.read') ? (
              <a key="c" href={`/certificates/${of.certificate}`}>
                {m('certificateShow')}
              </a>
            ) : null,
          ],
        ]}
      />
    </Card>
  );
}

function Decisions({ of }: { readonly of: Approval }) {
  const { approvals: n, approvers: needed, decisions } = of;
  const progress = m('progress', { n, needed });
  return (
    <Card title={m('decisions')}>
      <div>
        <progress max={needed} value={n} aria-label={progress} />
        <p>{progress}</p>
      </div>
      {decisions.length === 0 ? (
        <p class="quiet">{m('noDecisions')}</p>
      ) : (
        <ul class="plain-list">
          {decisions.map(({ approver, approver_name, verdict, comment, created_at }) => (
            <li key={approver}>
              <span>
                <Badge look={verdict === 'approved' ? 'good' : 'bad'}>{m(verdict)}</Badge>{' '}
                <strong>
                  <Text of={approver_name} />
                </strong>
              </span>
              <span class="quiet">
                <When at={created_at} />
              </span>
              {comment !== '' && (
                <p class="remark">
                  <Text of={comment} />
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <Facts
        rows={[
          [m('requestHash'), <Code key="r" of={of.request_hash} />],
          [m('outcomeHash'), <Code key="o" of={of.outcome_hash} />, m('outcomeHashNext')],
        ]}
      />
    </Card>
  );
}

const names: Readonly<Record<string, string>> = {
  '2.5.29.14': 'subjectKeyIdentifier',
  '2.5.29.15': 'keyUsage',
  '2.5.29.17': 'subjectAltName',
  '2.5.29.18': 'issuerAltName',
  '2.5.29.19': 'basicConstraints',
  '2.5.29.30': 'nameConstraints',
  '2.5.29.31': 'crlDistributionPoints',
  '2.5.29.32': 'certificatePolicies',
  '2.5.29.35': 'authorityKeyIdentifier',
  '2.5.29.36': 'policyConstraints',
  '2.5.29.37': 'extendedKeyUsage',
  '2.5.29.54': 'inhibitAnyPolicy',
  '1.3.6.1.5.5.7.1.1': 'authorityInfoAccess',
  '1.3.6.1.5.5.7.1.11': 'subjectInfoAccess',
  '1.3.6.1.5.5.7.3.1': 'serverAuth',
  '1.3.6.1.5.5.7.3.2': 'clientAuth',
  '1.3.6.1.5.5.7.3.3': 'codeSigning',
  '1.3.6.1.5.5.7.3.4': 'emailProtection',
  '1.3.6.1.5.5.7.3.8': 'timeStamping',
  '1.3.6.1.5.5.7.3.9': 'OCSPSigning',
};

/** Object identifiers in a text, where they have a name. */
const named = (text: string): string =>
  text.replace(/(?<![\w.])\d+(?:\.\d+){3,}(?![\w.])/g, (oid) => names[oid] ?? oid);

/** `extensions.2.5.29.15` → `keyUsage`. */
const fieldName = (field: string): string => named(field.replace(/^extensions\./, ''));

function Differences({ of: { differences, explanations } }: { readonly of: Content }) {
  const reasons = (field: string): readonly string[] =>
    explanations.filter((one) => fieldName(one.field) === fieldName(field)).map(({ because }) => because);
  const values = (of: readonly string[], look: 'asked' | 'given'): ComponentChildren =>
    of.length === 0 ? (
      <span class="quiet">{m('nothing')}</span>
    ) : (
      <ul class={look}>
        {of.map((value) => (
          <li key={value}>
            <Text of={named(value)} />
          </li>
        ))}
      </ul>
    );
  return (
    <Card title={m('differences')} wide>
      {differences.length === 0 ? (
        <p>{m('differencesNone')}</p>
      ) : (
        <>
          <p class="meaning">{m('differencesLead')}</p>
          <table class="list">
            <thead>
              <tr>
                <th scope="col">{m('field')}</th>
                <th scope="col">{m('requested')}</th>
                <th scope="col">{m('outcome')}</th>
                <th scope="col">{m('because')}</th>
              </tr>
            </thead>
            <tbody>
              {differences.map(({ field, requested, outcome }) => (
                <tr key={field}>
                  <td data-title={m('field')}>
                    <Code of={fieldName(field)} />
                  </td>
                  <td data-title={m('requested')}>{values(requested, 'asked')}</td>
                  <td data-title={m('outcome')}>{values(outcome, 'given')}</td>
                  <td data-title={m('because')}>
                    <Text of={reasons(field).join('; ')} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Card>
  );
}

const portraitRows = (of: Portrait) =>
  [
    [a('subject'), <Text key="s" of={of.subject} />],
    [
      m('names'),
      of.subject_alternative_names.length === 0 ? null : (
        <ul key="n">
          {of.subject_alternative_names.map((name) => (
            <li key={name}>
              <Text of={name} />
            </li>
          ))}
        </ul>
      ),
    ],
    [m('key'), <Code key="k" of={of.key_type} />],
    [m('fingerprint'), of.key_fingerprint === null ? m('keyNone') : <Code key="f" of={of.key_fingerprint} />],
  ] as const;

const extensionRows = (of: Portrait) =>
  of.extensions.map(({ oid, critical, value }) => {
    const name = names[oid];
    return [
      <span key="n">
        <Text of={name ?? oid} /> {critical && <Badge look="calm">{m('critical')}</Badge>}
      </span>,
      <Code key="v" of={named(value)} />,
      extensionMeaning(name ?? null, critical),
    ] as const;
  });

function Full({ of: { requested, outcome } }: { readonly of: Content }) {
  return (
    <>
      <Card title={m('requested')}>
        <Facts rows={portraitRows(requested)} />
        <Extensions of={requested} />
      </Card>
      <Card title={m('full')}>
        <Facts
          rows={[
            ...portraitRows(outcome),
            [m('issuer'), <Text key="i" of={outcome.issuer} />],
            [m('notBefore'), <When key="b" at={outcome.not_before} />],
            [m('notAfter'), <When key="a" at={outcome.not_after} relative />],
          ]}
        />
        <Extensions of={outcome} />
      </Card>
    </>
  );
}

const Extensions = ({ of }: { readonly of: Portrait }) =>
  of.extensions.length === 0 ? (
    <p class="quiet">{m('extensionsNone')}</p>
  ) : (
    <dl class="facts">
      {extensionRows(of).map(([name, value, meaning], n) => (
        <div key={of.extensions[n]?.oid}>
          <dt>{name}</dt>
          <dd>
            {value}
            <p class="meaning">{meaning}</p>
          </dd>
        </div>
      ))}
    </dl>
  );

const Revocations = ({ of }: { readonly of: readonly Revocation[] }) => (
  <Card title={m('revocations')} wide>
    <ul class="plain-list">
      {of.map(({ certificate, subject, serial_number, reason, invalidity_date }) => (
        <li key={certificate}>
          {may('certificates.read') ? (
            <a href={`/certificates/${certificate}`}>
              <Text of={subject} />
            </a>
          ) : (
            <Text of={subject} />
          )}
          <span>
            {m('serial')} <Code of={serial_number} />
          </span>
          <span>
            {m('reason')} <Code of={reason} />
          </span>
          {invalidity_date !== null && (
            <span>
              {m('invalidity')} <When at={invalidity_date} />
            </span>
          )}
        </li>
      ))}
    </ul>
  </Card>
);

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
function Decide({
  of,
  verb,
  close,
  done,
}: {
  readonly of: Approval;
  readonly verb: Verb;
  readonly close: () => void;
  readonly done: () => void;
}) {
  const { id, subject, request_hash, outcome_hash } = of;
  return (
    <Dialog title={m(verb === 'approve' ? 'approveTitle' : 'rejectTitle')} close={close}>
      <p>
        <Text of={subject} />
      </p>
      <Form
        action={m(verb)}
        cancel={close}
        fields={[
          { name: 'comment', title: m('comment'), hint: m('commentHint'), type: 'area', maxLength: 2000 },
        ]}
        send={async (values) => {
          await write('POST', `/api/approvals/${id}/${verb}/`, { ...values, request_hash, outcome_hash });
          decided.value++;
          tell(m('told'));
          done();
        }}
      />
    </Dialog>
  );
}
