import { hash } from 'node:crypto';
import type { AuditEvent } from '../records/audit-event.ts';

/** The hash that precedes the first event of a chain. */
export const genesis: Uint8Array = new Uint8Array(32);

/**
 * Returns the hash (32 octets) that links `event` to its predecessor: SHA-256(previous ‖ UTF-8 of a JSON array of
 * chain, sequence and the event's fields in fixed order, the members of `detail` sorted by name). The request id is
 * the last element, and left out if it is null: events from before there were request ids keep their hashes.
 */
export function chainHash(
  previous: Uint8Array,
  chain: string,
  sequence: number,
  event: AuditEvent,
): Uint8Array {
  const { actor } = event;
  const detail = Object.entries(event.detail).sort(([a], [b]) => (a < b ? -1 : 1));
  const members: unknown[] = [
    chain,
    sequence,
    event.at,
    actor.kind,
    actor.id,
    actor.name,
    actor.address,
    event.action,
    event.object,
    event.outcome,
    detail,
  ];
  if (typeof event.requestId === 'string') members.push(event.requestId);
  const text = JSON.stringify(members);
  const linked = Buffer.allocUnsafe(previous.length + Buffer.byteLength(text));
  linked.set(previous);
  linked.write(text, previous.length);
  return hash('sha256', linked, 'buffer');
}
