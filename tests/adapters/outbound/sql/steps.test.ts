import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { Kysely, SqliteDialect } from 'kysely';
import { AuditChain } from '#adapters/outbound/sql/audit-chain.ts';
import type { Unit } from '#adapters/outbound/sql/driver.ts';
import type { Queries, Tables } from '#adapters/outbound/sql/queries.ts';
import { Refusal } from '#adapters/outbound/sql/refusal.ts';
import { Statements } from '#adapters/outbound/sql/statements.ts';
import { idsOf, plan } from '#adapters/outbound/sql/steps.ts';
import { raisesCounter } from '#adapters/outbound/sql/unit.ts';
import { newHandle } from '#core/ports/store.ts';
import { insert } from '#tests/contracts/store-samples.ts';

const statements = new Statements(
  new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) }),
  'sqlite',
);
const { head } = new AuditChain();

function planned(unit: Unit, watched: (ids: readonly number[]) => readonly number[] = (ids) => ids) {
  let last = 0;
  const ids = idsOf([unit], () => ++last);
  return plan(statements, [unit], ids.map(watched), head);
}

/** Returns how often a plan looks at the ids of its records. */
function looks(unit: Unit): number {
  let count = 0;
  planned(unit, (ids) => new Proxy(ids, { get: (target, key) => [++count, Reflect.get(target, key)][1] }));
  return count;
}

describe('a plan', () => {
  test('of ten times as many writes looks at ids ten times as often, not a hundred times', () => {
    const roles = (count: number): Unit =>
      Array.from({ length: count }, (_, n) => insert('role', { uniqueName: `role ${n}` }));
    const [few, many] = [looks(roles(100)), looks(roles(1000))];
    expect(few).toBeGreaterThanOrEqual(100);
    expect(many).toBeLessThan(11 * few);
  });

  const role = newHandle('role');
  test.each([
    ['made by the write itself', [insert('user', { role }, role)]],
    ['made by a later write', [insert('user', { role }), insert('role', {}, role)]],
    ['made by no write', [insert('role'), insert('user', { role })]],
    ['deleted by an earlier write', [{ op: 'delete', kind: 'role', id: 1 }, insert('user', { role })]],
  ] satisfies [string, Unit][])('refuses to refer to a record that is %s', (_, unit) => {
    expect(() => planned(unit)).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  test('a handle that another unit used refers to the record of this unit', () => {
    const unit = [insert('role', {}, role), insert('user', { role }, newHandle('user'))];
    expect(() => planned([...unit])).not.toThrow();
    expect(() => planned([insert('user', { role })])).toThrow(expect.objectContaining({ code: 'internal' }));
  });

  const shapes = (unit: Unit) =>
    planned(unit).steps.map((step) =>
      'values' in step ? `${step.kind} ${step.writes.length}` : step.write.op,
    );
  const removal = (kind: 'role' | 'user') => ({ op: 'delete', kind, id: 7 }) as const;

  test.each<[what: string, unit: Unit, expected: readonly string[]]>([
    ['inserts of one kind together', [insert('role'), insert('role')], ['role 2']],
    [
      'inserts of a kind across another',
      [insert('role'), insert('webhook'), insert('role')],
      ['role 2', 'webhook 1'],
    ],
    [
      'no insert before a deletion of its own kind',
      [insert('role'), removal('role'), insert('role')],
      ['role 1', 'delete', 'role 1'],
    ],
    [
      'an insert before a deletion of a kind that it does not refer to',
      [insert('role'), removal('user'), insert('role')],
      ['role 2', 'delete'],
    ],
    [
      'no insert before a record that it refers to',
      [insert('user'), insert('role'), insert('user')],
      ['user 1', 'role 1', 'user 1'],
    ],
  ])('puts %s', (_what, unit, expected) => {
    expect(shapes(unit)).toEqual([...expected]);
  });

  test('gives fresh ids to inserts only, and none to audit events', () => {
    const audit = { op: 'audit', event: { action: 'x' } } as never;
    expect(idsOf([[insert('role'), removal('user'), audit, insert('user')]], () => 5)).toEqual([
      [5, 7, 0, 5],
    ]);
  });

  test('replaces a handle by the id of the record that was made', () => {
    const [roles, users] = planned([insert('role', {}, role), insert('user', { role })]).steps;
    if (!roles || !users || !('values' in roles && 'values' in users)) throw new Error('no rows');
    expect(users.values).toContain(roles.values[0]!);
    expect(users.values[0]).not.toBe(roles.values[0]!);
  });

  test('passes the new values, the id and the conditions of an update in this order', () => {
    const { steps } = planned([
      { op: 'update', kind: 'setting', id: 7, where: { name: 'x' }, set: { value: Uint8Array.of(1) } },
    ]);
    expect(steps).toMatchObject([{ parameters: [Uint8Array.of(1), 7, 'x'] }]);
  });

  test.each(['delete', 'require'] as const)('passes the id and the conditions of a %s', (op) => {
    expect(planned([{ op, kind: 'setting', id: 7, where: { name: 'x' } }]).steps).toMatchObject([
      { parameters: [7, 'x'] },
    ]);
  });

  test('with a condition that no record can meet is refused as for a record that is gone', async () => {
    const impossible = { op: 'delete', kind: 'setting', id: 7, where: { name: 7 as never } } as const;
    const refusal = (): Refusal => {
      try {
        planned([impossible]);
      } catch (error) {
        if (error instanceof Refusal) return error;
      }
      throw new Error('the plan was made');
    };
    const fault = await refusal().explain({} as Queries);
    expect([fault.code, fault.id]).toEqual(['conflict', 'record_changed']);
  });

  test('with a field that does not exist is malformed', () => {
    for (const set of [{ other: 1 }, { constructor: 1 }])
      expect(() => planned([{ op: 'update', kind: 'setting', id: 7, set: set as never }])).toThrow(
        expect.objectContaining({ code: 'malformed' }),
      );
    const { steps } = planned([{ op: 'update', kind: 'setting', id: 7, set: { name: undefined } as never }]);
    expect(steps).toMatchObject([{ parameters: [7] }]);
  });
});

describe('the change counter', () => {
  test.each<[expected: boolean, what: string, unit: Unit]>([
    [true, 'inserts configuration', [insert('role')]],
    [true, 'updates configuration', [{ op: 'update', kind: 'role', id: 1, set: { uniqueName: 'x' } }]],
    [true, 'deletes configuration', [{ op: 'delete', kind: 'role', id: 1 }]],
    [true, 'also changes configuration', [insert('user'), insert('role')]],
    [
      false,
      'updates configuration quietly',
      [{ op: 'update', kind: 'issuingCa', id: 1, set: { crlNumber: 8 }, quiet: true }],
    ],
    [false, 'only requires configuration', [{ op: 'require', kind: 'role', id: 1, where: {} }]],
    [false, 'changes something else', [insert('user')]],
    [false, 'changes nothing', []],
  ])('is raised (%p) by a unit that %s', (expected, _what, unit) => {
    expect(raisesCounter(unit)).toBe(expected);
  });
});
