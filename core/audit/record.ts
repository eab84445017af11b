import type { Ports } from '../ports/ports.ts';
import type { Handle, Write } from '../ports/store.ts';
import type { Actor, AuditEvent } from '../records/audit-event.ts';

export const systemActor: Actor = { kind: 'system', id: null, name: 'postern', address: '' };

/** The audit write that goes into the same commit as the change that it tells of. */
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

/** Shortens what a stranger sent, for audit and log. */
export const shorten = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text;

/** Stores the audit record of a refusal. A store that is out of reach does not change the answer; the log tells of it. */
export async function recordRefusal(context: Pick<Ports, 'store' | 'log'>, write: Write): Promise<void> {
  try {
    await context.store.commit([write]);
  } catch (error) {
    context.log.error('a refusal could not be audited', error);
  }
}
