import { demand, type Principal, readsOf } from '../access/principal.ts';
import { recordVerification } from '../audit/last-verification.ts';
import { type AuditVerdict, verifyAudit } from '../audit/verify.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Query } from '../ports/store.ts';
import { type NamedEvent, withObjectNames } from './audit-names.ts';

export interface AuditEvents {
  list(principal: Principal, query: Query<'auditEvent'>): Promise<Page<NamedEvent>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<NamedEvent>;
  /** See `verifyAudit`. Stores the result for the metrics. */
  verify(principal: Principal): Promise<AuditVerdict>;
}

/** Read access to the audit trail. */
export function auditEvents(context: Pick<Ports, 'clock' | 'log' | 'store' | 'vault'>): AuditEvents {
  const { store, vault, clock, log } = context;
  return {
    async list(principal, query) {
      demand(principal, 'audit.read');
      const page = await readsOf(context, principal).list('auditEvent', query);
      return { ...page, records: await withObjectNames(context, principal, page.records) };
    },
    async read(principal, id) {
      demand(principal, 'audit.read');
      const event = await store.get('auditEvent', id);
      if (!event) throw new Fault('notFound', 'there is no such audit event');
      const [named] = await withObjectNames(context, principal, [event]);
      return named ?? { ...event, objectName: null };
    },
    async verify(principal) {
      demand(principal, 'audit.read');
      const verdict = await verifyAudit(store, vault);
      // The verdict counts, also while nothing can be stored.
      await recordVerification(store, clock, verdict.problems.length === 0).catch((error) =>
        log.error('the result of an audit verification could not be stored', error),
      );
      return verdict;
    },
  };
}
