import { hash } from 'node:crypto';
import type { AuditEvent } from '../records/audit-event.ts';

/** The hash that precedes the first event of a chain. */
export const genesis: Uint8Array = new Uint8Array(32);

/**
 * Returns the hash (32 octets) that links `event` to its predecessor: SHA-256(previous ‖ UTF-8 of a JSON array of
 * chain, sequence and the event's fields in fixed order, the members of `detail` sorted by name).
 */
export function chainHash(
  previous: Uint8Array,
  chain: string,
  sequence: number,
  event: AuditEvent,
): Uint8Array {
  const { actor } = event;
  const detail = Object.entries(event.detail).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([
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
  ]);
  const linked = Buffer.allocUnsafe(previous.length + Buffer.byteLength(text));
  linked.set(previous);
  linked.write(text, previous.length);
  return hash('sha256', linked, 'buffer');
}
