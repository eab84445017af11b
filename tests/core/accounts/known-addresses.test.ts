import { expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { KnownAddresses } from '#core/accounts/known-addresses.ts';
import { Throttle } from '#core/accounts/throttle.ts';
import { Fault } from '#core/fault.ts';
import { defaultLoginLimits } from '#core/ports/settings.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { testClock } from '#tests/fixtures/installation.ts';

const day = 24 * 3_600_000;
const attempt = { realm: 'device', name: 'pump-1', address: '192.0.2.7' } as const;
const another = { ...attempt, address: '192.0.2.8' };

async function prepared() {
  const clock = testClock();
  const store = await openSqliteStore({ path: ':memory:', clock });
  const instance = () => new KnownAddresses({ store, clock, log: recordingLog() });
  return { clock, store, instance, [Symbol.asyncDispose]: () => store.close() };
}

async function recorded(store: Store, count: number): Promise<void> {
  while ((await store.count('knownAddress', [], 100)) < count) await Bun.sleep(1);
}

test('an instance remembers an address for thirty days, without a read of the store', async () => {
  await using site = await prepared();
  const known = site.instance();
  expect(known.remembersPair(attempt)).toBe(false);
  known.signedIn(attempt);
  expect([known.remembersPair(attempt), known.remembersPair(another)]).toEqual([true, false]);
  site.clock.advance(30 * day - 1);
  expect(known.remembersPair(attempt)).toBe(true);
  site.clock.advance(1);
  expect(known.remembersPair(attempt)).toBe(false);
  await recorded(site.store, 1);
});

test('another instance remembers for a minute what it has read', async () => {
  await using site = await prepared();
  site.instance().signedIn(attempt);
  await recorded(site.store, 1);
  const other = site.instance();
  expect(other.remembersPair(attempt)).toBe(false);
  expect([await other.isKnownPair(attempt), await other.isKnownPair(another)]).toEqual([true, false]);
  expect([other.remembersPair(attempt), other.remembersPair(another)]).toEqual([true, false]);
  site.clock.advance(60_000);
  expect(other.remembersPair(attempt)).toBe(false);
  const stranger = { ...attempt, name: 'pump-2' };
  expect([await other.isKnownPair(stranger), await other.isKnownAddress(stranger)]).toEqual([false, true]);
  expect(await other.isKnownAddress({ ...stranger, realm: 'user' })).toBe(false);
});

test('an address that two instances record at once is recorded once, with the later time', async () => {
  await using site = await prepared();
  const [one, two] = [site.instance(), site.instance()];
  one.signedIn(attempt);
  two.signedIn(attempt);
  await recorded(site.store, 1);
  site.clock.advance(2 * day);
  two.signedIn(attempt);
  const time = async () => (await site.store.find('knownAddress', { name: 'pump-1' }))?.at;
  while ((await time()) !== site.clock.now()) await Bun.sleep(1);
  expect(await site.store.count('knownAddress', [], 10)).toBe(1);
});

test('a failed update of a recorded address is logged, and the next sign-in tries again', async () => {
  await using site = await prepared();
  const { store, clock } = site;
  let failures = 1;
  const failing: Store = Object.assign(Object.create(store), {
    commit: (writes: readonly Write[]) =>
      writes[0]?.op === 'update' && failures-- > 0
        ? Promise.reject(new Fault('unavailable', 'the database is restarting'))
        : store.commit(writes),
  });
  site.instance().signedIn(attempt);
  await recorded(store, 1);
  clock.advance(1000);
  const log = recordingLog();
  const known = new KnownAddresses({ store: failing, clock, log });
  known.signedIn(attempt);
  while (log.entries.length === 0) await Bun.sleep(1);
  expect(log.entries.map(({ level, event }) => [level, event])).toEqual([
    ['error', 'the address of a sign-in could not be recorded'],
  ]);
  const time = async () => (await store.find('knownAddress', { name: 'pump-1' }))?.at;
  expect(await time()).toBe(clock.now() - 1000);
  while ((await time()) !== clock.now()) {
    known.signedIn(attempt);
    await Bun.sleep(1);
  }
});

test('expired addresses and failures are removed, and no others', async () => {
  await using site = await prepared();
  const throttle = new Throttle({ ...site, log: recordingLog() }, defaultLoginLimits);
  throttle.signedIn(attempt);
  await recorded(site.store, 1);
  const failures = () => site.store.count('loginFailure', [], 10);
  await throttle.failed(another);
  site.clock.advance(defaultLoginLimits.window);
  await throttle.prune();
  expect(await failures()).toBe(1);
  site.clock.advance(10_001);
  await throttle.prune();
  expect([await failures(), await site.store.count('knownAddress', [], 10)]).toEqual([0, 1]);
  site.clock.advance(30 * day);
  await throttle.prune();
  expect(await site.store.count('knownAddress', [], 10)).toBe(1);
  site.clock.advance(day);
  await throttle.prune();
  expect(await site.store.count('knownAddress', [], 10)).toBe(0);
});
