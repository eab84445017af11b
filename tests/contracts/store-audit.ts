import { describe, expect, test } from 'bun:test';
import { chainHash, genesis } from '#core/audit/chain.ts';
import type { Store } from '#core/ports/store.ts';
import type { ChainedEvent } from '#core/records/audit-event.ts';
import { type Databases, failure } from './store.ts';
import { event, insert } from './store-samples.ts';

/** Returns every event, chain by chain, after checking that the chains are complete. */
export async function verifyChains(store: Store): Promise<ChainedEvent[]> {
  const events: ChainedEvent[] = [];
  for (const head of await store.auditHeads('')) {
    let previous = genesis;
    let sequence = 0;
    let cursor: string | undefined;
    do {
      const page = await store.list('auditEvent', {
        where: [{ field: 'chain', is: 'equal', value: head.chain }],
        order: { field: 'sequence', descending: false },
        limit: 7,
        ...(cursor && { cursor }),
      });
      for (const record of page.records) {
        expect(record.sequence).toBe(++sequence);
        previous = chainHash(previous, head.chain, sequence, record);
        expect(record.hash).toEqual(new Uint8Array(previous));
        events.push(record);
      }
      cursor = page.next;
    } while (cursor);
    expect(head).toEqual({ chain: head.chain, sequence, hash: new Uint8Array(previous) });
  }
  expect(await store.count('auditEvent', [], 1_000_000)).toBe(events.length);
  return events;
}

export function auditContract({ fresh, shared }: Databases): void {
  describe('audit', () => {
    test('events form an unbroken chain, also when commits fail', async () => {
      const store = await (await fresh()).open();
      const appended: string[] = [];
      const append = (i: number, ok: boolean) => {
        const action = `step.${i}`;
        if (ok) appended.push(action);
        const audits = [event({ action }), event({ action, detail: { ü: '\u0000"\\', z: 1, a: null } })];
        return store.commit([
          ...audits.map((one) => ({ op: 'audit', event: one }) as const),
          ok ? insert('loginFailure') : ({ op: 'delete', kind: 'role', id: 1 } as const),
        ]);
      };
      for (let i = 0; i < 30; i++) {
        if (i % 10 === 9)
          await Promise.allSettled(Array.from({ length: 10 }, (_, k) => append(100 * i + k, k % 4 !== 1)));
        else await append(i, i % 4 !== 2).catch(() => {});
      }
      const events = await verifyChains(store);
      expect(events.map(({ action }) => action)).toEqual(appended.flatMap((action) => [action, action]));
      expect(new Set(events.map(({ chain }) => chain)).size).toBe(1);
    });

    test('lone surrogates are replaced before an event is hashed', async () => {
      const store = await (await fresh()).open();
      const object = 'domain:pl\ud83dant';
      await store.commit([{ op: 'audit', event: event({ object, detail: { object } }) }]);
      const [stored] = await verifyChains(store);
      expect(stored).toMatchObject({ object: 'domain:pl\ufffdant' });
    });

    test('every opening of the store begins a chain with its first event', async () => {
      const database = await fresh();
      for (let i = 0; i < 3; i++) {
        const store = await database.open();
        await store.commit([
          { op: 'audit', event: event() },
          { op: 'audit', event: event() },
        ]);
        await (await database.open()).close();
        await store.close();
      }
      const store = await database.open();
      await verifyChains(store);
      const heads = await store.auditHeads('');
      expect(heads.map(({ sequence }) => sequence)).toEqual([2, 2, 2]);
      const chains = heads.map(({ chain }) => chain);
      expect(chains).toEqual(chains.toSorted());
      expect(await store.auditHeads(chains[0]!)).toEqual(heads.slice(1));
    });
  });

  describe('the audit trail', () => {
    const edits = [
      "update audit_events set action = 'x'",
      'update audit_events set sequence = sequence + 10',
      'delete from audit_events',
      'delete from audit_events where sequence = 2',
      'delete from audit_heads',
      'update audit_heads set sequence = 1',
      "update audit_heads set hash = ''",
      "update audit_heads set chain = 'x', sequence = 100",
    ];
    const database = shared(async (store) => {
      await store.commit([
        { op: 'audit', event: event() },
        { op: 'audit', event: event() },
      ]);
    });
    test.each(edits)('is protected by the database against %s', async (sql) => {
      expect(String(await failure(database().execute(sql)))).toMatch(/append-only/);
      expect(await verifyChains(database().store)).toHaveLength(2);
    });
  });
}
