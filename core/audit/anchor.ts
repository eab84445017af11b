import { createHash } from 'node:crypto';
import type { Vault } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { AuditHead, Store } from '../ports/store.ts';
import type { AuditEvent } from '../records/audit-event.ts';
import { secretContext } from '../security/secrets.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { audit, systemActor } from './record.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store' | 'vault'> {}

/** The content of an anchor, sealed under the master key. */
export interface Anchor {
  /** 1, 2, 3, … */
  readonly number: number;
  /** SHA-256 of the previous seal, hexadecimal; empty for the first anchor. */
  readonly previous: string;
  /** Chain, sequence and hash (hexadecimal) of the last event of each chain that has grown. */
  readonly heads: readonly (readonly [chain: string, sequence: number, hash: string])[];
}

/** The newest anchor, which the store keeps apart from the events. */
export interface NewestAnchor {
  readonly number: number;
  /** SHA-256 of its seal, hexadecimal. */
  readonly digest: string;
}

export const anchorAction = 'audit.anchor' as const;
const newestName = 'audit-anchor';
const mostHeads = 1000;
/** Milliseconds between one process's anchors. */
const interval = 60_000;

export const digestOf = (seal: string): string => createHash('sha256').update(seal).digest('hex');

/** Opens the seal of an anchor event. Faults: internal if it was not made with this master key. */
export function openAnchor(vault: Vault, { detail }: Pick<AuditEvent, 'detail'>): Anchor {
  const bytes = vault.open(Buffer.from(String(detail.seal), 'base64'), secretContext.auditAnchor);
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}

export async function newestAnchor(store: Store): Promise<NewestAnchor | undefined> {
  const setting = await store.find('setting', { name: newestName });
  return (
    setting &&
    settingContent<NewestAnchor>(
      setting,
      ({ number, digest }) => Number.isSafeInteger(number) && typeof digest === 'string',
    )
  );
}

/** Returns the heads of all chains. */
export async function allHeads(store: Store): Promise<readonly AuditHead[]> {
  const heads: AuditHead[] = [];
  for (let after = ''; ; ) {
    const page = await store.auditHeads(after);
    heads.push(...page);
    if (page.length === 0) return heads;
    after = page.at(-1)!.chain;
  }
}

/**
 * Periodically seals the ends of all chains in an audit event. An attacker who can write to the database but lacks the
 * master key cannot rewrite, truncate or remove a chain up to its last anchor without `verifyAudit` finding it. Anchors
 * are numbered and linked, so that none can be removed. Such an attacker can still restore an earlier state of the
 * whole database: to detect that, the log records the number and digest of each anchor.
 */
export class Anchors {
  readonly #context: Dependencies;
  /** Chain → the last sequence that this process has anchored. */
  readonly #anchored = new Map<string, number>();
  #anchoredAt = Number.NEGATIVE_INFINITY;
  /** The number of events that the last anchoring itself added to this process's chain. */
  #own = 0;

  constructor(context: Dependencies) {
    this.#context = context;
  }

  /** Anchors the chains if the interval has passed. Call it on one instance at a time. */
  async anchorDue(): Promise<void> {
    const { clock, store } = this.#context;
    const now = clock.now();
    // A large difference in the other direction means that the clock was set back.
    if (Math.abs(now - this.#anchoredAt) < interval) return;
    this.#anchoredAt = now;
    const grown = (await allHeads(store)).filter(({ chain, sequence }) => sequence > this.#known(chain));
    const onlyItself =
      grown.length === 1 && grown[0]!.sequence - this.#known(grown[0]!.chain) === this.#own && this.#own > 0;
    if (grown.length === 0 || onlyItself) return;
    this.#own = 0;
    for (let n = 0; n < grown.length; n += mostHeads) {
      await this.#anchor(grown.slice(n, n + mostHeads));
      this.#own++;
    }
    for (const { chain, sequence } of grown) this.#anchored.set(chain, sequence);
  }

  #known(chain: string): number {
    return this.#anchored.get(chain) ?? 0;
  }

  async #anchor(heads: readonly AuditHead[]): Promise<void> {
    const { store, vault, log } = this.#context;
    const setting = await store.find('setting', { name: newestName });
    const before = await newestAnchor(store);
    const anchor: Anchor = {
      number: (before?.number ?? 0) + 1,
      previous: before?.digest ?? '',
      heads: heads.map(({ chain, sequence, hash }) => [chain, sequence, Buffer.from(hash).toString('hex')]),
    };
    const sealed = vault.seal(Buffer.from(JSON.stringify(anchor)), secretContext.auditAnchor);
    const seal = Buffer.from(sealed).toString('base64');
    const { number } = anchor;
    const newest: NewestAnchor = { number, digest: digestOf(seal) };
    const value = Buffer.from(JSON.stringify(newest));
    // The write is guarded: if two instances both believe to be the only one, only one of them succeeds.
    const keep = settingWrite(newestName, setting, value, true);
    const event = { action: anchorAction, object: '', detail: { number, seal } };
    await store.commit([keep, audit(this.#context, systemActor, event)]);
    log.info('audit log sealed', { number, digest: newest.digest });
  }
}
