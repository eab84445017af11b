import { demand, type Principal } from '../accounts/principal.ts';
import type { Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Page, Query } from '../ports/store.ts';
import type { IssuingCa } from './issuing-ca.ts';

export interface IssuingCas {
  list(principal: Principal, query: Query<'issuingCa'>): Promise<Page<IssuingCa>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<IssuingCa>;
}

export function issuingCas(context: Context): IssuingCas {
  return {
    async list(principal, query) {
      demand(principal, 'cas.read');
      return context.store.list('issuingCa', query);
    },
    async read(principal, id) {
      demand(principal, 'cas.read');
      const record = await context.store.get('issuingCa', id);
      if (!record) throw new Fault('notFound', 'there is no such issuing CA');
      return record;
    },
  };
}
