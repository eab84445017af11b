import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Condition, Query, Store } from '#core/ports/store.ts';
import type { StoredCertificate } from '#core/records/certificate.ts';
import { runs } from '#tests/property.ts';
import { type Databases, failure } from './store.ts';
import { event, insert, nullable, withCa } from './store-samples.ts';

/** SQL that copies the first certificate `count` times under other serial numbers. */
const moreCertificates = (count: number): string => `
  insert into certificates (created_at, common_name, ca, serial_number, subject, not_valid_before, not_valid_after,
    fingerprint, status, protocol, hidden, der)
  with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
  select i, common_name, ca, 'F' || i, subject, not_valid_before, not_valid_after, fingerprint, 'good', protocol, hidden, der
  from n, (select * from certificates limit 1) as first`;

type Field = keyof StoredCertificate & string;

const statuses = ['good', 'good', 'good', 'revoked', 'hold', 'intended', 'failed'] as const;
const commonNames = [
  'pump',
  'Pump',
  'PUMP-9',
  'valve_1',
  'valve-1',
  '100%',
  'Kühler',
  'KÜHLER',
  'back\\slash',
  '',
];

/** 250 certificates with many ties and NULLs. */
async function certificates(store: Store): Promise<StoredCertificate[]> {
  await withCa(store);
  const ids = await store.commit(
    Array.from({ length: 250 }, (_, i) =>
      insert('certificate', {
        ...nullable.certificate,
        createdAt: 1000 + (i % 5),
        commonName: commonNames[i % commonNames.length]!,
        serialNumber: (i * 7919).toString(16).toUpperCase().padStart(8, '0'),
        subject: `CN=${i % 3 === 0 ? 'é' : i % 3 === 1 ? 'z' : 'A'}`,
        status: statuses[i % statuses.length]!,
        revokedAt: i % 3 === 0 ? null : 5000 - (i % 11),
        revocationReason: i % 4 === 0 ? null : i % 4 === 1 ? 'superseded' : 'keyCompromise',
        hidden: i % 6 === 0,
        der: Uint8Array.of(i),
      }),
    ),
  );
  const found = await Promise.all(ids.map((id) => store.get('certificate', id)));
  return found.map((record) => record!);
}

