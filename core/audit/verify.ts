import { Fault } from '../fault.ts';
import type { Vault } from '../ports/platform.ts';
import type { AuditHead, Store } from '../ports/store.ts';
import type { ChainedEvent } from '../records/audit-event.ts';
import { type Anchor, allHeads, anchorAction, digestOf, newestAnchor, openAnchor } from './anchor.ts';
import { chainHash, genesis } from './chain.ts';

/** A violation of the audit trail's integrity. */
export interface AuditProblem {
  readonly chain: string;
  /** The sequence within the chain; for a missing event, the sequence that it should have. */
  readonly sequence: number;
  /** The id of the event, if there is one. */
  readonly event: number | undefined;
  readonly what: string;
}

export interface AuditVerdict {
  readonly events: number;
  readonly chains: number;
  /** The newest anchor; the log also records its number and digest. Undefined before the first anchor. */
  readonly anchor: { readonly number: number; readonly digest: string } | undefined;
  /** The first problem of each damaged chain, the earliest event first. */
  readonly problems: readonly AuditProblem[];
}

/**
 * Reads the whole audit trail and detects any modification, removal, insertion or reordering of events (see `Anchors`
 * for its limits). Works while instances are running.
 */
export async function verifyAudit(store: Store, vault: Vault): Promise<AuditVerdict> {
  const newest = await newestAnchor(store);
  const before = new Map((await allHeads(store)).map((head) => [head.chain, head]));
  const anchors: ChainedEvent[] = [];
  const ends = new Map<string, number>();
  const problems: AuditProblem[] = [];
  let events = 0;
  const check = async (chain: string): Promise<void> => {
    const { count, end, problem } = await walk(store, chain, before.get(chain), anchors);
    events += count;
    ends.set(chain, end);
    if (problem) problems.push(problem);
  };
  for (let chain = await nextChain(store, ''); chain !== undefined; chain = await nextChain(store, chain)) {
    await check(chain);
  }
  for (const chain of before.keys()) if (!ends.has(chain)) await check(chain);

  const after = new Map((await allHeads(store)).map((head) => [head.chain, head]));
  for (const [chain, end] of ends) {
    const head = after.get(chain);
    const problem = (what: string) => problems.push({ chain, sequence: end, event: undefined, what });
    if (!head) problem('the head of the chain is missing');
    else if (head.sequence < end) problem('an event was added after the end of the chain');
  }
  problems.push(...(await checkAnchors(store, vault, anchors, newest)));
  const bad = new Set<string>();
  const first = problems.filter(({ chain }) => !bad.has(chain) && bad.add(chain));
  first.sort((a, b) => (a.event ?? Number.POSITIVE_INFINITY) - (b.event ?? Number.POSITIVE_INFINITY));
  return { events, chains: ends.size, anchor: newest, problems: first };
}

/** Returns the next chain with events, in order of chain names. */
async function nextChain(store: Store, chain: string): Promise<string | undefined> {
  const { records } = await store.list('auditEvent', {
    where: [{ field: 'chain', is: 'greater', value: chain }],
    order: { field: 'chain', descending: false },
    limit: 1,
  });
  return records[0]?.chain;
}

interface Walk {
  readonly count: number;
  /** The last sequence. */
  readonly end: number;
  readonly problem: AuditProblem | undefined;
}

/** Follows a chain from its beginning to the first event that does not match its hash. */
async function walk(
  store: Store,
  chain: string,
  head: AuditHead | undefined,
  anchors: ChainedEvent[],
): Promise<Walk> {
  let previous = genesis;
  let count = 0;
  let at = 0;
  let lastId = 0;
  let cursor: string | undefined;
  const stop = (what: string, event?: number): Walk => {
    return { count, end: count, problem: { chain, sequence: count + 1, event, what } };
  };
  do {
    const page = await store.list('auditEvent', {
      where: [{ field: 'chain', is: 'equal', value: chain }],
      order: { field: 'sequence', descending: false },
      limit: 1000,
      ...(cursor && { cursor }),
    });
    for (const event of page.records) {
      if (event.sequence !== count + 1) return stop('an event is missing before this one', event.id);
      if (Buffer.compare(chainHash(previous, chain, event.sequence, event), event.hash) !== 0) {
        return stop('the event was modified', event.id);
      }
      if (event.id <= lastId) return stop('the event was moved', event.id);
      if (head?.sequence === event.sequence && Buffer.compare(head.hash, event.hash) !== 0) {
        return stop('the last event of the chain was replaced', event.id);
      }
      if (event.action === anchorAction) anchors.push(event);
      previous = event.hash;
      lastId = event.id;
      at = event.sequence;
      count++;
    }
    cursor = page.next;
  } while (cursor);
  if (head && head.sequence > at) return stop('events at the end of the chain are missing');
  return { count, end: at, problem: undefined };
}

async function checkAnchors(
  store: Store,
  vault: Vault,
  events: readonly ChainedEvent[],
  newest: { readonly number: number; readonly digest: string } | undefined,
): Promise<readonly AuditProblem[]> {
  const problems: AuditProblem[] = [];
  /** The highest anchored sequence of each chain. */
  const sealed = new Map<string, { readonly sequence: number; readonly hash: string }>();
  let number = 0;
  let digest = '';
  const inOrder = events.toSorted((a, b) => Number(a.detail.number) - Number(b.detail.number));
  for (const event of inOrder) {
    const { chain, sequence, id } = event;
    const problem = (what: string) => problems.push({ chain, sequence, event: id, what });
    const anchor = opened(vault, event);
    if (!anchor || anchor.number !== event.detail.number)
      problem('this installation did not make the anchor');
    else if (anchor.number !== number + 1 || anchor.previous !== digest)
      problem('an anchor is missing before this one');
    for (const [name, sequence, hash] of anchor?.heads ?? []) {
      if (sequence > (sealed.get(name)?.sequence ?? 0)) sealed.set(name, { sequence, hash });
    }
    number = Number(event.detail.number);
    digest = digestOf(String(event.detail.seal));
    if (number === newest?.number && digest !== newest.digest) problem('the newest anchor was replaced');
  }
  // Anchors that were written after `newest` was read are no problem.
  if (newest && number < newest.number) {
    problems.push({
      chain: '',
      sequence: newest.number,
      event: undefined,
      what: 'the newest anchor is missing',
    });
  }
  for (const [chain, { sequence, hash }] of sealed) {
    const event = await store.find('auditEvent', { chain, sequence });
    if (event && Buffer.from(event.hash).toString('hex') === hash) continue;
    const what = event ? 'the chain differs from its anchor' : 'the chain was truncated before its anchor';
    problems.push({ chain, sequence, event: event?.id, what });
  }
  return problems;
}

function opened(vault: Vault, event: ChainedEvent): Anchor | undefined {
  try {
    return openAnchor(vault, event);
  } catch (error) {
    if (error instanceof Fault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
