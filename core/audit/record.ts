import type { RequestContext } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { Handle, Store, Write } from '../ports/store.ts';
import type { Actor, AuditEvent } from '../records/audit-event.ts';
import type { AuditAction } from './actions.ts';

export const systemActor: Actor = { kind: 'system', id: null, name: 'postern', address: '' };

/** What happened, without the time and the actor. */
export type AuditNote = { readonly action: AuditAction } & Pick<AuditEvent, 'object'> &
  Partial<Pick<AuditEvent, 'outcome' | 'detail'>>;

/** Returns the audit write of a change. It belongs into the same commit as the change. */
export function audit(context: Pick<Ports, 'clock'>, actor: Actor, event: AuditNote, about?: Handle): Write {
  const { action, object, outcome = 'success', detail = {} } = event;
  const recorded: AuditEvent = { at: context.clock.now(), actor, action, object, outcome, detail };
  return about ? { op: 'audit', event: recorded, about } : { op: 'audit', event: recorded };
}

/**
 * Returns `store` with a `commit` that gives every audit event the id of the current request. It is read when `commit` is
 * called: later, when the writes of several requests are committed together, it would be that of one of them.
 */
export function withRequestIds(store: Store, requests: Pick<RequestContext, 'current'>): Store {
  const members: Record<string, unknown> = {};
  // A store from outside may be an instance of a class, whose methods a spread would lose.
  for (let from: object = store; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from)) {
      const member = Reflect.get(store, name);
      if (!(name in members)) members[name] = typeof member === 'function' ? member.bind(store) : member;
    }
  }
  const commit: Store['commit'] = (writes) => {
    const id = requests.current()?.id;
    return store.commit(id === undefined ? writes : writes.map((write) => withRequestId(write, id)));
  };
  return { ...(members as unknown as Store), commit };
}

function withRequestId(write: Write, requestId: string): Write {
  if (write.op !== 'audit') return write;
  const { at, actor, action, object, outcome, detail } = write.event;
  const event: AuditEvent = { at, actor, action, object, outcome, detail, requestId };
  return write.about ? { op: 'audit', event, about: write.about } : { op: 'audit', event };
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
    context.log.error('a rejected request could not be recorded in the audit log', error);
  }
}
