import { describe, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { Throttle } from '#core/accounts/throttle.ts';
import type { Attempt } from '#core/accounts/throttle-subjects.ts';
import { defaultLoginLimits } from '#core/ports/settings.ts';
import type { Store } from '#core/ports/store.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { adminPassword, type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

const nat = '203.0.113.5';
const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const target = { protocol: 'est', domain: undefined, profile: undefined } as const;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'in',
    ({ code }) => code,
  );

const signIn = ({ gateway }: Installation, name: string, password: string, address: string) =>
  codeOf(gateway.accounts.signIn(name, password, address));

const admit = ({ gateway }: Installation, username: string, password: string, address: string) =>
  codeOf(gateway.admit({ kind: 'password', username, password, address }, target));

async function times(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < count; n++) await work(n);
}

/** Waits until the store has `atLeast` addresses, which are recorded in the background. */
async function recorded(store: Store, atLeast: number): Promise<void> {
  while ((await store.count('knownAddress', [], atLeast)) < atLeast) await Bun.sleep(1);
}

test('users, devices and service accounts do not share counters', async () => {
  await using site = await installation();
  const { password } = await site.device('admin');
  await times(60, () => admit(site, 'admin', 'wrong password', nat));
  await times(60, (n) => admit(site, `nobody-${n}`, 'wrong password', nat));
  await times(60, (n) => codeOf(site.gateway.accounts.signInService(`sa_${n + 1}`, 'wrong', nat)));
  expect(await admit(site, 'admin', password, nat)).toBe('tooManyRequests');
  expect(await signIn(site, 'admin', adminPassword, nat)).toBe('in');
});

test('failures elsewhere do not lock out an address from which the name has signed in', async () => {
  await using site = await installation();
  expect(await signIn(site, 'admin', adminPassword, nat)).toBe('in');
  await times(20, (n) => signIn(site, 'admin', 'wrong password', `192.0.2.${n}`));
  expect(await signIn(site, 'admin', adminPassword, '198.51.100.1')).toBe('tooManyRequests');
  expect(await signIn(site, 'admin', adminPassword, nat)).toBe('in');
  // At the address of the guesses, the right password is rejected too.
  await times(5, () => signIn(site, 'admin', 'wrong password', nat));
  expect(await signIn(site, 'admin', adminPassword, nat)).toBe('tooManyRequests');
});

test('failures at a known address do not lock out other addresses', async () => {
  await using site = await installation();
  await signIn(site, 'admin', adminPassword, nat);
  await times(5, () => signIn(site, 'admin', 'wrong password', nat));
  expect(await signIn(site, 'admin', adminPassword, '198.51.100.1')).toBe('in');
});

test('every instance recognizes a known address for thirty days', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  await signIn(one, 'admin', adminPassword, nat);
  await recorded(one.store, 1);
  const attack = () => times(6, (n) => signIn(two, 'admin', 'wrong password', `192.0.2.${n}`));
  one.clock.advance(29 * day);
  await attack();
  expect(await signIn(two, 'admin', adminPassword, nat)).toBe('in');
  one.clock.advance(31 * day);
  await attack();
  expect(await signIn(two, 'admin', adminPassword, nat)).toBe('tooManyRequests');
});

test('a failure at an address that only another instance knows does not lock out other addresses', async () => {
  await using one = await installation();
  await using two = await installation({ store: one.store, clock: one.clock });
  await signIn(one, 'admin', adminPassword, nat);
  await recorded(one.store, 1);
  await signIn(two, 'admin', 'wrong password', nat);
  await times(4, (n) => signIn(two, 'admin', 'wrong password', `192.0.2.${n}`));
  expect(await signIn(two, 'admin', adminPassword, '198.51.100.1')).toBe('in');
});

test('concurrent guesses for one name from many addresses are not checked more often than consecutive ones', async () => {
  await using site = await installation();
  await signIn(site, 'admin', adminPassword, nat);
  const codes = await Promise.all(
    Array.from({ length: 20 }, (_, n) => signIn(site, 'admin', `guess number ${n}`, `192.0.2.${n}`)),
  );
  expect(codes.filter((code) => code === 'unauthenticated').length).toBeLessThanOrEqual(5);
});

describe('with a wrong login every two seconds from one address', () => {
  test.each<[string, (n: number) => string]>([
    ['for one device', () => 'broken'],
    ['for a registered device', () => 'pump-0'],
    ['for a different name each time', (n) => `guess-${n}`],
  ])('%s, none of thousands of valid logins is rejected', async (_, wrongName) => {
    await using site = await installation();
    await site.device('broken');
    const devices: { name: string; password: string }[] = [];
    for (let n = 0; n < 40; n++) {
      const name = `pump-${n}`;
      devices.push({ name, password: (await site.device(name)).password });
    }
    const refused: string[] = [];
    let valid = 0;
    for (let s = 0; s < 20 * 60; s += 2) {
      await admit(site, wrongName(s), 'wrong password', nat);
      // One more device starts every 30 seconds; an administrator signs in from the same address.
      const present = devices.slice(wrongName(0) === 'pump-0' ? 1 : 0, 2 + Math.floor(s / 30));
      for (let n = 0; n < 4; n++) {
        const { name, password } = present[valid++ % present.length]!;
        const code = await admit(site, name, password, nat);
        if (code !== 'in') refused.push(`${s} ${name} ${code}`);
      }
      site.clock.advance(2 * second);
    }
    expect([valid, refused]).toEqual([2400, []]);
    expect(await signIn(site, 'admin', adminPassword, nat)).toBe('in');
  });
});

