import { expect, test } from 'bun:test';
import { CommitHealth } from '#adapters/outbound/sql/commit-health.ts';
import { Fault } from '#core/fault.ts';

const full = () => Promise.reject(new Fault('unavailable', 'the disk is full'));
const fine = () => Promise.resolve();

/** `attempts`: how often a commit was made only to see whether one works. */
function watch(attempt: () => Promise<void>) {
  const seen = { attempts: 0 };
  const health = new CommitHealth(
    () => {
      seen.attempts++;
      return attempt();
    },
    ({ detail }) => detail,
  );
  return { health, seen };
}

test('a store that commits is healthy without a commit for that purpose', async () => {
  const { health, seen } = watch(full);
  await health.watched(fine);
  expect([await health.health(), seen.attempts]).toEqual([{ ok: true }, 0]);
});

test('a commit that failed makes the store unhealthy at once, and says why', async () => {
  const { health, seen } = watch(fine);
  await health.watched(full).catch(() => {});
  expect([await health.health(), seen.attempts]).toEqual([{ ok: false, detail: 'the disk is full' }, 0]);
});

test('an idle store makes one commit, however many ask at once', async () => {
  const { health, seen } = watch(full);
  const states = await Promise.all(Array.from({ length: 50 }, () => health.health()));
  expect(new Set(states.map(({ detail }) => detail))).toEqual(new Set(['the disk is full']));
  expect(seen.attempts).toBe(1);
});

test('a commit that hangs is not waited for, and there is only one', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { health, seen } = watch(() => promise);
  const late = { ok: false, detail: 'no commit is confirmed within 2 seconds' };
  expect(await Promise.all([health.health(), health.health()])).toEqual([late, late]);
  resolve();
  await promise;
  expect([await health.health(), seen.attempts]).toEqual([{ ok: true }, 1]);
});
