import type { AuditAction } from '../audit/actions.ts';
import { audit, shorten, systemActor } from '../audit/record.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import { type Handle, newHandle, type Values, type Write } from '../ports/store.ts';
import type { ApprovalState, ApprovalSummary } from '../records/approval.ts';
import type { Actor } from '../records/audit-event.ts';
import type { WebhookData, WebhookEvent } from '../records/webhook.ts';
import { responseRetention } from '../transactions/record.ts';
import { type Notice, notify } from '../webhooks/notify.ts';

/**
 * A change of an approval's state. Every change is made in this file: a guarded write, so that one of two concurrent changes wins,
 * with its audit event and webhook messages in the same commit.
 */
interface Transition {
  readonly to: ApprovalState;
  readonly actor: Actor;
  /** Milliseconds from now: the length of the next phase, or how long the approval answers repeated requests. */
  readonly lasts: number;
  readonly set?: { readonly certificate?: number | Handle | null; readonly approvals?: number };
  /** The approval no longer answers its request. */
  readonly detached?: true;
  readonly detail?: Readonly<Record<string, string | number>>;
}

type Clocked = Pick<Ports, 'clock'>;
type Dependencies = Pick<Ports, 'clock' | 'entropy'>;
type Listeners = Pick<Configuration, 'webhooks'>;
type NewApproval = Omit<
  Values<'approval'>,
  'createdAt' | 'state' | 'answersFor' | 'approvals' | 'expiresAt' | 'certificate'
> & {
  /** The time for which the outcome was computed. Later comparisons compute it for the same time. */
  readonly createdAt: number;
  readonly requestDigest: string;
  readonly lasts: number;
  readonly policyName: string;
};

/** The part of an approval that webhooks receive. */
type Published = Omit<NewApproval, 'lasts' | 'request' | 'content'>;

/** The handle of the approval in the commit that opens it. */
export const openedApproval = newHandle('approval');

/** Opens an approval. */
export function openedWrites(
  context: Dependencies,
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
    auditWrite(context, actor, 'approval', 'waiting', approval, {}, openedApproval),
    ...notices(context, listeners, 'approval.waiting', openedApproval, approval),
  ];
}

/** Records one more approval by an account; the last one that is needed grants the request. */
export function approvedWrites(
  context: Dependencies,
  listeners: Listeners,
  actor: Actor,
  approval: ApprovalSummary,
  comment: string,
): readonly Write[] {
  const approvals = approval.approvals + 1;
  const granted = approvals >= approval.approvers;
  const { lasts } = approval;
  if (granted) {
    return [
      ...transitionWrites(context, approval, {
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
    auditWrite(context, actor, `approval:${id}`, 'approve', approval, {
      approvals,
      of: approval.approvers,
      comment,
    }),
  ];
}

/** Rejects the request; one rejection is enough. */
export const rejectedWrites = (
  context: Dependencies,
  listeners: Listeners,
  actor: Actor,
  approval: ApprovalSummary,
  comment: string,
): readonly Write[] => [
  ...transitionWrites(context, approval, {
    to: 'rejected',
    actor,
    lasts: approval.lasts,
    detail: { comment },
  }),
  ...notices(context, listeners, 'approval.rejected', approval.id, approval),
];

/** Marks a granted approval as used. `certificate`: the certificate that was issued or revoked. */
export const usedWrites = (
  context: Clocked,
  actor: Actor,
  approval: ApprovalSummary,
  certificate: number | Handle,
): readonly Write[] =>
  transitionWrites(context, approval, {
    to: approval.operation === 'revocation' ? 'revoked' : 'issued',
    actor,
    lasts: responseRetention,
    set: { certificate },
  });

/** Expires an approval, because its time is over or for `reason`. */
export const expiredWrites = (
  context: Dependencies,
  listeners: Listeners,
  approval: ApprovalSummary,
  { actor, reason }: { readonly actor: Actor; readonly reason?: string } = { actor: systemActor },
): readonly Write[] => [
  ...transitionWrites(context, approval, {
    to: 'expired',
    actor,
    lasts: approval.lasts,
    detail: reason === undefined ? {} : { reason },
  }),
  ...notices(context, listeners, 'approval.expired', approval.id, approval),
];

/** Prolongs the present phase by its full length. */
export const prolongedWrites = (
  { clock }: Clocked,
  { id, state, approvals, lasts }: ApprovalSummary,
): readonly Write[] => [
  {
    op: 'update',
    kind: 'approval',
    id,
    where: { state, approvals },
    set: { expiresAt: clock.now() + lasts },
  },
];

/** Ends an approval because the outcome of its request has changed, or because the policy now demands more approvers. */
export const supersededWrites = (context: Clocked, approval: ApprovalSummary): readonly Write[] =>
  transitionWrites(context, approval, { to: 'superseded', actor: systemActor, lasts: 0, detached: true });

/** Detaches a finished approval from its request, which is repeated and opens another approval. */
export const detachedWrites = (approval: ApprovalSummary): readonly Write[] => [
  {
    op: 'update',
    kind: 'approval',
    id: approval.id,
    where: { state: approval.state },
    set: { answersFor: null },
  },
];

function transitionWrites(
  context: Clocked,
  approval: ApprovalSummary,
  transition: Transition,
): readonly Write[] {
  const { id, state, approvals } = approval;
  const { to, actor, lasts, set = {}, detached, detail = {} } = transition;
  return [
    {
      op: 'update',
      kind: 'approval',
      id,
      where: { state, approvals },
      set: {
        ...set,
        state: to,
        expiresAt: context.clock.now() + lasts,
        ...(detached && { answersFor: null }),
      },
    },
    auditWrite(context, actor, `approval:${id}`, to, approval, detail),
  ];
}

const actions: Readonly<Record<ApprovalState | 'approve', AuditAction>> = {
  waiting: 'approval.open',
  approve: 'approval.approve',
  granted: 'approval.grant',
  rejected: 'approval.reject',
  issued: 'approval.use',
  revoked: 'approval.use',
  expired: 'approval.expire',
  superseded: 'approval.supersede',
};

function auditWrite(
  context: Clocked,
  actor: Actor,
  object: string,
  change: ApprovalState | 'approve',
  approval: Pick<NewApproval, 'requestDigest' | 'outcomeDigest' | 'policyName' | 'subject' | 'operation'>,
  detail: Readonly<Record<string, string | number>>,
  about?: Handle,
): Write {
  const { requestDigest, outcomeDigest, policyName, subject, operation } = approval;
  const common = {
    operation,
    subject: shorten(subject),
    policy: shorten(policyName),
    requestDigest,
    outcomeDigest,
  };
  return audit(context, actor, { action: actions[change], object, detail: { ...common, ...detail } }, about);
}

/** Returns the webhook messages. They identify and summarise the approval; the certificate has a separate message. */
const notices = (
  context: Dependencies,
  { webhooks }: Listeners,
  event: WebhookEvent,
  object: Notice['object'],
  approval: Published,
): readonly Write[] => notify(context, webhooks, event, () => ({ object, data: dataOf(approval) }));

const dataOf = (approval: Published): WebhookData => ({
  operation: approval.operation,
  protocol: approval.protocol,
  subject: approval.subject,
  policy: approval.policyName,
  domain: approval.domainName,
  device: approval.deviceName,
  cert_profile: approval.profileName,
  requester: approval.requesterName,
});
