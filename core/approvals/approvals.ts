import { accountKey } from '../access/custody.ts';
import { demand, type Principal, readsOf } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import {
  type Approval,
  type ApprovalDecision,
  type ApprovalSummary,
  largeFields,
} from '../records/approval.ts';
import { retried } from '../storage/commit.ts';
import { custodyOf, type Obstacle, obstacleTo } from './obstacle.ts';
import { approvedWrites, rejectedWrites } from './transitions.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>, WithConfiguration {}

/** An approval as administrators see it. */
export type ApprovalView = Omit<ApprovalSummary, 'answersFor'> & {
  /** Present only when a single approval is read. */
  readonly details?: Pick<Approval, 'request' | 'content'> & {
    /** Oldest first. */
    readonly decisions: readonly ApprovalDecision[];
    /** Why the account that reads it cannot approve it; null: no such reason. */
    readonly obstacle: Obstacle | null;
  };
};

export interface ApprovalVerdict {
  readonly comment: string;
  /** `requestDigest` and `outcomeDigest` of the approval that the approver has seen. */
  readonly requestDigest?: string;
  readonly outcomeDigest?: string;
}

export interface Approvals {
  list(principal: Principal, query: Query<'approval'>): Promise<Page<ApprovalView>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<ApprovalView>;
  /**
   * Approves a request. Faults: notFound; forbidden for the requester itself and for a custodian of the device; conflict when the
   * approval is no longer pending, when the account has already decided, or when it has seen another request or outcome.
   */
  approve(principal: Principal, id: number, verdict: ApprovalVerdict): Promise<ApprovalView>;
  /** Rejects a request. Faults: as `approve`, but a custodian of the device may reject its request. */
  reject(principal: Principal, id: number, verdict: ApprovalVerdict): Promise<ApprovalView>;
}

export function approvals(context: Dependencies): Approvals {
  const { store, clock } = context;
  const find = async (id: number): Promise<Approval> => {
    const approval = await store.get('approval', id);
    if (!approval) throw new Fault('notFound', 'there is no such approval');
    return approval;
  };
  const decisions = async (id: number): Promise<readonly ApprovalDecision[]> => {
    const where = [{ field: 'approval', is: 'equal', value: id } as const];
    const order = { field: 'id', descending: false } as const;
    return (await store.list('approvalDecision', { where, order, limit: 1000 })).records;
  };
  const read = async ({ actor }: Principal, id: number): Promise<ApprovalView> => {
    const { request, content, ...approval } = await find(id);
    const said = await decisions(id);
    const account = accountKey(actor);
    const obstacle = account === undefined ? null : await obstacleTo(store, account, approval, said);
    return { ...shown(approval), details: { request, content, decisions: said, obstacle } };
  };

  async function decide(
    principal: Principal,
    id: number,
    verdict: ApprovalDecision['verdict'],
    { comment, requestDigest, outcomeDigest }: ApprovalVerdict,
  ): Promise<ApprovalView> {
    demand(principal, 'approvals.decide');
    const { actor } = principal;
    const approver = accountKey(actor);
    // Each approver counts once, so approvers must be distinguishable.
    if (approver === undefined)
      throw new Fault('forbidden', 'only users and service accounts can decide on approvals', {
        id: 'account_required',
      });
    const configuration = await context.configuration.current();
    // Retry so that two concurrent decisions both count.
    await retried(async () => {
      const approval = await find(id);
      const seen = [requestDigest ?? approval.requestDigest, outcomeDigest ?? approval.outcomeDigest];
      if (seen[0] !== approval.requestDigest || seen[1] !== approval.outcomeDigest) {
        throw new Fault(
          'conflict',
          'the request or its outcome has changed since you read it: read it again before you decide',
          { id: 'approval_changed' },
        );
      }
      if (approver === approval.requester) {
        throw new Fault('forbidden', 'you cannot decide on your own request', { id: 'own_request' });
      }
      const custody = verdict === 'approved' ? await custodyOf(store, approval) : undefined;
      if (custody?.custodians.has(approver)) {
        const device = approval.deviceName ?? '';
        throw new Fault(
          'forbidden',
          `this account registered or changed the device ${JSON.stringify(device)}, or has seen its secrets: another account with the permission approvals.decide has to approve the request`,
          { id: 'device_custodian', values: { device } },
        );
      }
      const state =
        approval.state === 'waiting' && clock.now() >= approval.expiresAt ? 'expired' : approval.state;
      if (state !== 'waiting')
        throw new Fault('conflict', `the approval is no longer pending: it is ${state}`, {
          id: 'approval_not_pending',
          values: { state },
        });
      const writes = verdict === 'approved' ? approvedWrites : rejectedWrites;
      const values = {
        createdAt: clock.now(),
        approval: id,
        approver,
        approverName: actor.name,
        verdict,
        comment,
      };
      try {
        await store.commit([
          { op: 'insert', kind: 'approvalDecision', values },
          ...writes(context, configuration, actor, approval, comment),
          // The account may read the secrets of the device at this moment.
          ...(custody?.unchanged ?? []),
        ]);
      } catch (error) {
        if (error instanceof Fault && error.field !== undefined) {
          throw new Fault('conflict', 'this account has already decided on the approval', {
            id: 'already_decided',
            cause: error,
          });
        }
        throw error;
      }
    });
    return read(principal, id);
  }

  return {
    async list(principal, query) {
      demand(principal, 'approvals.read');
      const page = await readsOf(context, principal).listWithout('approval', largeFields, query);
      return { ...page, records: page.records.map(shown) };
    },
    async read(principal, id) {
      demand(principal, 'approvals.read');
      return read(principal, id);
    },
    approve: (principal, id, verdict) => decide(principal, id, 'approved', verdict),
    reject: (principal, id, verdict) => decide(principal, id, 'rejected', verdict),
  };
}

const shown = ({ answersFor, ...approval }: ApprovalSummary): ApprovalView => approval;
