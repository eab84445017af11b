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
import { forgottenWrites, openedApproval, openedWrites, supersededWrites } from './transitions.ts';

type Dependencies = Pick<Ports, 'clock' | 'entropy' | 'store'>;

/** A request on which people may have to decide. */
export interface ApprovalRequest {
  /** See `requestDigest`. */
  readonly digest: string;
  /** Who asks, so that nobody approves what they ask for themselves: `user:3`, `password device:7`. */
  readonly requester: string;
  readonly actor: Actor;
  readonly request: { readonly kind: NonNullable<Approval['requestKind']>; readonly der: Uint8Array } | null;
  /** RFC 4514, of what would be issued at a moment. */
  subject(now: number): string;
  /** Equal for as long as the same would come of it; worked out for a moment. Faults: when nothing would. */
  outcomeDigest(now: number): string;
  content(now: number): ApprovalContent;
  /** It goes on with one that was told to wait: what has come to an end is not begun anew. */
  readonly goesOn: boolean;
  /** The requester has nothing to remember an answer by: what it was given is given again for a while. */
  readonly forgetful: boolean;
}

export type Clearance =
  /** Go on. What was approved has to be marked as used in the commit that does it: `usedWrites`. */
  | { readonly kind: 'cleared'; readonly approval: Approval | undefined }
  | Deferral
  | { readonly kind: 'given'; readonly certificate: StoredCertificate };

/** Whether somebody has used, or ended, what was granted since it was read. */
export const isUsed = async ({ store }: Pick<Ports, 'store'>, { id, state }: Approval): Promise<boolean> =>
  (await store.get('approval', id))?.state !== state;

const cleared: Clearance = { kind: 'cleared', approval: undefined };
const mostWaiting = 32;

/** The policy by which people have to be asked; undefined: nobody has to. Faults: forbidden (a policy denies it). */
export function policyOn(
  { policies }: Pick<Configuration, 'policies'>,
  matter: PolicyContext,
): ApprovalPolicy | undefined {
  const policy = ruleFor(policies, matter);
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
  matter: PolicyContext,
  request: () => ApprovalRequest,
): Promise<Clearance> {
  if (!policy) return cleared;
  const petition = request();
  // Another instance may open, decide or use the approval concurrently.
  return retried(() => joinOrOpen(context, configuration, policy, matter, petition));
}

async function joinOrOpen(
  context: Dependencies,
  configuration: Pick<Configuration, 'webhooks'>,
  policy: ApprovalPolicy,
  matter: PolicyContext,
  petition: ApprovalRequest,
): Promise<Clearance> {
  const found = await context.store.find('approval', { answersFor: petition.digest });
  if (!found) return open(context, configuration, policy, matter, petition, []);
  const late = context.clock.now() >= found.expiresAt;
  switch (found.state) {
    case 'waiting':
    case 'granted':
      if (late) {
        await context.store.commit(await overdueWrites(context, configuration, found));
        return joinOrOpen(context, configuration, policy, matter, petition);
      }
      if (
        found.approvers < policy.approvers ||
        petition.outcomeDigest(found.createdAt) !== found.outcomeDigest
      ) {
        return open(context, configuration, policy, matter, petition, supersededWrites(context, found));
      }
      return found.state === 'granted' ? { kind: 'cleared', approval: found } : deferral(context, found);
    case 'rejected':
      if (!late) throw new Fault('forbidden', 'an approver has rejected the request');
      break;
    case 'expired':
      if (petition.goesOn) throw new Fault('forbidden', 'the request expired before it was approved');
      break;
    case 'issued': {
      const certificate =
        late || !petition.forgetful || found.certificate === null
          ? undefined
          : await context.store.get('certificate', found.certificate);
      if (certificate?.status === 'good') return { kind: 'given', certificate };
    }
  }
  return open(context, configuration, policy, matter, petition, forgottenWrites(found));
}

async function open(
  context: Dependencies,
  configuration: Pick<Configuration, 'webhooks'>,
  policy: ApprovalPolicy,
  matter: PolicyContext,
  petition: ApprovalRequest,
  before: readonly Write[],
): Promise<Clearance> {
  const { store, clock } = context;
  const now = clock.now();
  const { digest, requester, actor, request } = petition;
  const { operation, protocol, domain, profile, device } = matter;
  await demandFew(context, matter, requester);
  const approval = {
    createdAt: now,
    requestDigest: digest,
    outcomeDigest: petition.outcomeDigest(now),
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
    subject: petition.subject(now),
    request: request?.der ?? null,
    requestKind: request?.kind ?? null,
    content: petition.content(now),
    approvers: policy.approvers,
    lasts: policy.expiresIn * 1000,
  };
  const writes = [...before, ...openedWrites(context, configuration, actor, approval)];
  const id = await commitFor(store, writes, openedApproval);
  const { lasts } = approval;
  return deferral(context, { id, createdAt: now, expiresAt: now + lasts, lasts });
}

/** Each request keeps some 100 KB: a device that asks for ever more is told to wait. Administrators are trusted to know. */
async function demandFew(
  { store }: Pick<Ports, 'store'>,
  { device, protocol }: PolicyContext,
  requester: string,
): Promise<void> {
  if (protocol === 'management') return;
  const whose: Condition<'approval'> = device
    ? { field: 'device', is: 'equal', value: device.id }
    : { field: 'requester', is: 'equal', value: requester };
  const where = [whose, { field: 'state', is: 'equal', value: 'waiting' } as const];
  if ((await store.count('approval', where, mostWaiting)) >= mostWaiting) {
    throw new Fault('tooManyRequests', 'too many requests of this device are pending approval', {
      id: 'too_many_pending_requests',
      retryAfter: longestPause,
    });
  }
}

/** Seconds. */
const shortestPause = 3;
const longestPause = 300;

/** The longer it has been waiting, the longer until the next try: somebody at the console is quick, or it takes hours. */
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
    // Granted at the last moment, it can still be come for.
    lasts: expiresAt - now + lasts,
  };
}
