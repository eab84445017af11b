import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition, Write } from '../ports/store.ts';
import { type ApprovalState, type ApprovalSummary, largeFields } from '../records/approval.ts';
import type { Actor } from '../records/audit-event.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { eachRecord } from '../storage/each-record.ts';
import { expiredWrites, prolongedWrites } from './transitions.ts';

type Stored = Pick<Ports, 'clock' | 'entropy' | 'store'>;
type Listeners = Pick<Configuration, 'webhooks'>;

interface Dependencies extends Stored, WithConfiguration, WithDamagedRecords {}

const page = 100;

/**
 * Expires overdue approvals: nobody decided, or the requester did not collect the certificate. An approval whose request is pending at
 * an upstream CA is prolonged. One instance at a time calls this.
 */
export const expireApprovals = (context: Dependencies): Promise<void> => {
  const past = { field: 'expiresAt', is: 'less', value: context.clock.now() } as const;
  return expireAll(context, 'approvals', ['waiting', 'granted'], [past], overdueWrites);
};

/** Expires granted approvals after a restore, because their certificates may have been issued since the backup. */
export const expireGranted = (context: Dependencies): Promise<void> =>
  expireAll(context, 'restored approvals', ['granted'], [], async (...args) => expiredWrites(...args));

/** Returns the writes that expire the open approvals of a device, for the commit that deletes the device. */
export async function expiredWithDevice(
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

/** Returns the writes for an overdue approval: it expires, unless its request is pending at an upstream CA or issued there. */
export const overdueWrites = async (
  context: Stored,
  listeners: Listeners,
  approval: ApprovalSummary,
): Promise<readonly Write[]> =>
  (await isWithUpstream(context, approval))
    ? prolongedWrites(context, approval)
    : expiredWrites(context, listeners, approval);

async function isWithUpstream(
  { store, clock }: Pick<Ports, 'clock' | 'store'>,
  { state, answersFor }: ApprovalSummary,
): Promise<boolean> {
  if (state !== 'granted' || answersFor === null) return false;
  const ordered = await store.find('upstreamRequest', { answersFor });
  return ordered !== undefined && ordered.state !== 'failed' && clock.now() < ordered.expiresAt;
}

async function expireAll(
  context: Dependencies,
  task: string,
  states: readonly ApprovalState[],
  more: readonly Condition<'approval'>[],
  writes: typeof overdueWrites,
): Promise<void> {
  const configuration = await context.configuration.current();
  await eachRecord(context, {
    task,
    kind: 'approval',
    without: largeFields,
    query: {
      where: [{ field: 'state', is: 'oneOf', value: states }, ...more],
      order: { field: 'expiresAt', descending: false },
      limit: page,
    },
    work: async (approval) => context.store.commit(await writes(context, configuration, approval)),
  });
}
