import { expect, test } from 'bun:test';
import { Turns } from '#adapters/outbound/pkcs11/turns.ts';

const until = (): PromiseWithResolvers<string> => Promise.withResolvers<string>();

test('as many requests run at once as there are places, and the others in order', async () => {
  const turns = new Turns(2, 10_000);
  const ends = Array.from({ length: 5 }, until);
  const begun: number[] = [];
  const all = ends.map((end, n) =>
    turns.take(() => {
      begun.push(n);
      return end.promise;
    }, undefined),
  );
  expect(begun).toEqual([0, 1]);
  for (const n of [1, 0, 2, 3, 4]) {
    ends[n]!.resolve(`done ${n}`);
    expect(await all[n]).toBe(`done ${n}`);
  }
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('a failed request frees its place', async () => {
  const turns = new Turns(1, 10_000);
  const failed = turns.take(() => Promise.reject(new Error('no')), undefined);
  expect(await failed.catch((error) => error.message)).toBe('no');
  expect(await turns.take(async () => 'next', undefined)).toBe('next');
});

test('a request that waits too long is rejected as busy and takes no place', async () => {
  const turns = new Turns(1, 20);
  const first = until();
  const holding = turns.take(() => first.promise, undefined);
  let begun = false;
  const late = turns.take(async () => {
    begun = true;
  }, undefined);
  expect(await late.catch((error) => error.kind)).toBe('busy');
  first.resolve('done');
  await holding;
  expect(begun).toBe(false);
  expect(await turns.take(async () => 'next', undefined)).toBe('next');
});

test('a cancelled request is rejected with the reason, before or while it waits', async () => {
  const turns = new Turns(1, 10_000);
  const first = until();
  const holding = turns.take(() => first.promise, undefined);
  const giveUp = new AbortController();
  const waiting = turns.take(async () => 'too late', giveUp.signal);
  giveUp.abort(new Error('gave up'));
  expect(await waiting.catch((error) => error.message)).toBe('gave up');
  const already = turns.take(async () => 'too late', giveUp.signal);
  expect(await already.catch((error) => error.message)).toBe('gave up');
  first.resolve('done');
  expect(await holding).toBe('done');
});
