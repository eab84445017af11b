import type { Ports } from '../ports/ports.ts';
import type { Condition, Write } from '../ports/store.ts';
import type { Session } from '../records/account.ts';

/** The writes that end every session of a user. */
export async function endSessions(
  context: Pick<Ports, 'clock' | 'store'>,
  user: number,
): Promise<readonly Write[]> {
  const open = await allSessions(context, [
    { field: 'user', is: 'equal', value: user },
    { field: 'isRevoked', is: 'equal', value: false },
    { field: 'expiresAt', is: 'greater', value: context.clock.now() },
  ]);
  return open.map(({ id }) => ({ op: 'update', kind: 'session', id, set: { isRevoked: true } }));
}

/** Deletes sessions that ended by themselves. A thousand at a time: the next call goes on. */
export async function pruneSessions({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<void> {
  const { records } = await store.list('session', {
    where: [{ field: 'expiresAt', is: 'less', value: clock.now() }],
    order: { field: 'expiresAt', descending: false },
    limit: 1000,
  });
  if (records.length > 0)
    await store.commit(records.map(({ id }) => ({ op: 'delete', kind: 'session', id })));
}

async function allSessions(
  { store }: Pick<Ports, 'store'>,
  where: readonly Condition<'session'>[],
): Promise<readonly Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list('session', { where, limit: 1000, ...(cursor && { cursor }) });
    found.push(...page.records);
    cursor = page.next;
  } while (cursor);
  return found;
}
