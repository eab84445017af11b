import { messages } from '../../language.ts';
import { Badge, Card, Facts } from '../../parts/display/facts.tsx';
import { Code, Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import { may } from '../../session.ts';
import { words } from '../../words.ts';
import type { Content } from './approval-contents.tsx';
import { ApprovalState, m as a, type Approval as Listed, protocolName } from './approval-list.tsx';

const m = messages(
  {
    address: 'Source address',
    approved: 'Approved',
    asked: 'Requested',
    certificate: 'Certificate',
    certificateShow: 'Show certificate',
    decisions: 'Decisions',
    device: 'Device',
    invalidity: 'Key compromised since',
    meaningExpired:
      'Nobody decided in time, the requester did not collect the certificate, or the device was deleted.',
    meaningGranted: 'The requester receives the certificate at the next request.',
    meaningIssued: 'The requester has received the certificate.',
    meaningRejected: 'One rejection is enough.',
    meaningRevoked: 'The certificates are revoked.',
    meaningSuperseded: 'The certificate to be issued has changed, so the request needs a new approval.',
    meaningWaiting: 'The requester has been asked to retry later.',
    noDecisions: 'No decisions yet.',
    outcomeHash: 'SHA-256 of the certificate contents',
    outcomeHashNext: 'Your decision applies to this request and these contents only.',
    policy: 'Approval policy',
    progress: '{n} of {needed} approvals',
    reason: 'Reason',
    rejected: 'Rejected',
    request: 'Request',
    requester: 'Requester',
    requestHash: 'SHA-256 of the request',
    revocations: 'Certificates to be revoked',
    serial: 'Serial number',
    until: 'Decision needed by',
    untilGranted: 'Can be collected until',
    untilOther: 'Kept until',
  },
  {
    address: 'Absenderadresse',
    approved: 'Genehmigt',
    asked: 'Beantragt',
    certificate: 'Zertifikat',
    certificateShow: 'Zertifikat zeigen',
    decisions: 'Entscheidungen',
    device: 'Gerät',
    invalidity: 'Schlüssel kompromittiert seit',
    meaningExpired:
      'Niemand hat rechtzeitig entschieden, das Zertifikat wurde nicht abgeholt, oder das Gerät wurde gelöscht.',
    meaningGranted: 'Der Antragsteller erhält das Zertifikat bei seiner nächsten Anfrage.',
    meaningIssued: 'Der Antragsteller hat das Zertifikat erhalten.',
    meaningRejected: 'Eine Ablehnung genügt.',
    meaningRevoked: 'Die Zertifikate sind gesperrt.',
    meaningSuperseded:
      'Das auszustellende Zertifikat hat sich geändert. Der Antrag braucht eine neue Genehmigung.',
    meaningWaiting: 'Der Antragsteller wurde gebeten, es später erneut zu versuchen.',
    noDecisions: 'Noch keine Entscheidungen.',
    outcomeHash: 'SHA-256 des Zertifikatsinhalts',
    outcomeHashNext: 'Ihre Entscheidung gilt nur für diesen Antrag und diesen Inhalt.',
    policy: 'Genehmigungsrichtlinie',
    progress: '{n} von {needed} Genehmigungen',
    reason: 'Grund',
    rejected: 'Abgelehnt',
    request: 'Antrag',
    requester: 'Antragsteller',
    requestHash: 'SHA-256 des Antrags',
    revocations: 'Zu sperrende Zertifikate',
    serial: 'Seriennummer',
    until: 'Entscheidung nötig bis',
    untilGranted: 'Abzuholen bis',
    untilOther: 'Aufbewahrt bis',
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
          [m('requester'), <Text key="r" of={of.requester_name} />],
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