/** NULL first, text by its UTF-8 octets. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  return Number(a) - Number(b);
}

const sorted = (records: readonly StoredCertificate[], field: Field, descending: boolean): number[] =>
  records
    .toSorted((a, b) => (compare(a[field], b[field]) || a.id - b.id) * (descending ? -1 : 1))
    .map(({ id }) => id);

async function pages(store: Store, query: Query<'certificate'>): Promise<number[]> {
  const ids: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list('certificate', { ...query, ...(cursor && { cursor }) });
    expect(page.records.length).toBeLessThanOrEqual(query.limit);
    ids.push(...page.records.map(({ id }) => id));
    cursor = page.next;
  } while (cursor);
  return ids;
}

function holds(record: StoredCertificate, { field, is, value }: Condition<'certificate'>): boolean {
  const has = record[field];
  if (is === 'startsWith') return String(has).startsWith(String(value));
  if (is === 'contains') return String(has).toLowerCase().includes(String(value).toLowerCase());
  if (is === 'oneOf') return (value as unknown[]).includes(has);
  if (is === 'equal') return has === value;
  if (has === null || value === null) return false;
  const order = compare(has, value);
  return is === 'less'
    ? order < 0
    : is === 'lessOrEqual'
      ? order <= 0
      : is === 'greater'
        ? order > 0
        : order >= 0;
}

const values: { readonly [F in Field]?: fc.Arbitrary<string | number | boolean | null> } = {
  id: fc.integer({ min: -5, max: 300 }),
  createdAt: fc.integer({ min: 999, max: 1006 }),
  commonName: fc.constantFrom(...commonNames, 'x\0', '\ud800'),
  status: fc.constantFrom(...statuses),
  revokedAt: fc.option(fc.integer({ min: 4988, max: 5001 })),
  revocationReason: fc.constantFrom(null, 'superseded', 'keyCompromise', 'zzz'),
  hidden: fc.boolean(),
};

const condition: fc.Arbitrary<Condition<'certificate'>> = fc
  .constantFrom(...(Object.keys(values) as Field[]))
  .chain((field) => {
    const value = values[field]!;
    const one = fc.record({
      field: fc.constant(field),
      is: fc.constantFrom(...(['equal', 'less', 'lessOrEqual', 'greater', 'greaterOrEqual'] as const)),
      value,
    });
    const some = value.filter((each) => typeof each === 'string' || typeof each === 'number');
    const any = fc.record({
      field: fc.constant(field),
      is: fc.constant('oneOf' as const),
      value: fc.array(some as fc.Arbitrary<string | number>, { maxLength: 4 }),
    });
    if (field === 'hidden') return one;
    if (field !== 'commonName' && field !== 'status') return fc.oneof(one, any);
    const within = fc.record({
      field: fc.constant(field),
      is: fc.constant('contains' as const),
      value: fc.constantFrom('', 'p', 'PUMP', 'ü', '%', '_', '\\', 'o', '\0'),
    });
    const begun = fc.record({
      field: fc.constant(field),
      is: fc.constant('startsWith' as const),
      value: fc.constantFrom('', 'p', 'pump', 'PUMP', 'P', 'pump-', 'r', '%', '\\', 'ü-', '\0'),
    });
    return fc.oneof(one, any, within, begun);
  });

export function listContract({ fresh, shared }: Databases): void {
  describe('list', () => {
    const orders: [Field, boolean][] = (
      [
        'id',
        'createdAt',
        'commonName',
        'serialNumber',
        'subject',
        'status',
        'revokedAt',
        'revocationReason',
        'hidden',
      ] as const
    ).flatMap(
      (field) =>
        [
          [field, false],
          [field, true],
        ] as [Field, boolean][],
    );

    test('returns all records in every order, with ties ordered by id and NULL first', async () => {
      const store = await (await fresh()).open();
      const records = await certificates(store);
      for (const [field, descending] of orders) {
        const expected = sorted(records, field, descending);
        for (const limit of [1000, 250, 249, 17]) {
          const found = await pages(store, { order: { field, descending }, limit });
          expect({ field, descending, limit, found }).toEqual({ field, descending, limit, found: expected });
        }
      }
    });

    test('sorts an integer by the given order of its values, other values last', async () => {
      const store = await (await fresh()).open();
      const types = [0, 1, 5, 2, 1, 0, 9];
      const ids = await store.commit(
        types.map((type, n) => insert('issuingCa', { ...nullable.issuingCa, uniqueName: `ca ${n}`, type })),
      );
      const values = [1, 0, 2];
      const rank = (type: number): number => (values.includes(type) ? values.indexOf(type) : values.length);
      const expected = ids.toSorted(
        (a, b) => rank(types[ids.indexOf(a)]!) - rank(types[ids.indexOf(b)]!) || a - b,
      );
      for (const descending of [false, true]) {
        const found: number[] = [];
        let cursor: string | undefined;
        do {
          const order = { field: 'type', descending, values } as const;
          const page = await store.list('issuingCa', { order, limit: 2, ...(cursor && { cursor }) });
          found.push(...page.records.map(({ id }) => id));
          cursor = page.next;
        } while (cursor);
        expect(found).toEqual(descending ? expected.toReversed() : expected);
      }
    });

    test('sorts signatures that are longer than an index entry', async () => {
      const store = await (await fresh()).open();
      await withCa(store);
      const [signer] = await store.commit([insert('credential', {})]);
      const signature = (n: number): string =>
        createHash('shake256', { outputLength: 4627 }).update(String(n)).digest('hex');
      await store.commit(
        Array.from({ length: 20 }, (_, n) =>
          insert('signedMessage', { signer: signer!, signature: signature(n) }),
        ),
      );
      const order = { field: 'signature', descending: false } as const;
      const first = await store.list('signedMessage', { order, limit: 7 });
      const rest = await store.list('signedMessage', { order, limit: 20, cursor: first.next! });
      const found = [...first.records, ...rest.records].map(({ signature }) => signature);
      expect(found).toHaveLength(20);
      expect(found).toEqual(found.toSorted());
    });

    test('omits the fields it is asked to omit, and cannot order by them', async () => {
      const store = await (await fresh()).open();
      const records = (await certificates(store)).map(({ der: _, subject: __, ...rest }) => rest);
      const query = { where: [{ field: 'subject', is: 'contains', value: 'CN=' }], limit: 200 } as const;
      const first = await store.listWithout('certificate', ['der', 'subject'], query);
      const rest = await store.listWithout('certificate', ['der', 'subject'], {
        ...query,
        cursor: first.next!,
      });
      expect([...first.records, ...rest.records]).toEqual(records.toReversed());
      expect(rest.next).toBeUndefined();
      const order = { field: 'subject', descending: true } as const;
      const refused = await failure(store.listWithout('certificate', ['subject'], { order, limit: 1 }));
      expect(refused).toMatchObject({ code: 'malformed', field: 'order' });
    });

    test('is newest first by default', async () => {
      const store = await (await fresh()).open();
      const records = await certificates(store);
      expect(await pages(store, { limit: 100 })).toEqual(records.map(({ id }) => id).reverse());
    });

    test('keeps its position when records are added or deleted before it', async () => {
      const store = await (await fresh()).open();
      await store.commit(['a', 'b', 'c', 'd', 'e'].map((name) => insert('role', { uniqueName: name })));
      const order = { field: 'uniqueName', descending: false } as const;
      const first = await store.list('role', { order, limit: 2 });
      await store.commit([
        { op: 'delete', kind: 'role', id: 2 },
        insert('role', { uniqueName: 'aa' }),
        insert('role', { uniqueName: 'bb' }),
      ]);
      const second = await store.list('role', { order, limit: 2, cursor: first.next! });
      expect(second.records.map(({ uniqueName }) => uniqueName)).toEqual(['bb', 'c']);
    });

    test('a tally counts the matching records per combination of values, up to its limit', async () => {
      const store = await (await fresh()).open();
      const alone = { domain: null, onboardingConfig: null, noOnboardingConfig: null };
      await store.commit([
        insert('device', { ...alone, commonName: 'a', serialNumber: '1', deviceType: 0 }),
        insert('device', { ...alone, commonName: 'b', serialNumber: '1', deviceType: 3 }),
        insert('device', { ...alone, commonName: 'c', serialNumber: '1', deviceType: 3 }),
        insert('device', { ...alone, commonName: 'd', serialNumber: '2', deviceType: 3 }),
      ]);
      const where = [{ field: 'serialNumber', is: 'equal', value: '1' }] as const;
      const by = ['deviceType', 'domain'] as const;
      const found = await store.tally('device', where, by, 100);
      expect(found.toSorted((x, y) => x.count - y.count)).toEqual([
        { values: [0, null], count: 1 },
        { values: [3, null], count: 2 },
      ]);
      const some = await store.tally('device', [], ['deviceType'], 3);
      expect(some.reduce((sum, { count }) => sum + count, 0)).toBe(3);
      const wrong = store.tally('role', [], ['permissions'], 1);
      expect(await failure(wrong)).toMatchObject({ code: 'malformed', field: 'permissions' });
    });

    test('conditions select the same records in a list and in a count', async () => {
      const store = await (await fresh()).open();
      const records = await certificates(store);
      await fc.assert(
        fc.asyncProperty(
          fc.array(condition, { maxLength: 3 }),
          fc.constantFrom(...orders),
          async (where, [field, descending]) => {
            const matching = records.filter((record) => where.every((one) => holds(record, one)));
            const query = { where, order: { field, descending }, limit: 90 };
            expect(await pages(store, query)).toEqual(sorted(matching, field, descending));
            expect(await store.count('certificate', where, 1000)).toBe(matching.length);
            expect(await store.count('certificate', where, 10)).toBe(Math.min(10, matching.length));
          },
        ),
        { numRuns: Math.min(runs(60).numRuns, 2000) },
      );
    });
  });

  describe('a list', () => {
    const database = shared(async (store) => {
      await withCa(store);
      await store.commit(
        commonNames.map((commonName, i) =>
          insert('certificate', { ...nullable.certificate, commonName, serialNumber: `AB${i}`, subject: '' }),
        ),
      );
    });
    const searches: [string[], string[]][] = [
      [['pump'], ['PUMP-9', 'Pump', 'pump']],
      [['PUMP', '9'], ['PUMP-9']],
      [['valve_'], ['valve_1']],
      [['valve'], ['valve-1', 'valve_1']],
      [['%'], ['100%']],
      [['_'], ['valve_1']],
      [['\\'], ['back\\slash']],
      [['kühl'], ['KÜHLER', 'Kühler']],
      [
        ['Ü', 'hler'],
        ['KÜHLER', 'Kühler'],
      ],
      [["'; drop table certificates; --"], []],
      [['x\0'], []],
    ];
    test.each(searches)('searched for %j finds %j', async (search, expected) => {
      const { records } = await database().store.list('certificate', { search, limit: 100 });
      expect(records.map(({ commonName }) => commonName).sort()).toEqual(expected);
    });
  });

  describe('list', () => {
    test('also searches serial numbers and fingerprints, and combines a search with conditions', async () => {
      const store = await withCa(await (await fresh()).open());
      const add = (serialNumber: string, fingerprint: string, hidden: boolean) =>
        insert('certificate', { ...nullable.certificate, serialNumber, fingerprint, hidden });
      await store.commit([
        add('1A2B', 'C0FFEE', false),
        add('1A2C', 'DECAF0', false),
        add('1A2D', 'C0FFEE', true),
      ]);
      const search = async (...words: string[]) => {
        const where = [{ field: 'hidden', is: 'equal', value: false }] as const;
        const { records } = await store.list('certificate', { search: words, where, limit: 100 });
        return records.map(({ serialNumber }) => serialNumber);
      };
      expect(await search('1a2')).toEqual(['1A2C', '1A2B']);
      expect(await search('c0ff')).toEqual(['1A2B']);
      expect(await search('1a2c', 'pump', 'decaf')).toEqual(['1A2C']);
      expect(await search('')).toEqual(['1A2C', '1A2B']);
      expect(await search('nowhere')).toEqual([]);
    });

    test('finds text inside stored JSON', async () => {
      const store = await (await fresh()).open();
      await store.commit([
        insert('role', { permissions: ['devices.read'] }),
        { op: 'audit', event: event() },
      ]);
      const permitted = (value: string) =>
        store.count('role', [{ field: 'permissions', is: 'contains', value }], 5);
      expect(await Promise.all(['"devices.read"', 'DEVICES', 'users'].map(permitted))).toEqual([1, 1, 0]);
      const acted = (value: string) =>
        store.count('auditEvent', [{ field: 'actor', is: 'contains', value }], 5);
      expect(await Promise.all(['10.0.0.7', 'name', 'user'].map(acted))).toEqual([1, 0, 1]);
      const wrong = store.count('role', [{ field: 'createdAt', is: 'contains', value: '1' }], 5);
      expect(await failure(wrong)).toMatchObject({ code: 'malformed', field: 'createdAt' });
    });

    test('selects the records that a matching record refers to, and those without such a record', async () => {
      const store = await withCa(await (await fresh()).open());
      const names = ['a', 'b', 'c', 'd'];
      const lone = { domain: null, onboardingConfig: null, noOnboardingConfig: null };
      const ids = await store.commit(names.map((commonName) => insert('device', { commonName, ...lone })));
      const of = (device: number, n: number, status: StoredCertificate['status']) =>
        insert('certificate', { device, serialNumber: `${n}`, status, domain: null, profile: null });
      await store.commit([
        of(ids[0]!, 1, 'revoked'),
        of(ids[0]!, 2, 'good'),
        of(ids[1]!, 3, 'revoked'),
        of(ids[3]!, 4, 'good'),
      ]);
      const where = [{ field: 'status', is: 'equal', value: 'good' }] as const;
      const order = { field: 'commonName', descending: false } as const;
      const found = async (exists: boolean) => {
        const referral = { by: 'certificate', in: 'device', where, exists } as const;
        const { records, next } = await store.list('device', { referral, order, limit: 1 });
        const rest = await store.list('device', { referral, order, limit: 5, cursor: next! });
        return [...records, ...rest.records].map(({ commonName }) => commonName);
      };
      expect(await found(true)).toEqual(['a', 'd']);
      expect(await found(false)).toEqual(['b', 'c']);
    });

    test('finds a prefix in stored JSON, if the prefix ends in ASCII', async () => {
      const store = await (await fresh()).open();
      const actors = [7, 70, 8].map((id) => ({ kind: 'device', id, name: 'pump', address: '' }) as const);
      await store.commit(actors.map((actor) => ({ op: 'audit', event: event({ actor }) })));
      const acted = (value: string) =>
        store.count('auditEvent', [{ field: 'actor', is: 'startsWith', value }], 5);
      expect(await Promise.all(['["device",7,', '["device",7', '["user"'].map(acted))).toEqual([1, 2, 0]);
      expect(await failure(acted('ü'))).toMatchObject({ code: 'malformed', field: 'actor' });
      const wrong = store.count('role', [{ field: 'createdAt', is: 'startsWith', value: '1' }], 5);
      expect(await failure(wrong)).toMatchObject({ code: 'malformed', field: 'createdAt' });
    });

    test('lists, counts and tallies the same for an account', async () => {
      const store = await (await fresh()).open();
      const records = await certificates(store);
      const reads = store.readsFor!('user:1');
      const order = { field: 'subject', descending: true } as const;
      const { records: found } = await reads.list('certificate', { order, limit: 1000 });
      expect(found.map(({ id }) => id)).toEqual(sorted(records, 'subject', true));
      const brief = await reads.listWithout('certificate', ['der'], { limit: 1 });
      expect(brief.records).toMatchObject([{ id: records.at(-1)!.id }]);
      expect(await reads.count('certificate', [], 1000)).toBe(250);
      const tallies = await reads.tally('certificate', [], ['status'], 1000);
      expect(tallies.reduce((sum, { count }) => sum + count, 0)).toBe(250);
    });

    test('for an account omits damaged records, names them, and continues after them', async () => {
      const database = await fresh();
      const store = await database.open();
      await store.commit(['a', 'b', 'c', 'd'].map((uniqueName) => insert('role', { uniqueName })));
      await database.execute(`update roles set permissions = '["a secret' where unique_name in ('b', 'd')`);
      const reads = store.readsFor!('user:1');
      const seen: string[] = [];
      const damaged: string[] = [];
      let cursor: string | undefined;
      do {
        const order = { field: 'isProtected', descending: true } as const;
        const page = await reads.list('role', { order, limit: 1, ...(cursor && { cursor }) });
        seen.push(...page.records.map(({ uniqueName }) => uniqueName));
        damaged.push(...(page.damaged ?? []).map(({ message }) => message));
        cursor = page.next;
      } while (cursor);
      expect(seen.sort()).toEqual(['a', 'c']);
      expect(damaged.sort()).toEqual([2, 4].map((id) => `permissions of role ${id} in the store is damaged`));
      // Callers with their own pages need to know, unless they say that they look at `damaged`.
      expect(await failure(store.list('role', { limit: 10 }))).toMatchObject({ code: 'internal' });
      const sound = await store.list('role', { limit: 10, skipDamaged: true });
      expect(sound.records.map(({ uniqueName }) => uniqueName).sort()).toEqual(['a', 'c']);
      expect(sound.damaged?.map(({ id }) => id).sort()).toEqual([2, 4]);
    });

    test('rejects, for an account, an order without an index when many records match', async () => {
      const database = await fresh();
      const store = await withCa(await database.open());
      await store.commit([insert('certificate', nullable.certificate)]);
      await database.execute(moreCertificates(10_000));
      const reads = store.readsFor!('user:1');
      const by = (field: 'subject' | 'notValidAfter' | 'commonName', ...where: Condition<'certificate'>[]) =>
        reads.list('certificate', { where, order: { field, descending: false }, limit: 1 });
      const refused = {
        code: 'malformed',
        field: 'ordering',
        detail:
          'more than 10000 records match: narrow the list with filters, or order it by id, created_at, serial_number, not_valid_before, not_valid_after',
      };
      expect(await failure(by('subject'))).toMatchObject(refused);
      expect(await failure(by('commonName'))).toMatchObject(refused);
      const few = { field: 'createdAt', is: 'less', value: 5000 } as const;
      for (const field of ['subject', 'commonName'] as const)
        expect((await by(field, few)).records).toHaveLength(1);
      expect((await by('notValidAfter')).records).toHaveLength(1);
      // The service itself may do so.
      const order = { field: 'subject', descending: false } as const;
      expect((await store.list('certificate', { order, limit: 1 })).records).toHaveLength(1);
    });

    test('rejects a cursor of another list as malformed', async () => {
      const store = await (await fresh()).open();
      await certificates(store);
      const order = { field: 'createdAt', descending: false } as const;
      const { next } = await store.list('certificate', { order, limit: 10 });
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const cursors = [
        '',
        'x',
        '!',
        next!.slice(0, -3),
        `${next}=`,
        encode(null),
        encode({}),
        encode(['createdAt', false, 1000]),
        encode(['createdAt', true, 1000, 1]),
        encode(['commonName', false, 'a', 1]),
        encode(['createdAt', false, 'a', 1]),
        encode(['createdAt', false, null, 1]),
        encode(['createdAt', false, 1000, '1']),
        encode(['createdAt', false, 1000, 1.5]),
        encode(['createdAt', false, 1e300, 1]),
        'A'.repeat(100_000),
      ];
      for (const cursor of cursors) {
        const listing = store.list('certificate', { order, limit: 10, cursor });
        expect(await failure(listing)).toMatchObject({ code: 'malformed', field: 'cursor' });
      }
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary' }), async (cursor) => {
          const listing = store.list('certificate', { order, limit: 10, cursor });
          expect(await failure(listing)).toMatchObject({ code: 'malformed', field: 'cursor' });
        }),
        runs(50),
      );
      const other = store.list('certificate', { limit: 10, cursor: next! });
      expect(await failure(other)).toMatchObject({ code: 'malformed', field: 'cursor' });
    });

    test('rejects a limit out of range', async () => {
      const store = await (await fresh()).open();
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        expect(await failure(store.list('role', { limit }))).toMatchObject({
          code: 'malformed',
          field: 'limit',
        });
      }
      const search = Array.from({ length: 11 }, () => 'word');
      expect(await failure(store.list('role', { search, limit: 1 }))).toMatchObject({ field: 'search' });
      const long = ['x'.repeat(257)];
      expect(await failure(store.list('role', { search: long, limit: 1 }))).toMatchObject({
        field: 'search',
      });
      for (const field of ['permissions', 'nothing', 'constructor'] as 'permissions'[]) {
        const listing = store.list('role', { order: { field, descending: false }, limit: 1 });
        expect(await failure(listing)).toMatchObject({ code: 'malformed', field: 'order' });
      }
      expect(await failure(store.count('role', [], -1))).toMatchObject({ field: 'atMost' });
    });
  });
}
