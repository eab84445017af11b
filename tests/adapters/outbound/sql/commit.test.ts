import { expect, test } from 'bun:test';
import { GroupCommit } from '#adapters/outbound/sql/commit.ts';
import type { Driver } from '#adapters/outbound/sql/driver.ts';
import type { Write } from '#core/ports/store.ts';

const write: Write = { op: 'delete', kind: 'session', id: 1 };
const turn = (): Promise<unknown> => new Promise(setImmediate);

/** Notes how many commits each transaction holds. */
function recorded(): { readonly group: GroupCommit; readonly sizes: number[] } {
  const sizes: number[] = [];
  const driver: Pick<Driver, 'transact'> = {
    async transact(units) {
      sizes.push(units.length);
      return units.map(() => [1]);
    },
  };
  return { group: new GroupCommit(driver as Driver), sizes };
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
