import { audit, brief, systemActor } from '../audit/record.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import { type Handle, newHandle, type Values, type Write } from '../ports/store.ts';
import type { ApprovalInBrief, ApprovalState } from '../records/approval.ts';
import type { Actor } from '../records/audit-event.ts';
import type { WebhookData, WebhookEvent } from '../records/webhook.ts';
import { memory } from '../transactions/record.ts';
import { type Notice, notify } from '../webhooks/notify.ts';

/**
 * Every change of state of an approval is made here: the guarded write, so that of two that come at once one wins, and what is
 * told of it in the same commit.
 */
interface Step {
  readonly to: ApprovalState;
  readonly actor: Actor;
  /** Milliseconds, from now: the next phase, or for so long it is the answer to its request. */
  readonly lasts: number;
  readonly set?: { readonly certificate?: number | Handle | null; readonly approvals?: number };
  /** It is no longer the answer to its request. */
  readonly gone?: true;
  readonly detail?: Readonly<Record<string, string | number>>;
}

type Clocked = Pick<Ports, 'clock'>;
type Telling = Pick<Ports, 'clock' | 'entropy'>;
type Listeners = Pick<Configuration, 'webhooks'>;
type NewApproval = Omit<
  Values<'approval'>,
  'createdAt' | 'state' | 'answersFor' | 'approvals' | 'expiresAt' | 'certificate'
> & {
  /** The moment that its outcome was worked out for: it is worked out for the same one again, to compare. */
  readonly createdAt: number;
  readonly requestDigest: string;
  readonly lasts: number;
  readonly policyName: string;
};

/** What tells of it to others. */
type About = Omit<NewApproval, 'lasts' | 'request' | 'content'>;

/** In a commit that opens an approval: that approval. */
export const openedApproval = newHandle('approval');

/** An approval begins to wait. */
export function openedWrites(
  context: Telling,
  listeners: Listeners,
  actor: Actor,
  approval: NewApproval,
): readonly Write[] {
  return [
    {
      op: 'insert',
      kind: 'approval',
      as: openedApproval,
      values: {
        ...approval,
        state: 'waiting',
        answersFor: approval.requestDigest,
        approvals: 0,
        expiresAt: approval.createdAt + approval.lasts,
        certificate: null,
      },
    },
    told(context, actor, 'approval', 'waiting', approval, {}, openedApproval),
    ...notices(context, listeners, 'approval.waiting', openedApproval, approval),
  ];
}

/** One more account has approved: the last one that is needed grants it. */
export function approvedWrites(
  context: Telling,
  listeners: Listeners,
  actor: Actor,
  approval: ApprovalInBrief,
  comment: string,
): readonly Write[] {
  const approvals = approval.approvals + 1;
  const granted = approvals >= approval.approvers;
  const { lasts } = approval;
  if (granted) {
    return [
      ...stepWrites(context, approval, {
        to: 'granted',
        actor,
        lasts,
        set: { approvals },
        detail: { comment },
      }),
      ...notices(context, listeners, 'approval.granted', approval.id, approval),
    ];
  }
  const { id, state } = approval;
  return [
    {
      op: 'update',
      kind: 'approval',
      id,
      where: { state, approvals: approval.approvals },
      set: { approvals },
    },
    told(context, actor, `approval:${id}`, 'approve', approval, {
      approvals,
      of: approval.approvers,
      comment,
    }),
  ];
}

/** One rejection is enough. */
export const rejectedWrites = (
  context: Telling,
  listeners: Listeners,
  actor: Actor,
  approval: ApprovalInBrief,
  comment: string,
): readonly Write[] => [
  ...stepWrites(context, approval, { to: 'rejected', actor, lasts: approval.lasts, detail: { comment } }),
  ...notices(context, listeners, 'approval.rejected', approval.id, approval),
];

