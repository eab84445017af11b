import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition, Write } from '../ports/store.ts';
import { type ApprovalInBrief, type ApprovalState, largeFields } from '../records/approval.ts';
import type { Actor } from '../records/audit-event.ts';
import { expiredWrites, prolongedWrites } from './transitions.ts';

type Stored = Pick<Ports, 'clock' | 'entropy' | 'store'>;
type Listeners = Pick<Configuration, 'webhooks'>;

interface Dependencies extends Stored, WithConfiguration {}

const page = 100;
/** In one run; the next one goes on. */
const mostPages = 100;

/**
 * Ends the approvals whose time is up: nobody decided, or the requester did not come for it; what an upstream CA decides on by then goes
 * on. To be called by one instance at a time.
 */
export const expireApprovals = (context: Dependencies): Promise<void> => {
  const past = { field: 'expiresAt', is: 'less', value: context.clock.now() } as const;
  return end(context, ['waiting', 'granted'], [past], overdueWrites);
};

/** After a restore nobody knows what has been come for since the backup. */
export const expireGranted = (context: Dependencies): Promise<void> =>
  end(context, ['granted'], [], async (...args) => expiredWrites(...args));

/** The end of what is still open for a device, as writes of the commit that deletes it. */
export async function endedWithDevice(
  context: Stored,
  listeners: Listeners,
  device: number,
  actor: Actor,
): Promise<readonly Write[]> {
  const where: Condition<'approval'>[] = [
    { field: 'device', is: 'equal', value: device },
    { field: 'state', is: 'oneOf', value: ['waiting', 'granted'] },
  ];
  const writes: Write[] = [];
  let cursor: string | undefined;
  do {
    const query = { where, limit: 1000, ...(cursor && { cursor }) };
    const { records, next } = await context.store.listWithout('approval', largeFields, query);
    for (const approval of records) {
      const ending = { actor, reason: 'the device was deleted' };
      writes.push(...expiredWrites(context, listeners, approval, ending));
    }
    cursor = next;
  } while (cursor);
  return writes;
}

/** What becomes of one whose time is up: the requester has come for what an upstream CA takes longer to decide on, or has issued. */
export const overdueWrites = async (
  context: Stored,
  listeners: Listeners,
  approval: ApprovalInBrief,
): Promise<readonly Write[]> =>
  (await isWithUpstream(context, approval))
    ? prolongedWrites(context, approval)
    : expiredWrites(context, listeners, approval);

async function isWithUpstream(
  { store, clock }: Pick<Ports, 'clock' | 'store'>,
  { state, answersFor }: ApprovalInBrief,
): Promise<boolean> {
  if (state !== 'granted' || answersFor === null) return false;
  const ordered = await store.find('upstreamRequest', { answersFor });
  return ordered !== undefined && ordered.state !== 'failed' && clock.now() < ordered.expiresAt;
}

async function end(
  context: Dependencies,
  states: readonly ApprovalState[],
  more: readonly Condition<'approval'>[],
  writes: typeof overdueWrites,
): Promise<void> {
  const { store } = context;
  const configuration = await context.configuration.current();
  const where: Condition<'approval'>[] = [{ field: 'state', is: 'oneOf', value: states }, ...more];
  const order = { field: 'expiresAt', descending: false } as const;
  for (let n = 0; n < mostPages; n++) {
    const { records } = await store.listWithout('approval', largeFields, { where, order, limit: page });
    for (const approval of records) {
      try {
        await store.commit(await writes(context, configuration, approval));
      } catch (error) {
        // Somebody decided, or came for it, in between: the next run looks again.
        if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
      }
    }
    if (records.length < page) return;
  }
}
