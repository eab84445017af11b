import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { Kysely, SqliteDialect } from 'kysely';
import { AuditChain } from '#adapters/outbound/sql/audit-chain.ts';
import type { Unit } from '#adapters/outbound/sql/driver.ts';
import type { Tables } from '#adapters/outbound/sql/queries.ts';
import { Statements } from '#adapters/outbound/sql/statements.ts';
import { idsOf, plan } from '#adapters/outbound/sql/steps.ts';
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

/** How often a plan looks at the ids of its records. */
function looks(unit: Unit): number {
  let count = 0;
  planned(unit, (ids) => new Proxy(ids, { get: (target, key) => [++count, Reflect.get(target, key)][1] }));
  return count;
}

describe('a plan', () => {
  test('of ten times as many writes looks at their ids ten times as often, not a hundred times', () => {
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

  test('a handle that another unit used stands for the record of this unit', () => {
    const unit = [insert('role', {}, role), insert('user', { role }, newHandle('user'))];
    expect(() => planned([...unit])).not.toThrow();
    expect(() => planned([insert('user', { role })])).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});
