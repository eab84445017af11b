import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { Kysely, SqliteDialect } from 'kysely';
import { AuditChain } from '#adapters/outbound/sql/audit-chain.ts';
import type { Tables, Unit } from '#adapters/outbound/sql/driver.ts';
import { Statements } from '#adapters/outbound/sql/statements.ts';
import { idsOf, plan } from '#adapters/outbound/sql/steps.ts';
import { insert } from '#tests/contracts/store-samples.ts';

const statements = new Statements(
  new Kysely<Tables>({ dialect: new SqliteDialect({ database: new Database(':memory:') as never }) }),
);
const { head } = new AuditChain();

function planned(unit: Unit) {
  let last = 0;
  return plan(
    statements,
    [unit],
    idsOf([unit], () => ++last),
    head,
  );
}

/** The best of a few times, in milliseconds. */
function price(unit: Unit): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = performance.now();
    planned(unit);
    return performance.now() - begun;
  });
  return Math.min(...times);
}

describe('a plan', () => {
  test('of ten times as many writes does not take a hundred times as long', () => {
    const roles = (count: number): Unit =>
      Array.from({ length: count }, (_, n) => insert('role', { uniqueName: `role ${n}` }));
    price(roles(4000));
    expect(price(roles(40_000)) / price(roles(4000))).toBeLessThan(35);
  });

  test.each([1, 2, 9, -1, 0.5])(
    'has no place for what refers to the write %d, which is not before it',
    (ref) => {
      const unit = [insert('role'), insert('user', { role: { ref } })];
      expect(() => planned(unit)).toThrow(expect.objectContaining({ code: 'internal' }));
    },
  );
});
