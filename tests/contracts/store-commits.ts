import { describe, expect, test } from 'bun:test';
import type { FaultCode } from '#core/fault.ts';
import { configurationKinds, newHandle, type Store, type Write } from '#core/ports/store.ts';
import { type Databases, failure } from './store.ts';
import { verifyChains } from './store-audit.ts';
import { event, insert, nullable, sampleKinds, withCa } from './store-samples.ts';

const names = async (store: Store): Promise<string[]> =>
  (await store.list('role', { limit: 1000 })).records.map(({ uniqueName }) => uniqueName).sort();

/** Stands for the id of the role that a commit creates. */
const newRole = newHandle('role');
const role = (uniqueName: string): Write => insert('role', { uniqueName }, newRole);
const device = (commonName: string): Write => insert('device', { commonName, ...nullable.device });

/** The field or record that `refused` is about. */
async function prepare(store: Store): Promise<void> {
  await withCa(store);
  await store.commit([
    role('taken'),
    role('other'),
    device('pump'),
    insert('certificate', nullable.certificate),
    insert('crl'),
    ...['a', 'b', 'c'].map((username) => insert('user', { username })),
  ]);
}

const itself = newHandle('itself');

const refused: [
  string,
  Write,
  { readonly code: FaultCode; readonly field?: string; readonly detail?: string },
][] = [
  [
    'a guard on a list that has become longer',
    { op: 'update', kind: 'device', id: 1, where: { custodians: [] }, set: { custodians: ['user:2'] } },
    { code: 'conflict' },
  ],
  ['a second record with a unique value', role('taken'), { code: 'conflict', field: 'uniqueName' }],
  [
    'an update to a value that another has',
    { op: 'update', kind: 'role', id: 2, set: { uniqueName: 'taken' } },
    { code: 'conflict', field: 'uniqueName' },
  ],
  ['a second device of a name', device('pump'), { code: 'conflict', field: 'commonName' }],
  [
    'a serial number that its CA has used',
    insert('certificate', nullable.certificate),
    { code: 'conflict', field: 'serialNumber' },
  ],
  ['a second CRL of a CA', insert('crl'), { code: 'conflict', field: 'ca' }],
  [
    'an update of what is not there',
    { op: 'update', kind: 'role', id: 999_999, set: { createdAt: 5 } },
    { code: 'conflict' },
  ],
  [
    'a guard that does not hold',
    { op: 'update', kind: 'certificate', id: 1, where: { status: 'good' }, set: { hidden: false } },
    { code: 'conflict', detail: 'the certificate was modified or deleted concurrently' },
  ],
  [
    'a guard of null where there is something',
    { op: 'update', kind: 'certificate', id: 1, where: { status: 'revoked', domain: 5 }, set: {} },
    { code: 'conflict' },
  ],
  [
    'a guard that nothing can fulfil',
    { op: 'update', kind: 'role', id: 1, where: { uniqueName: '\0' }, set: { createdAt: 5 } },
    { code: 'conflict' },
  ],
  ['a delete of what is not there', { op: 'delete', kind: 'role', id: 999_999 }, { code: 'conflict' }],
  [
    'a delete whose guard does not hold',
    { op: 'delete', kind: 'role', id: 1, where: { isProtected: false } },
    { code: 'conflict' },
  ],
  [
    'a delete of what one other refers to',
    { op: 'delete', kind: 'issuingCa', id: 1 },
    { code: 'conflict', detail: 'still used by 1 certificate' },
  ],
  [
    'a delete of what several refer to',
    { op: 'delete', kind: 'role', id: 1 },
    { code: 'conflict', detail: 'still used by 3 users' },
  ],
  [
    'a reference to nothing',
    insert('user', { username: 'x', role: 999_999 }),
    { code: 'conflict', field: 'role', detail: 'there is no such role' },
  ],
  [
    'an update to a reference to nothing',
    { op: 'update', kind: 'device', id: 1, set: { domain: 999_999 } },
    { code: 'conflict', field: 'domain', detail: 'there is no such domain' },
  ],
  ['this value cannot be stored', role('a\0'), { code: 'malformed', field: 'uniqueName' }],
  [
    'a handle of the write itself',
    insert('user', { username: 'y', role: itself }, itself),
    { code: 'internal' },
  ],
  [
    'a handle of no write',
    insert('user', { username: 'y', role: newHandle('nothing') }),
    { code: 'internal' },
  ],
  [
    'a requirement that does not hold',
    { op: 'require', kind: 'certificate', id: 1, where: { status: 'good' } },
    { code: 'conflict', detail: 'the certificate was modified or deleted concurrently' },
  ],
  [
    'a requirement of what is not there',
    { op: 'require', kind: 'role', id: 999_999, where: {} },
    { code: 'conflict' },
  ],
];

