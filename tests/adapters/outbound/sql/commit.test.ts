import { heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { GroupCommit } from '#adapters/outbound/sql/commit.ts';
import { CommitHealth } from '#adapters/outbound/sql/commit-health.ts';
import type { Driver } from '#adapters/outbound/sql/driver.ts';
import { Refusal } from '#adapters/outbound/sql/refusal.ts';
import { Witness } from '#adapters/outbound/sql/witness.ts';
import { Fault } from '#core/fault.ts';
import type { Write } from '#core/ports/store.ts';
import { failure } from '#tests/contracts/store.ts';

const write: Write = { op: 'delete', kind: 'session', id: 1 };
const turn = (): Promise<unknown> => new Promise(setImmediate);

const groupOver = (driver: Pick<Driver, 'transact'>): GroupCommit =>
  new GroupCommit(
    driver as Driver,
    new Witness(),
    new CommitHealth(
      () => Promise.resolve(),
      () => '',
    ),
  );

/** Notes how many commits each transaction holds. */
function recorded(): { readonly group: GroupCommit; readonly sizes: number[] } {
  const sizes: number[] = [];
  const driver: Pick<Driver, 'transact'> = {
    async transact(units) {
      sizes.push(units.length);
      return units.map(() => [1]);
    },
  };
  return { group: groupOver(driver), sizes };
}

test('commits that come in the next turn of the event loop join those that wait', async () => {
  const { group, sizes } = recorded();
  const first = group.commit([write]);
  await turn();
  await Promise.all([first, group.commit([write])]);
  expect(sizes).toEqual([2]);
});

test('a transaction begins in the end, however many more commits come', async () => {
  const { group, sizes } = recorded();
  const all: Promise<unknown>[] = [];
  for (let n = 0; n < 50; n++) {
    all.push(group.commit([write]));
    await turn();
  }
  await Promise.all(all);
  expect(sizes.length).toBeGreaterThan(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(50);
});

test('a commit that comes alone waits for nobody', async () => {
  const { group, sizes } = recorded();
  const done = group.commit([write]);
  for (let n = 0; n < 4; n++) await turn();
  expect(sizes).toEqual([1]);
  await done;
});

describe('a commit that is refused', () => {
  /** As a driver whose database refuses everything. */
  const refusing = (explain: Refusal['explain']): GroupCommit => {
    const driver: Pick<Driver, 'transact'> = {
      transact: async (units) =>
        units.map(() => Object.assign(new Refusal([write], { kind: 'gone' }), { explain })),
    };
    return groupOver(driver);
  };

  test('leaves nothing behind, however many there are', async () => {
    const group = refusing(Refusal.prototype.explain);
    const arraysAfter = async (refusals: number): Promise<number> => {
      const commits = Array.from({ length: refusals }, () => failure(group.commit([write])));
      expect(await Promise.all(commits)).toHaveLength(refusals);
      Bun.gc(true);
      return heapStats().objectTypeCounts.Array ?? 0;
    };
    const before = await arraysAfter(1000);
    expect((await arraysAfter(6000)) - before).toBeLessThan(1000);
  });

  test('has its reason before the store is closed', async () => {
    const asked = Promise.withResolvers<void>();
    const group = refusing(async () => {
      await asked.promise;
      return new Fault('conflict', 'because');
    });
    const order: string[] = [];
    const refused = group.commit([write]).catch(({ detail }) => order.push(detail));
    for (let n = 0; n < 6; n++) await turn();
    const closed = group.close().then(() => order.push('closed'));
    await turn();
    expect(order).toEqual([]);
    asked.resolve();
    await Promise.all([refused, closed]);
    expect(order).toEqual(['because', 'closed']);
  });
});

test('a failed transaction rejects all commits in it, and the next one continues', async () => {
  let fails = true;
  const group = groupOver({
    async transact(units) {
      if (fails) throw new Fault('unavailable', 'the disk is full');
      return units.map(() => [1]);
    },
  });
  const waiting = [1, 2, 3].map(() => failure(group.commit([write])));
  expect(await Promise.all(waiting)).toMatchObject(
    Array(3).fill({ code: 'unavailable', detail: 'the disk is full' }),
  );
  fails = false;
  expect(await group.commit([write])).toEqual([1]);
});
