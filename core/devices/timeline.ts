import { demand, type Principal } from '../accounts/principal.ts';
import type { ChainedEvent } from '../audit/event.ts';
import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Condition, Page } from '../ports/store.ts';
import { deviceWith } from './block.ts';

/** Certificates of a device whose events are looked for. */
const mostCertificates = 1000;
const mostEvents = 1000;

/**
 * What happened to a device and to its certificates, and what it did itself: newest first, each event once. Faults: forbidden,
 * notFound, malformed.
 */
export async function deviceTimeline(
  context: Context,
  principal: Principal,
  id: number,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
): Promise<Page<ChainedEvent>> {
  demand(principal, 'history.read');
  await deviceWith(context, id);
  const { store } = context;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= mostEvents)) {
    throw new Fault('malformed', `a page has 1 to ${mostEvents} records`, { field: 'limit' });
  }
  if (cursor !== undefined && !/^[1-9]\d{0,15}$/.test(cursor)) {
    throw new Fault('malformed', 'this is no cursor of this list', { field: 'cursor' });
  }
  const certificates = await store.tally(
    'certificate',
    [{ field: 'device', is: 'equal', value: id }],
    ['id'],
    mostCertificates,
  );
  const objects = [`device:${id}`, ...certificates.map(({ values: [of] }) => `certificate:${of}`)];
  const before: Condition<'auditEvent'>[] =
    cursor === undefined ? [] : [{ field: 'id', is: 'less', value: Number(cursor) }];
  const [suffered, done] = await Promise.all(
    [
      { field: 'object', is: 'oneOf', value: objects } as const,
      // As an actor is stored.
      { field: 'actor', is: 'startsWith', value: `["device",${id},` } as const,
    ].map((whose) => store.list('auditEvent', { where: [whose, ...before], limit })),
  );
  const events = new Map([...suffered!.records, ...done!.records].map((event) => [event.id, event]));
  const sorted = [...events.values()].sort((a, b) => b.id - a.id);
  const records = sorted.slice(0, limit);
  const isMore = sorted.length > limit || suffered!.next !== undefined || done!.next !== undefined;
  return { records, ...(isMore && { next: String(records.at(-1)!.id) }) };
}
