import { expect, test } from 'bun:test';
import { FairQueue } from '#adapters/outbound/sql/fair-queue.ts';
import { Fault } from '#core/fault.ts';
import { failure } from '#tests/contracts/store.ts';

/** Queries that end on demand. */
function queries(turns: FairQueue) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    ask(account: string, name: string): Promise<string> {
      return turns.run(account, () => {
        begun.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      });
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await new Promise(setImmediate);
    },
  };
}

test('an account has one query under way, and another account does not wait for its others', async () => {
  const { ask, end, begun } = queries(new FairQueue(2));
  const first = ['a1', 'a2', 'a3'].map((name) => ask('a', name));
  const other = ask('b', 'b1');
  expect(begun).toEqual(['a1', 'b1']);
  await end('b1');
  expect(begun).toEqual(['a1', 'b1']);
  expect(await other).toBe('b1');
  await end('a1');
  await end('a2');
  await end('a3');
  expect(await Promise.all(first)).toEqual(['a1', 'a2', 'a3']);
});

test('accounts take turns when all readers are taken', async () => {
  const { ask, end, begun } = queries(new FairQueue(1));
  for (const name of ['a1', 'a2', 'a3']) void ask('a', name);
  for (const name of ['b1', 'b2']) void ask('b', name);
  void ask('c', 'c1');
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3']) await end(begun.find((one) => one === name)!);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('a query that fails gives its turn to the next', async () => {
  const turns = new FairQueue(1);
  const broken = turns.run('a', () => Promise.reject(new Fault('unavailable', 'too long')));
  const next = turns.run('a', () => Promise.resolve('next'));
  expect(await failure(broken)).toMatchObject({ detail: 'too long' });
  expect(await next).toBe('next');
});

test('an account that has too many waiting is refused, and no other is', async () => {
  const turns = new FairQueue(2);
  const { ask, begun } = queries(turns);
  const asked = Array.from({ length: 65 }, (_, n) => failure(ask('a', `a${n}`)));
  expect(await failure(ask('a', 'one more'))).toMatchObject({ code: 'unavailable', retryAfter: 5 });
  void ask('b', 'b');
  expect(begun).toEqual(['a0', 'b']);
  turns.close(new Fault('unavailable', 'closed'));
  const [, ...refused] = asked;
  for (const fault of await Promise.all(refused)) expect(fault).toMatchObject({ detail: 'closed' });
});
