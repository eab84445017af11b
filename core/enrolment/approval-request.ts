import type { ApprovalRequest } from '../approvals/clearance.ts';
import { certificateContent, outcomeDigest } from '../approvals/content.ts';
import type { Revocation } from '../ca/revocation.ts';
import type { LoadedCa } from '../configuration/configuration.ts';
import type { PolicyContext } from '../configuration/policy-rule.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type RequestIdentity, requestDigest, revocationDigest } from '../requester/request-identity.ts';
import type { Exchange } from '../transactions/exchange.ts';
import { formatDistinguishedName } from '../x509/name.ts';

/** What differs between the kinds of requester. */
export interface ApprovalOptions extends Pick<ApprovalRequest, 'request' | 'continues'> {
  /** A repeated request gets its response from elsewhere, or is a request for another certificate. */
  readonly remembers: boolean;
}

interface ApprovalRequestInput extends ApprovalOptions, Pick<ApprovalRequest, 'actor'> {
  readonly identity: RequestIdentity;
  readonly requested: ProfileRequest;
  readonly ca: LoadedCa;
  /** What the profile makes of the request at the given time. */
  outcomeAt(now: number): ProfileOutcome;
  /** Checks that the certificate could be issued, before anybody has to approve it. Faults: see `prepare`. */
  rehearse(outcome: ProfileOutcome): void;
}

/** The request for a certificate in the form that approvers see. */
export function approvalRequestFor(input: ApprovalRequestInput): ApprovalRequest {
  const { identity, actor, request, continues, requested, ca, outcomeAt } = input;
  const isKeyMadeHere = typeof identity.key === 'string';
  return {
    digest: requestDigest(identity),
    requester: identity.requester,
    actor,
    request,
    subject: (now) => formatDistinguishedName(outcomeAt(now).subject),
    outcomeDigest: (now) => outcomeDigest(ca, outcomeAt(now)),
    content: (now) => {
      const outcome = outcomeAt(now);
      input.rehearse(outcome);
      return { kind: 'certificate', certificate: certificateContent(requested, outcome, ca) };
    },
    continues,
    // A key that was made here is handed out only once.
    repeatable: !input.remembers && !isKeyMadeHere,
  };
}

interface RevocationApprovalInput extends Pick<ApprovalRequest, 'requester' | 'actor'> {
  readonly policyContext: PolicyContext;
  readonly record: StoredCertificate;
  readonly entry: Revocation;
  readonly exchange: Exchange;
}

/** The request to revoke a certificate, put it on hold or release it, in the form that approvers see. */
export function revocationApprovalRequest(input: RevocationApprovalInput): ApprovalRequest {
  const { requester, actor, policyContext, record, entry, exchange } = input;
  const { id: certificate, subject, serialNumber } = record;
  const { reason } = entry;
  const invalidityDate = entry.invalidityDate ?? null;
  const digest = revocationDigest({
    requester,
    protocol: policyContext.protocol,
    certificate,
    reason,
    invalidityDate,
  });
  const { follows, message } = exchange;
  return {
    digest,
    requester,
    actor,
    request: { kind: 'revocation', der: follows?.request ?? message },
    subject: () => subject,
    outcomeDigest: () => digest,
    content: () => ({
      kind: 'revocation',
      entries: [{ certificate, subject, serialNumber, reason, invalidityDate }],
    }),
    continues: follows !== undefined,
    repeatable: false,
  };
}
