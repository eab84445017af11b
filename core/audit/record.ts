import type { Ports } from '../ports/ports.ts';
import type { Handle, Write } from '../ports/store.ts';
import type { Actor, AuditEvent } from '../records/audit-event.ts';

export const systemActor: Actor = { kind: 'system', id: null, name: 'postern', address: '' };

/** Returns the audit write of a change. It belongs into the same commit as the change. */
export function audit(
  context: Pick<Ports, 'clock'>,
  actor: Actor,
  event: Pick<AuditEvent, 'action' | 'object'> & Partial<Pick<AuditEvent, 'outcome' | 'detail'>>,
  about?: Handle,
): Write {
  const { action, object, outcome = 'success', detail = {} } = event;
  const recorded: AuditEvent = { at: context.clock.now(), actor, action, object, outcome, detail };
  return about ? { op: 'audit', event: recorded, about } : { op: 'audit', event: recorded };
}

/** Shortens untrusted text for audit and log to 200 characters. */
export const shorten = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text;

/**
 * Stores the audit event of a refusal. If the store is unreachable, the response stays the same and the failure is
 * logged.
 */
export async function recordRefusal(context: Pick<Ports, 'store' | 'log'>, write: Write): Promise<void> {
  try {
    await context.store.commit([write]);
  } catch (error) {
    context.log.error('a refusal could not be audited', error);
  }
}
