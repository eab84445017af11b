import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Condition } from '../ports/store.ts';
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