/** What was granted has been done; `certificate`: what came of it. */
export const usedWrites = (
  context: Clocked,
  actor: Actor,
  approval: ApprovalInBrief,
  certificate: number | Handle,
): readonly Write[] =>
  stepWrites(context, approval, {
    to: approval.operation === 'revocation' ? 'revoked' : 'issued',
    actor,
    lasts: memory,
    set: { certificate },
  });

/** Nobody decides on it any more, or comes for it: its time is up, or it ended for another reason, which the event has. */
export const expiredWrites = (
  context: Telling,
  listeners: Listeners,
  approval: ApprovalInBrief,
  { actor, reason }: { readonly actor: Actor; readonly reason?: string } = { actor: systemActor },
): readonly Write[] => [
  ...stepWrites(context, approval, {
    to: 'expired',
    actor,
    lasts: approval.lasts,
    detail: reason === undefined ? {} : { reason },
  }),
  ...notices(context, listeners, 'approval.expired', approval.id, approval),
];

/** It goes on for as long again. */
export const prolongedWrites = (
  { clock }: Clocked,
  { id, state, approvals, lasts }: ApprovalInBrief,
): readonly Write[] => [
  {
    op: 'update',
    kind: 'approval',
    id,
    where: { state, approvals },
    set: { expiresAt: clock.now() + lasts },
  },
];

/** What would come of the request is no longer what was shown, or more approvers are needed than it was waiting for. */
export const supersededWrites = (context: Clocked, approval: ApprovalInBrief): readonly Write[] =>
  stepWrites(context, approval, { to: 'superseded', actor: systemActor, lasts: 0, gone: true });

/** A request comes again after its approval came to an end: that one no longer answers for it. */
export const forgottenWrites = (approval: ApprovalInBrief): readonly Write[] => [
  {
    op: 'update',
    kind: 'approval',
    id: approval.id,
    where: { state: approval.state },
    set: { answersFor: null },
  },
];

function stepWrites(context: Clocked, approval: ApprovalInBrief, step: Step): readonly Write[] {
  const { id, state, approvals } = approval;
  const { to, actor, lasts, set = {}, gone, detail = {} } = step;
  return [
    {
      op: 'update',
      kind: 'approval',
      id,
      where: { state, approvals },
      set: { ...set, state: to, expiresAt: context.clock.now() + lasts, ...(gone && { answersFor: null }) },
    },
    told(context, actor, `approval:${id}`, to, approval, detail),
  ];
}

const actions: Readonly<Record<ApprovalState | 'approve', string>> = {
  waiting: 'approval.open',
  approve: 'approval.approve',
  granted: 'approval.grant',
  rejected: 'approval.reject',
  issued: 'approval.use',
  revoked: 'approval.use',
  expired: 'approval.expire',
  superseded: 'approval.supersede',
};

function told(
  context: Clocked,
  actor: Actor,
  object: string,
  what: ApprovalState | 'approve',
  approval: Pick<NewApproval, 'requestDigest' | 'outcomeDigest' | 'policyName' | 'subject' | 'operation'>,
  detail: Readonly<Record<string, string | number>>,
  about?: Handle,
): Write {
  const { requestDigest, outcomeDigest, policyName, subject, operation } = approval;
  const facts = {
    operation,
    subject: brief(subject),
    policy: brief(policyName),
    requestDigest,
    outcomeDigest,
  };
  return audit(context, actor, { action: actions[what], object, detail: { ...facts, ...detail } }, about);
}

/** What webhooks are told: enough to find it and to say what it is about. What came of it they are told by the certificate. */
const notices = (
  context: Telling,
  { webhooks }: Listeners,
  event: WebhookEvent,
  object: Notice['object'],
  approval: About,
): readonly Write[] => notify(context, webhooks, event, () => ({ object, data: dataOf(approval) }));

const dataOf = (approval: About): WebhookData => ({
  operation: approval.operation,
  protocol: approval.protocol,
  subject: approval.subject,
  policy: approval.policyName,
  domain: approval.domainName,
  device: approval.deviceName,
  cert_profile: approval.profileName,
  requester: approval.requesterName,
});
