import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Condition, Write } from '../ports/store.ts';
import { type ApprovalState, largeFields } from './approval.ts';
import { expiredWrites } from './transitions.ts';

const page = 100;
/** In one run; the next one goes on. */
const mostPages = 100;

/**
 * Ends the approvals whose time is up: nobody decided, or the requester did not come for it. To be called by one instance at a
 * time.
 */
export const expireApprovals = (context: Context): Promise<void> =>
  expire(context, ['waiting', 'granted'], [{ field: 'expiresAt', is: 'less', value: context.clock.now() }]);

/** After a restore nobody knows what has been come for since the backup. */
export const expireGranted = (context: Context): Promise<void> => expire(context, ['granted'], []);

async function expire(
  context: Context,
  states: readonly ApprovalState[],
  more: readonly Condition<'approval'>[],
): Promise<void> {
  const { store } = context;
  const where: Condition<'approval'>[] = [{ field: 'state', is: 'oneOf', value: states }, ...more];
  const order = { field: 'expiresAt', descending: false } as const;
  for (let n = 0; n < mostPages; n++) {
    const { records } = await store.listWithout('approval', largeFields, { where, order, limit: page });
    for (const approval of records) {
      try {
        await store.commit(await expiredWrites(context, approval));
      } catch (error) {
        // Somebody decided, or came for it, in between: the next run looks again.
        if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
      }
    }
    if (records.length < page) return;
  }
}

/** Milliseconds for which an approval that has come to an end can still be looked up; what happened stays in the audit trail. */
const remembered = 90 * 24 * 3_600_000;

const ended = [
  'issued',
  'revoked',
  'rejected',
  'expired',
  'superseded',
] as const satisfies readonly ApprovalState[];

/** Deletes the approvals that answered for their request for the last time long ago. To be called by one instance at a time. */
export async function pruneApprovals({ store, clock }: Context): Promise<void> {
  const long: Condition<'approval'> = { field: 'expiresAt', is: 'less', value: clock.now() - remembered };
  const order = { field: 'expiresAt', descending: false } as const;
  for (let n = 0; n < mostPages; n++) {
    const where: Condition<'approval'>[] = [{ field: 'state', is: 'oneOf', value: ended }, long];
    const { records } = await store.listWithout('approval', largeFields, { where, order, limit: page });
    if (records.length === 0) return;
    await store.commit(records.map(({ id }): Write => ({ op: 'delete', kind: 'approval', id })));
    if (records.length < page) return;
  }
}
