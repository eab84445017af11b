import { messages } from '../../language.ts';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import type { Content } from './approval-contents.tsx';
import { ApprovalState, m as a, type Approval as Listed, protocolName } from './approvals.tsx';

const m = messages(
  {
    address: 'From the address',
    approved: 'Approved',
    asked: 'Asked for',
    certificate: 'Certificate',
    certificateShow: 'Show the certificate',
    decisions: 'Decisions',
    device: 'Device',
    invalidity: 'Key known to others since',
    meaningExpired: 'Nobody decided in time, the requester has not come for it, or the device was deleted.',
    meaningGranted: 'The requester gets it when they ask again.',
    meaningIssued: 'The requester has it.',
    meaningRejected: 'One rejection is enough.',
    meaningRevoked: 'The certificates are revoked.',
    meaningSuperseded: 'What would come of it changed, so it is decided on anew.',
    meaningWaiting: 'The requester is told to ask again later.',
    noDecisions: 'Nobody has decided yet.',
    outcomeHash: 'SHA-256 of the outcome',
    outcomeHashNext: 'What you decide counts for this request and this outcome, and for no other.',
    policy: 'Held back by the policy',
    progress: '{n} of {needed} approvals',
    reason: 'Reason',
    rejected: 'Rejected',
    request: 'The request',
    requester: 'Asked for by',
    requestHash: 'SHA-256 of the request',
    revocations: 'What would be revoked',
    serial: 'Serial number',
    until: 'Time to decide until',
    untilGranted: 'Can be fetched until',
    untilOther: 'Answers the request until',
  },
  {
    address: 'Von der Adresse',
    approved: 'Genehmigt',
    asked: 'Angefragt',
    certificate: 'Zertifikat',
    certificateShow: 'Das Zertifikat zeigen',
    decisions: 'Entscheidungen',
    device: 'Gerät',
    invalidity: 'Schlüssel anderen bekannt seit',
    meaningExpired:
      'Niemand hat rechtzeitig entschieden, es wurde nicht abgeholt, oder das Gerät wurde gelöscht.',
    meaningGranted: 'Der Antragsteller bekommt es, wenn er wieder fragt.',
    meaningIssued: 'Der Antragsteller hat es.',
    meaningRejected: 'Eine Ablehnung genügt.',
    meaningRevoked: 'Die Zertifikate sind gesperrt.',
    meaningSuperseded: 'Was dabei herauskäme, hat sich geändert; darüber wird neu entschieden.',
    meaningWaiting: 'Dem Antragsteller wird gesagt, er solle später wieder fragen.',
    noDecisions: 'Noch hat niemand entschieden.',
    outcomeHash: 'SHA-256 des Ergebnisses',
    outcomeHashNext: 'Ihre Entscheidung gilt für diesen Antrag und dieses Ergebnis und für nichts anderes.',
    policy: 'Zurückgehalten von der Richtlinie',
    progress: '{n} von {needed} Genehmigungen',
    reason: 'Grund',
    rejected: 'Abgelehnt',
    request: 'Der Antrag',
    requester: 'Beantragt von',
    requestHash: 'SHA-256 des Antrags',
    revocations: 'Was gesperrt würde',
    serial: 'Seriennummer',
    until: 'Zeit zur Entscheidung bis',
    untilGranted: 'Abzuholen bis',
    untilOther: 'Beantwortet den Antrag bis',
  },
);

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

export interface Approval extends Listed {
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
  readonly obstacle: 'own_request' | 'decided_already' | 'device_custodian' | null;
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

export function Request({ of }: { readonly of: Approval }) {
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

export function Decisions({ of }: { readonly of: Approval }) {
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

export const Revocations = ({ of }: { readonly of: readonly Revocation[] }) => (
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
