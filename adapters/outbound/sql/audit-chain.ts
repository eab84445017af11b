import { chainHash, genesis } from '#core/audit/chain.ts';
import type { AuditEvent, ChainedEvent } from '#core/records/audit-event.ts';

/** The last event of a chain. */
export interface Head {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
}

const begin = (): Head => ({ chain: crypto.randomUUID(), sequence: 0, hash: genesis });

/** The audit chain that this store instance writes. `head` moves only when the transaction has committed. */
export class AuditChain {
  head: Head = begin();

  /**
   * Begins a new chain. Called if it is unknown whether a transaction committed, and therefore which event is the last.
   */
  restart(): void {
    this.head = begin();
  }
}

/** Returns `event` linked to `head` as the new head. */
export function link(head: Head, event: AuditEvent): Omit<ChainedEvent, 'id'> {
  const { chain } = head;
  const { at, actor, action, outcome, detail, requestId = null } = event;
  // The database replaces a lone surrogate, so the stored text would not match its hash.
  const object = event.object.toWellFormed();
  const sequence = head.sequence + 1;
  const linked = { at, actor, action, object, outcome, detail, requestId };
  const hash = chainHash(head.hash, chain, sequence, linked);
  // An object literal with all properties is faster than copying the event.
  return { at, actor, action, object, outcome, detail, chain, sequence, hash, requestId };
}
