import { demand, type Principal, readsOf } from '../access/principal.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Condition, Page } from '../ports/store.ts';
import type { ChainedEvent } from '../records/audit-event.ts';
import { deviceWith } from './block.ts';

/** The number of certificates, and of approvals, whose events are included. */
const mostObjects = 1000;
const mostEvents = 1000;

/**
 * Returns the events of a device, its certificates and its approvals, and the requests that were refused: newest first,
 * each event once. Faults: forbidden, notFound, malformed.
 */
export async function deviceTimeline(
  context: Pick<Ports, 'log' | 'store'>,
  principal: Principal,
  id: number,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
): Promise<Page<ChainedEvent>> {
  demand(principal, 'history.read');
  await deviceWith(context, id);
  const reads = readsOf(context, principal);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= mostEvents)) {
    throw new Fault('malformed', `a page has 1 to ${mostEvents} records`, { field: 'limit' });
  }
  if (cursor !== undefined && !/^[1-9]\d{0,15}$/.test(cursor)) {
    throw new Fault('malformed', 'this cursor does not belong to this list', { field: 'cursor' });
  }
  const own = async (kind: 'certificate' | 'approval'): Promise<readonly string[]> => {
    const whose = [{ field: 'device', is: 'equal', value: id } as const];
    const tallies = await reads.tally(kind, whose, ['id'], mostObjects);
    return tallies.map(({ values: [of] }) => `${kind}:${of}`);
  };
  const objects = [`device:${id}`, ...(await own('certificate')), ...(await own('approval'))];
  const before: Condition<'auditEvent'>[] =
    cursor === undefined ? [] : [{ field: 'id', is: 'less', value: Number(cursor) }];
  const matching = (...where: readonly Condition<'auditEvent'>[]) =>
    reads.list('auditEvent', { where: [...where, ...before], limit });
  const [byObject, byActor] = await Promise.all([
    matching({ field: 'object', is: 'oneOf', value: objects }),
    // Failed requests have no object that belongs to the device; their actor is recorded in this form.
    matching(
      { field: 'actor', is: 'startsWith', value: `["device",${id},` },
      { field: 'outcome', is: 'oneOf', value: ['refused', 'failed'] },
    ),
  ]);
  const events = new Map([...byObject.records, ...byActor.records].map((event) => [event.id, event]));
  const sorted = [...events.values()].sort((a, b) => b.id - a.id);
  const records = sorted.slice(0, limit);
  const isMore = sorted.length > limit || byObject.next !== undefined || byActor.next !== undefined;
  return { records, ...(isMore && { next: String(records.at(-1)!.id) }) };
}