export function commitContract({ fresh, shared }: Databases): void {
  describe('a commit', () => {
    const database = shared(prepare);
    test.each(refused)('with %s is rejected and has no effect', async (_, write, fault) => {
      const { store } = database();
      const before = await store.get('role', 1);
      const counter = await store.changeCounter();
      const writes: Write[] = [
        role('along'),
        write,
        { op: 'update', kind: 'role', id: 1, set: { createdAt: 77 } },
        { op: 'audit', event: event() },
      ];
      expect(await failure(store.commit(writes))).toMatchObject({ name: 'Fault', ...fault });
      expect(await failure(store.commit([write]))).toMatchObject({ name: 'Fault', ...fault });
      expect(await store.get('role', 1)).toEqual(before!);
      expect(await names(store)).toEqual(['other', 'taken']);
      expect(await store.count('auditEvent', [], 10)).toBe(0);
      expect(await store.changeCounter()).toBe(counter);
    });
  });

  describe('commit', () => {
    test('returns the ids of its writes, and later writes can refer to earlier ones', async () => {
      const store = await (await fresh()).open();
      const first = newHandle('first');
      await store.commit([role('first')]);
      const ids = await store.commit([
        { op: 'update', kind: 'role', id: 1, set: { isProtected: false } },
        role('second'),
        { op: 'audit', event: event({ object: 'role' }), about: newRole },
        insert('user', { role: newRole }),
        { op: 'require', kind: 'role', id: 1, where: { isProtected: false }, as: first },
        insert('user', { username: 'other', role: first }),
        { op: 'update', kind: 'user', id: 1, set: { role: newRole } },
        { op: 'delete', kind: 'user', id: 2 },
        { op: 'audit', event: event() },
      ]);
      expect(ids).toEqual([1, 2, 0, 1, 1, 2, 1, 2, 0]);
      expect(await store.get('user', 1)).toMatchObject({ role: 2 });
      expect(await store.count('user', [], 10)).toBe(1);
      const { records } = await store.list('auditEvent', {
        limit: 10,
        order: { field: 'id', descending: false },
      });
      expect(records.map(({ object }) => object)).toEqual(['role:2', 'device:1']);
      expect(await store.commit([])).toEqual([]);
    });

    test('a rejected commit does not affect those that share its transaction', async () => {
      const store = await (await fresh()).open();
      await prepare(store);
      const commits = Array.from({ length: 60 }, (_, i) => {
        const bad = i % 3 === 0 ? refused[(i / 3) % refused.length]![1] : undefined;
        const audit: Write = {
          op: 'audit',
          event: event({ object: 'role', action: `role.${i}` }),
          about: newRole,
        };
        return { good: !bad, done: store.commit([role(`n${i}`), audit, ...(bad ? [bad] : [])]) };
      });
      const settled = await Promise.allSettled(commits.map(({ done }) => done));
      expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(commits.map(({ good }) => good));
      const expected = [...commits.keys()].filter((i) => commits[i]!.good);
      expect(await names(store)).toEqual([...expected.map((i) => `n${i}`), 'other', 'taken'].sort());
      const events = await verifyChains(store);
      expect(events.map(({ action }) => action)).toEqual(expected.map((i) => `role.${i}`));
      for (const { action, object } of events) {
        const created = await store.find('role', { uniqueName: action.replace('role.', 'n') });
        expect(object).toBe(`role:${created?.id}`);
      }
    });

    test('of several commits that only add records, the rejected ones do not affect the others', async () => {
      const store = await (await fresh()).open();
      await prepare(store);
      const tried = newHandle('tried');
      const { certificate } = nullable;
      const units: (readonly [Write, string | undefined])[] = [
        [insert('loginFailure', { subject: 'a "quoted\\ {one}, \n é 🔑' }), undefined],
        [insert('certificate', { ...certificate, serialNumber: '02', der: new Uint8Array(0) }), undefined],
        [insert('certificate', certificate), 'serialNumber'],
        [insert('certificate', { ...certificate, serialNumber: '03', ca: 999_999 }), 'ca'],
        [insert('loginFailure', { subject: 'a\0' }), 'subject'],
        [insert('loginFailure', { subject: '\ud800 alone' }), undefined],
        [device('new'), undefined],
        [device('pump'), 'commonName'],
      ];
      const settled = await Promise.allSettled(
        units.map(([write], n) =>
          store.commit([
            insert('noOnboardingConfig', nullable.noOnboardingConfig),
            { ...write, as: tried } as Write,
            { op: 'audit', event: event({ action: `a${n}`, object: 'it' }), about: tried },
          ]),
        ),
      );
      expect(settled.map((one) => (one.status === 'rejected' ? one.reason.field : undefined))).toEqual(
        units.map(([, field]) => field),
      );
      const stored = units.flatMap(([write, field], n) => (field === undefined ? [{ write, n }] : []));
      const events = await verifyChains(store);
      expect(events.map(({ action }) => action)).toEqual(stored.map(({ n }) => `a${n}`));
      for (const [at, { write, n }] of stored.entries()) {
        const outcome = settled[n]!;
        const id = outcome.status === 'fulfilled' ? outcome.value[1]! : 0;
        expect(events[at]!.object).toBe(`it:${id}`);
        if (write.op !== 'insert') continue;
        const expected = JSON.parse(JSON.stringify(write.values).replace('\\ud800', '\ufffd'));
        expect(JSON.parse(JSON.stringify(await store.get(write.kind, id)))).toEqual({ id, ...expected });
      }
      expect(await store.count('noOnboardingConfig', [], 10)).toBe(stored.length);
    });

    test('commits take effect in the order of the calls', async () => {
      const store = await (await fresh()).open();
      await store.commit([role('a')]);
      const updates = Array.from({ length: 50 }, (_, i) =>
        store.commit([
          { op: 'update', kind: 'role', id: 1, where: { createdAt: i + 1 }, set: { createdAt: i + 2 } },
          role(`r${i}`),
        ]),
      );
      await Promise.all(updates);
      expect((await store.get('role', 1))?.createdAt).toBe(51);
      const swaps = await Promise.all([
        store.commit([{ op: 'delete', kind: 'role', id: 1 }]),
        store.commit([role('a')]),
        store.commit([role('b'), insert('user', { username: 'b', role: newRole })]),
        store.commit([role('c'), insert('user', { username: 'c', role: newRole })]),
      ]);
      const found = await Promise.all(
        ['a', 'b', 'c'].map((uniqueName) => store.find('role', { uniqueName })),
      );
      expect(found.map((one) => one?.id)).toEqual(swaps.slice(1).map(([id]) => id));
      expect((await store.find('user', { username: 'c' }))?.role).toBe(swaps[3]![0]);
    });

    test('concurrent commits of many kinds return their own ids', async () => {
      const store = await (await fresh()).open();
      const many = 40;
      const [, ...profiles] = await store.commit([
        insert('setting', { value: Uint8Array.of(0) }),
        ...Array.from({ length: many }, (_, i) => insert('profile', { uniqueName: `p${i}` })),
      ]);
      const ids = await Promise.all(
        Array.from({ length: many }, (_, i) =>
          store.commit([
            role(`r${i}`),
            { op: 'audit', event: event({ object: 'role' }), about: newRole },
            {
              op: 'update',
              kind: 'setting',
              id: 1,
              where: { value: Uint8Array.of(i) },
              set: { value: Uint8Array.of(i + 1) },
            },
            insert('user', { username: `u${i}`, role: newRole }),
            { op: 'delete', kind: 'profile', id: profiles[i]! },
          ]),
        ),
      );
      for (const [i, [id, , , user]] of ids.entries()) {
        expect(await store.get('role', id!)).toMatchObject({ uniqueName: `r${i}` });
        expect(await store.get('user', user!)).toMatchObject({ username: `u${i}`, role: id! });
      }
      expect(await store.get('setting', 1)).toMatchObject({ value: Uint8Array.of(many) });
      expect(await store.count('profile', [], 10)).toBe(0);
      const events = await verifyChains(store);
      expect(events.map(({ object }) => object)).toEqual(ids.map(([id]) => `role:${id}`));
    });

    test('an insert that refers to a deleted record is rejected, not deleted with it', async () => {
      const store = await (await fresh()).open();
      await store.commit([role('r'), insert('user', { username: 'a' }), insert('user', { username: 'b' })]);
      const settled = await Promise.allSettled([
        store.commit([insert('session', { user: 2 })]),
        store.commit([{ op: 'delete', kind: 'user', id: 1 }]),
        store.commit([insert('session', { user: 1 })]),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
      expect((await store.list('session', { limit: 10 })).records).toMatchObject([{ user: 2 }]);
    });

    test('a large commit is atomic', async () => {
      const store = await (await fresh()).open();
      const writes = Array.from({ length: 1500 }, (_, i) => role(`r${i}`));
      const ids = await store.commit(writes);
      expect(new Set(ids).size).toBe(1500);
      expect(await store.get('role', ids[1234]!)).toMatchObject({ uniqueName: 'r1234' });
      expect(await failure(store.commit([...writes.map((_, i) => role(`s${i}`)), role('r0')]))).toMatchObject(
        {
          code: 'conflict',
        },
      );
      expect(await store.count('role', [], 10_000)).toBe(1500);
    });

    test('dependent records are deleted with their record', async () => {
      const store = await withCa(await (await fresh()).open());
      await store.commit([insert('crl'), role('a'), insert('user'), insert('session'), insert('session')]);
      await store.commit([{ op: 'delete', kind: 'user', id: 1 }]);
      expect(await store.count('session', [], 5)).toBe(0);
      await store.commit([{ op: 'delete', kind: 'issuingCa', id: 1 }]);
      expect(await store.get('crl', 1)).toBeUndefined();
    });

    test('committed records are there when the store is opened again', async () => {
      const database = await fresh();
      const first = await database.open();
      const last = first.commit([role('kept'), { op: 'audit', event: event() }]);
      await first.close();
      await last;
      const second = await database.open();
      expect(await names(second)).toEqual(['kept']);
      await second.commit([role('new'), { op: 'audit', event: event() }]);
      expect(await verifyChains(second)).toHaveLength(2);
    });

    test('a closed store rejects commits', async () => {
      const store = await (await fresh()).open();
      await store.close();
      expect(await failure(store.commit([role('late')]))).toMatchObject({ code: 'unavailable' });
    });

    test('a store that closes completes the commits it received, and rejects later ones', async () => {
      const store = await (await fresh()).open();
      await store.commit([role('a')]);
      const asked = [
        store.get('role', 1),
        store.find('role', { uniqueName: 'a' }),
        store.deviceLogin('pump-1', 'estPassword').then((found) => ({ found })),
        store.changeCounter().then((counter) => ({ counter })),
      ];
      await store.close();
      const a = { uniqueName: 'a' };
      expect(await Promise.all(asked)).toMatchObject([a, a, { found: undefined }, { counter: 1 }]);
      const late = [
        store.get('role', 1),
        store.list('role', { limit: 1 }),
        store.list('device', { limit: 1 }),
        store.count('certificate', [], 1),
        store.deviceLogin('pump-1', 'estPassword'),
        store.changeCounter(),
        store.lease('work', 'me', 1),
        store.auditHeads(''),
      ];
      const refused = await Promise.all(late.map(failure));
      expect(refused).toEqual(refused.map(() => expect.objectContaining({ code: 'unavailable' })));
    });

    test('a store that closes reports why it rejected a commit', async () => {
      const store = await withCa(await (await fresh()).open());
      const refused = [
        failure(store.commit([insert('user', { role: 9 })])),
        failure(store.commit([{ op: 'delete', kind: 'issuingCa', id: 7 }])),
        failure(store.commit([insert('session', { user: 5 })])),
      ];
      await store.close();
      expect(await Promise.all(refused)).toMatchObject([
        { code: 'conflict', detail: 'there is no such role' },
        { code: 'conflict' },
        { code: 'conflict', detail: 'there is no such user' },
      ]);
    });

    test('instances that write concurrently get their own results', async () => {
      const database = await fresh();
      const stores = [await database.open(), await database.open(), await database.open()];
      const settled = await Promise.all(
        stores.map((store, s) =>
          Promise.allSettled(
            Array.from({ length: 40 }, async (_, i) => {
              await Bun.sleep(i % 7);
              const name = i % 2 === 0 ? `shared-${i}` : `own-${s}-${i}`;
              return store.commit([role(name), { op: 'audit', event: event({ action: name }) }]);
            }),
          ),
        ),
      );
      for (let i = 0; i < 40; i++) {
        const outcomes = settled.map((of) => of[i]!);
        const winners = outcomes.filter(({ status }) => status === 'fulfilled');
        expect(winners).toHaveLength(i % 2 === 0 ? 1 : 3);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ field: 'uniqueName' });
        }
      }
      const events = await verifyChains(stores[0]!);
      expect(events).toHaveLength(20 + 60);
      expect(new Set(events.map(({ chain }) => chain)).size).toBe(3);
    });
  });

  describe('changeCounter', () => {
    test('is raised by every commit that touches configuration, and all instances see it', async () => {
      const database = await fresh();
      const store = await database.open();
      const other = await database.open();
      const raised = async (...writes: Write[]): Promise<boolean> => {
        const before = await other.changeCounter();
        await store.commit(writes);
        return (await other.changeCounter()) > before;
      };
      for (const kind of sampleKinds) {
        const raises = (configurationKinds as readonly string[]).includes(kind);
        expect([kind, await raised(insert(kind))]).toEqual([kind, raises]);
      }
      const rename = { op: 'update', kind: 'issuingCa', id: 1, set: { crlNumber: 8 } } as const;
      expect(await raised(rename)).toBe(true);
      expect(await raised({ ...rename, quiet: true })).toBe(false);
      expect(await raised({ ...rename, quiet: true }, rename)).toBe(true);
      expect(await raised(insert('truststore', { uniqueName: 't' }))).toBe(true);
      expect(await raised({ op: 'delete', kind: 'truststore', id: 2 })).toBe(true);
      expect(await raised({ op: 'audit', event: event() })).toBe(false);
    });
  });

  describe('lease', () => {
    test('has one holder at a time, until it expires or is released', async () => {
      const database = await fresh();
      let now = 1_790_000_000_000;
      const clock = { now: () => now };
      const [a, b] = [await database.open(clock), await database.open(clock)];
      const steps: [number, Store, string, string, number, boolean][] = [
        [0, a, 'crl', 'a', 10, true],
        [0, b, 'crl', 'b', 10, false],
        [0, b, 'other', 'b', 10, true],
        [9_999, b, 'crl', 'b', 10, false],
        [0, a, 'crl', 'a', 10, true],
        [9_999, b, 'crl', 'b', 10, false],
        [1, b, 'crl', 'b', 10, true],
        [0, a, 'crl', 'a', 10, false],
        [0, a, 'crl', 'a', 0, false],
        [0, b, 'crl', 'b', 0, true],
        [0, a, 'crl', 'a', 10, true],
        [0, b, 'crl', 'b', 10, false],
        // Clocks that differ or are corrected.
        [-10_000, b, 'crl', 'b', 10, false],
        [-7_200_000, b, 'crl', 'b', 0, false],
        [0, b, 'crl', 'b', 10, true],
        [0, a, 'crl', 'a', 10, false],
        [0, b, 'crl', 'b', 0, true],
        [-7_200_000, a, 'crl', 'a', 10, true],
      ];
      for (const [wait, store, name, holder, seconds, got] of steps) {
        now += wait;
        expect(await store.lease(name, holder, seconds)).toBe(got);
      }
    });

    test('is given to one of many concurrent callers', async () => {
      const database = await fresh();
      const stores = [await database.open(), await database.open()];
      const asked = await Promise.all(
        Array.from({ length: 20 }, (_, i) => stores[i % 2]!.lease('one', `holder-${i}`, 60)),
      );
      expect(asked.filter(Boolean)).toHaveLength(1);
    });
  });

  describe('health', () => {
    test('is good while the database answers', async () => {
      const store = await (await fresh()).open();
      expect(await store.health()).toEqual({ ok: true });
    });
  });
}
