import { demand, type Principal, readsOf } from '../access/principal.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import type { UpstreamRequest, UpstreamRequestView } from '../records/upstream-request.ts';

export interface UpstreamRequests {
  list(principal: Principal, query: Query<'upstreamRequest'>): Promise<Page<UpstreamRequestView>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<UpstreamRequestView>;
}

export const upstreamRequests = (context: Pick<Ports, 'log' | 'store'>): UpstreamRequests => ({
  async list(principal, query) {
    demand(principal, 'certificates.read');
    const page = await readsOf(context, principal).list('upstreamRequest', query);
    return { ...page, records: page.records.map(shown) };
  },
  async read(principal, id) {
    demand(principal, 'certificates.read');
    const record = await context.store.get('upstreamRequest', id);
    if (!record) throw new Fault('notFound', 'there is no such upstream request');
    return shown(record);
  },
});

function shown(record: UpstreamRequest): UpstreamRequestView {
  const { wanted, request, renews, message, refused, handle, answersFor, purpose, ...view } = record;
  return view;
}
