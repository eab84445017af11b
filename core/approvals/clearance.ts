import type { Configuration } from '../configuration/configuration.ts';
import { type PolicyContext, ruleFor } from '../configuration/policy-rule.ts';
import { Fault } from '../fault.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition, Write } from '../ports/store.ts';
import type { Approval, ApprovalContent } from '../records/approval.ts';
import type { ApprovalPolicy } from '../records/approval-policy.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { commitFor, retried } from '../storage/commit.ts';
import { overdueWrites } from './expiry.ts';
import { detachedWrites, openedApproval, openedWrites, supersededWrites } from './transitions.ts';

type Dependencies = Pick<Ports, 'clock' | 'entropy' | 'store'>;

/** A request that people may have to approve. */
export interface ApprovalRequest {
  /** See `requestDigest`. */
  readonly digest: string;
  /** The requester, such as `user:3` or `password device:7`, so that nobody approves their own request. */
  readonly requester: string;
  readonly actor: Actor;
  readonly request: { readonly kind: NonNullable<Approval['requestKind']>; readonly der: Uint8Array } | null;
  /** The subject (RFC 4514) of the certificate as it would be issued at the given time. */
  subject(now: number): string;
  /** A digest of the certificate as it would be issued at the given time. Faults: those of the profile. */
  outcomeDigest(now: number): string;
  content(now: number): ApprovalContent;
  /** The request continues a pending one: an expired approval is not opened again. */
  readonly continues: boolean;
  /** A repeated request gets the certificate that was issued for it, for a while, because the response may have been lost. */
  readonly repeatable: boolean;
}

export type Clearance =
  /** The request may proceed. The commit that fulfils it has to mark the approval as used: `usedWrites`. */
  | { readonly kind: 'cleared'; readonly approval: Approval | undefined }
  | Deferral
  | { readonly kind: 'alreadyIssued'; readonly certificate: StoredCertificate };

/** Whether the approval was used or ended since it was read. */
export const isUsed = async ({ store }: Pick<Ports, 'store'>, { id, state }: Approval): Promise<boolean> =>
  (await store.get('approval', id))?.state !== state;

const cleared: Clearance = { kind: 'cleared', approval: undefined };
const mostPending = 32;

/** Returns the policy that demands an approval; undefined when none does. Faults: forbidden (a policy denies the request). */
export function policyOn(
  { policies }: Pick<Configuration, 'policies'>,
  policyContext: PolicyContext,
): ApprovalPolicy | undefined {
  const policy = ruleFor(policies, policyContext);
  if (policy?.decision === 'deny') {
    throw new Fault('forbidden', `the approval policy "${policy.uniqueName}" denies this request`);
  }
  return policy?.decision === 'automatic' ? undefined : policy;
}

/**
 * Requests an approval, if a policy demands one; otherwise `request` is not called. The same request joins the approval that it
 * opened earlier, at any instance. Faults: forbidden (an approver has rejected the request), tooManyRequests when too many requests of one
 * device are pending, those of the request.
 */
export async function requestApproval(
  context: Dependencies,
  configuration: Pick<Configuration, 'webhooks'>,
  policy: ApprovalPolicy | undefined,
  policyContext: PolicyContext,
  request: () => ApprovalRequest,
): Promise<Clearance> {
  if (!policy) return cleared;
  const made = request();
  // Another instance may open, decide or use the approval concurrently.
  return retried(() => joinOrOpen(context, configuration, policy, policyContext, made));
}