describe('the number of guesses per day is limited', () => {
  // Five at once, then one after 30, 60 and 120 seconds. The wait after that exceeds the rest of the window.
  const perWindow = 8;
  const quarter = day / 4;
  const perQuarter = (perWindow * quarter) / defaultLoginLimits.window;

  async function within(work: (throttle: Throttle, clock: ReturnType<typeof testClock>) => Promise<void>) {
    const clock = testClock();
    const store = await openSqliteStore({ path: ':memory:', clock });
    await work(new Throttle({ store, clock, log: recordingLog() }, defaultLoginLimits), clock);
    await store.close();
  }

  /** Returns the milliseconds to wait, or 0 if the guess was checked and failed. */
  async function guess(throttle: Throttle, attempt: Attempt): Promise<number> {
    try {
      throttle.recheck(attempt, await throttle.check(attempt));
    } catch (fault) {
      return (fault as { retryAfter: number }).retryAfter * 1000;
    }
    await throttle.failed(attempt);
    return 0;
  }

  test.each<[string, number]>([
    ['one address', 1],
    ['a thousand addresses', 1000],
  ])('for a name, from %s that never signed in with it', (_, addresses) =>
    within(async (throttle, clock) => {
      const until = clock.now() + quarter;
      let answered = 0;
      for (let n = 0; clock.now() < until; n++) {
        const address = `10.0.${Math.floor((n % addresses) / 250)}.${n % Math.min(addresses, 250)}`;
        const wait = await guess(throttle, { realm: 'user', name: 'admin', address });
        if (wait === 0) answered++;
        else clock.advance(wait);
      }
      expect(answered).toBeGreaterThan(perQuarter / 2);
      expect(answered).toBeLessThanOrEqual(perQuarter);
    }),
  );

  test('to the same number from a known address as from all other addresses', () =>
    within(async (throttle, clock) => {
      const known: Attempt = { realm: 'user', name: 'admin', address: nat };
      throttle.signedIn(known);
      const until = clock.now() + quarter;
      const answered = { known: 0, unknown: 0 };
      for (let n = 0; clock.now() < until; n++) {
        const waits: number[] = [];
        for (const [kind, attempt] of [
          ['known', known],
          ['unknown', { ...known, address: `10.0.0.${n % 250}` }],
        ] as const) {
          const wait = await guess(throttle, attempt);
          if (wait === 0) answered[kind]++;
          waits.push(wait);
        }
        if (!waits.includes(0)) clock.advance(Math.min(...waits));
      }
      expect(answered.known).toBeLessThanOrEqual(perQuarter);
      expect(answered.unknown).toBeLessThanOrEqual(perQuarter);
    }));

  test('for many names, from one address', () =>
    within(async (throttle, clock) => {
      const until = clock.now() + 60 * minute;
      let answered = 0;
      for (let n = 0; clock.now() < until; n++) {
        const wait = await guess(throttle, { realm: 'device', name: `pump-${n}`, address: nat });
        if (wait === 0) answered++;
        else clock.advance(wait);
      }
      expect(answered).toBeLessThanOrEqual((53 * 60 * minute) / defaultLoginLimits.window);
    }));
});

test('concurrent guesses from the known address of a name are limited like consecutive ones', async () => {
  const clock = testClock();
  const store = await openSqliteStore({ path: ':memory:', clock });
  const throttle = new Throttle({ store, clock, log: recordingLog() }, defaultLoginLimits);
  const known: Attempt = { realm: 'user', name: 'admin', address: nat };
  throttle.signedIn(known);
  await recorded(store, 1);
  // All of them pass the check before the first secret has been verified.
  const checks = await Promise.all(Array.from({ length: 20 }, () => throttle.check(known)));
  let failed = 0;
  for (const state of checks) {
    try {
      throttle.recheck(known, state);
    } catch {
      continue;
    }
    failed++;
    await throttle.failed(known);
  }
  expect(failed).toBe(defaultLoginLimits.perName);
  await store.close();
});

test('sixteen addresses are kept for an account that signs in from many', async () => {
  await using site = await installation();
  for (let n = 0; n < 40; n++) {
    await signIn(site, 'admin', adminPassword, `2001:db8:0:${n}::1`);
    site.clock.advance(second);
    while ((await site.store.find('knownAddress', { address: `2001:db8:0:${n}::/64` })) === undefined)
      await Bun.sleep(1);
  }
  expect(await site.store.count('knownAddress', [], 100)).toBe(16);
});

test('a known address is written once a day, and deleted when it expires', async () => {
  await using site = await installation();
  const { store, clock } = site;
  const writes: string[] = [];
  const throttle = new Throttle(
    {
      store: {
        ...store,
        list: store.list.bind(store),
        commit(all) {
          writes.push(...all.map((write) => write.op));
          return store.commit(all);
        },
      } as Store,
      clock,
      log: site.log,
    },
    defaultLoginLimits,
  );
  const attempt: Attempt = { realm: 'device', name: 'pump', address: nat };
  for (let n = 0; n < 1000; n++) throttle.signedIn(attempt);
  await recorded(store, 1);
  expect(writes).toEqual(['insert']);
  clock.advance(40 * day);
  await throttle.prune();
  expect(await store.count('knownAddress', [], 10)).toBe(0);
});
