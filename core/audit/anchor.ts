import { createHash } from 'node:crypto';
import type { Vault } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { AuditHead, Store } from '../ports/store.ts';
import type { AuditEvent } from '../records/audit-event.ts';
import { secretContext } from '../security/secrets.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { audit, systemActor } from './record.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store' | 'vault'> {}

/** What an anchor says, sealed under the master key. */
export interface Anchor {
  /** 1, 2, 3, … */
  readonly number: number;
  /** SHA-256 of the seal before, hexadecimal; empty for the first. */
  readonly previous: string;
  /** Chain, sequence and hash (hexadecimal) of the last events of chains that have grown. */
  readonly heads: readonly (readonly [chain: string, sequence: number, hash: string])[];
}

/** The newest anchor, as the store keeps it apart from the events. */
export interface NewestAnchor {
  readonly number: number;
  /** SHA-256 of its seal, hexadecimal. */
  readonly digest: string;
}

export const anchorAction = 'audit.anchor';
const newestName = 'audit-anchor';
const mostHeads = 1000;
/** Milliseconds between one process's anchors. */
const interval = 60_000;

export const digestOf = (seal: string): string => createHash('sha256').update(seal).digest('hex');

/** Faults: internal when nobody who has the master key made it. */
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

/** The heads of all chains. */
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
 * Now and then seals where the chains of all processes end, in an audit event of its own. Whoever can write to the database, but
 * has not the master key, cannot rewrite, cut off or remove a chain up to its last anchor without `verifyAudit` finding it.
 * Anchors are numbered and linked, so that none of them can go. What is left to such a writer is to put the whole database back to
 * an earlier state: against that, the log has the number and digest of each anchor.
 */
export class Anchors {
  readonly #context: Dependencies;
  /** Chain → the sequence that this process has anchored. */
  readonly #anchored = new Map<string, number>();
  #anchoredAt = Number.NEGATIVE_INFINITY;
  /** How many events the last anchoring itself has added to this process's chain. */
  #own = 0;

  constructor(context: Dependencies) {
    this.#context = context;
  }

  /** To be called by one instance at a time. */
  async anchorDue(): Promise<void> {
    const { clock, store } = this.#context;
    const now = clock.now();
    // Before that, too: the clock may have been put back.
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
    // Guarded: two instances that believe to be the one cannot both be next.
    const keep = settingWrite(newestName, setting, value, true);
    const event = { action: anchorAction, object: '', detail: { number, seal } };
    await store.commit([keep, audit(this.#context, systemActor, event)]);
    log.info('audit trail anchored', { number, digest: newest.digest });
  }
}