async function joinOrOpen(
  context: Dependencies,
  configuration: Pick<Configuration, 'webhooks'>,
  policy: ApprovalPolicy,
  policyContext: PolicyContext,
  request: ApprovalRequest,
): Promise<Clearance> {
  const existing = await context.store.find('approval', { answersFor: request.digest });
  if (!existing) return open(context, configuration, policy, policyContext, request, []);
  const isOverdue = context.clock.now() >= existing.expiresAt;
  switch (existing.state) {
    case 'waiting':
    case 'granted':
      if (isOverdue) {
        await context.store.commit(await overdueWrites(context, configuration, existing));
        return joinOrOpen(context, configuration, policy, policyContext, request);
      }
      if (
        existing.approvers < policy.approvers ||
        request.outcomeDigest(existing.createdAt) !== existing.outcomeDigest
      ) {
        return open(
          context,
          configuration,
          policy,
          policyContext,
          request,
          supersededWrites(context, existing),
        );
      }
      return existing.state === 'granted'
        ? { kind: 'cleared', approval: existing }
        : deferral(context, existing);
    case 'rejected':
      if (!isOverdue) throw new Fault('forbidden', 'an approver has rejected the request');
      break;
    case 'expired':
      if (request.continues) throw new Fault('forbidden', 'the request expired before it was approved');
      break;
    case 'issued': {
      const certificate =
        isOverdue || !request.repeatable || existing.certificate === null
          ? undefined
          : await context.store.get('certificate', existing.certificate);
      if (certificate?.status === 'good') return { kind: 'alreadyIssued', certificate };
    }
  }
  return open(context, configuration, policy, policyContext, request, detachedWrites(existing));
}

async function open(
  context: Dependencies,
  configuration: Pick<Configuration, 'webhooks'>,
  policy: ApprovalPolicy,
  policyContext: PolicyContext,
  request: ApprovalRequest,
  preceding: readonly Write[],
): Promise<Clearance> {
  const { store, clock } = context;
  const now = clock.now();
  const { digest, requester, actor, request: encoded } = request;
  const { operation, protocol, domain, profile, device } = policyContext;
  await demandFewPending(context, policyContext, requester);
  const approval = {
    createdAt: now,
    requestDigest: digest,
    outcomeDigest: request.outcomeDigest(now),
    policy: policy.id,
    policyName: policy.uniqueName,
    operation,
    protocol,
    domain: domain.id,
    domainName: domain.uniqueName,
    device: device?.id ?? null,
    deviceName: device?.commonName ?? null,
    profile: profile?.id ?? null,
    profileName: profile?.uniqueName ?? null,
    requester,
    requesterName: actor.name,
    address: actor.address,
    subject: request.subject(now),
    request: encoded?.der ?? null,
    requestKind: encoded?.kind ?? null,
    content: request.content(now),
    approvers: policy.approvers,
    lasts: policy.expiresIn * 1000,
  };
  const writes = [...preceding, ...openedWrites(context, configuration, actor, approval)];
  const id = await commitFor(store, writes, openedApproval);
  const { lasts } = approval;
  return deferral(context, { id, createdAt: now, expiresAt: now + lasts, lasts });
}

/** Limits the pending requests of one device, because each takes up to 100 KB. Administrators are not limited. */
async function demandFewPending(
  { store }: Pick<Ports, 'store'>,
  { device, protocol }: PolicyContext,
  requester: string,
): Promise<void> {
  if (protocol === 'management') return;
  const owner: Condition<'approval'> = device
    ? { field: 'device', is: 'equal', value: device.id }
    : { field: 'requester', is: 'equal', value: requester };
  const where = [owner, { field: 'state', is: 'equal', value: 'waiting' } as const];
  if ((await store.count('approval', where, mostPending)) >= mostPending) {
    throw new Fault(
      'tooManyRequests',
      'too many requests of this device are already pending approval: wait until they are decided',
      {
        id: 'too_many_pending_requests',
        retryAfter: longestPause,
      },
    );
  }
}

/** Seconds. */
const shortestPause = 3;
const longestPause = 300;

/** The longer the request has been pending, the later the next retry: an approver decides at once, or takes hours. */
function deferral(
  { clock }: Pick<Ports, 'clock'>,
  { id, createdAt, expiresAt, lasts }: Pick<Approval, 'id' | 'createdAt' | 'expiresAt' | 'lasts'>,
): Deferral {
  const now = clock.now();
  const pause = Math.ceil((now - createdAt) / 8000);
  return {
    kind: 'pending',
    id,
    retryAfter: Math.min(Math.max(pause, shortestPause), longestPause),
    // If it is granted at the last moment, the requester still has the second period to collect the certificate.
    lasts: expiresAt - now + lasts,
  };
}
