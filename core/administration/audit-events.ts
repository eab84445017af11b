import { demand, type Principal, readsOf } from '../access/principal.ts';
import { type AuditVerdict, verifyAudit } from '../audit/verify.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import type { ChainedEvent } from '../records/audit-event.ts';

export interface AuditEvents {
  list(principal: Principal, query: Query<'auditEvent'>): Promise<Page<ChainedEvent>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<ChainedEvent>;
  /** See `verifyAudit`. */
  verify(principal: Principal): Promise<AuditVerdict>;
}

/** The audit trail: it is read, and nothing else. */
export function auditEvents({ store, vault }: Pick<Ports, 'store' | 'vault'>): AuditEvents {
  return {
    async list(principal, query) {
      demand(principal, 'audit.read');
      return readsOf(store, principal).list('auditEvent', query);
    },
    async read(principal, id) {
      demand(principal, 'audit.read');
      const event = await store.get('auditEvent', id);
      if (!event) throw new Fault('notFound', 'there is no such audit event');
      return event;
    },
    async verify(principal) {
      demand(principal, 'audit.read');
      return verifyAudit(store, vault);
    },
  };
}
