import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Condition, Write } from '../ports/store.ts';
import type { Approval, ApprovalState } from './approval.ts';
import { expiredWrites, forgottenWrites } from './transitions.ts';

const page = 1000;
/** In one run; the next one goes on. */
const mostPages = 100;

/**
 * Ends the approvals whose time is up: nobody decided, or the requester did not come for it. Those that came to their end some
 * time ago answer for their request no longer. To be called by one instance at a time.
 */
export async function expireApprovals(context: Context): Promise<void> {
  await sweep(context, ['waiting', 'granted'], [], (approval) => expiredWrites(context, approval));
  await sweep(
    context,
    ['issued', 'revoked', 'rejected', 'expired'],
    [{ field: 'answersFor', is: 'greater', value: '' }],
    forgottenWrites,
  );
}

async function sweep(
  context: Context,
  states: readonly ApprovalState[],
  more: readonly Condition<'approval'>[],
  writes: (approval: Approval) => readonly Write[],
): Promise<void> {
  const where: Condition<'approval'>[] = [
    { field: 'state', is: 'oneOf', value: states },
    { field: 'expiresAt', is: 'less', value: context.clock.now() },
    ...more,
  ];
  const order = { field: 'expiresAt', descending: false } as const;
  for (let n = 0; n < mostPages; n++) {
    const { records } = await context.store.list('approval', { where, order, limit: page });
    for (const approval of records) await unlessChanged(context, writes(approval));
    if (records.length < page) return;
  }
}

/** Somebody decided, or came for it, in between: the next run looks again. */
async function unlessChanged({ store }: Context, writes: readonly Write[]): Promise<void> {
  try {
    await store.commit(writes);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
}
