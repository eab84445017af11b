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

  /** When nobody can tell whether a transaction committed, nobody knows the chain's last event: another one begins. */
  restart(): void {
    this.head = begin();
  }
}

/** `event` as the successor of `head`; it becomes the new head. */
export function link(head: Head, event: AuditEvent): Omit<ChainedEvent, 'id'> {
  const { chain } = head;
  const { at, actor, action, outcome, detail } = event;
  // Half a surrogate pair would come back from the database as another character than was hashed.
  const object = event.object.toWellFormed();
  const sequence = head.sequence + 1;
  const hash = chainHash(head.hash, chain, sequence, { at, actor, action, object, outcome, detail });
  // Spelt out, it is made in one step.
  return { at, actor, action, object, outcome, detail, chain, sequence, hash };
}
