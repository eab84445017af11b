import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import type { User } from '#core/records/account.ts';
import { type Installation, installation, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

let server: PostgresFixture;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

const atOnce = 10;
const users = 50;

type OpenStores = (clock: TestClock) => Promise<readonly [Store, Store]>;

/** Fewer races on PostgreSQL, whose commits take longer. */
const stores: readonly [name: string, open: OpenStores, races: number, skip: boolean][] = [
  [
    'SQLite',
    async (clock) => {
      const store = await openSqliteStore({ path: ':memory:', clock });
      return [store, store];
    },
    1000,
    false,
  ],
  [
    'PostgreSQL',
    async (clock) => {
      const url = await server.createDatabase();
      return [await openPostgresStore({ url, clock }), await openPostgresStore({ url, clock })];
    },
    200,
    !hasPostgres,
  ],
];

describe.each(stores)('two instances on %s', (_, open, races, skip) => {
  async function two(): Promise<readonly [Installation, Installation]> {
    const clock = testClock();
    const [one, other] = await open(clock);
    return [await installation({ store: one, clock }), await installation({ store: other, clock })];
  }

  test.skipIf(skip)(
    'no session survives a change of password, role or activation, and no sign-in reveals that it lost the race',
    async () => {
      const [here, there] = await two();
      const { records: roles } = await here.gateway.roles.list(here.admin, { limit: 10 });
      const ids = roles.filter(({ uniqueName }) => uniqueName !== 'Admin').map(({ id }) => id);
      const made: User[] = [];
      for (let n = 0; n < users; n++) {
        const { actor } = here.admin;
        made.push(await here.gateway.accounts.createUser(`user ${n}`, 'password number 0', 'Default', actor));
      }
      const tally = { in: 0, unauthenticated: 0 } as Record<string, number>;
      const alive: string[] = [];

      async function race(n: number): Promise<void> {
        const { id, username } = made[n % users]!;
        const round = Math.floor(n / users);
        const address = `10.${n >> 8}.${n & 255}.1`;
        const before = `password number ${round}`;
        const changes = [
          { password: `password number ${round + 1}` },
          { password: `password number ${round + 1}`, role: ids[round % ids.length]! },
        ];
        const [signIn] = await Promise.all([
          there.gateway.accounts.signIn(username, before, address).catch(({ code }) => code as string),
          here.gateway.users.update(here.admin, id, changes[n % 2]!),
        ]);
        if (typeof signIn === 'string') {
          tally[signIn] = (tally[signIn] ?? 0) + 1;
          return;
        }
        tally.in!++;
        for (const site of [here, there]) {
          const { user, session, generation } = signIn;
          const still = await Promise.allSettled([
            site.gateway.accounts.principal(user, session, address),
            site.gateway.accounts.refresh(session, generation, address),
          ]);
          if (still.some(({ status }) => status === 'fulfilled')) alive.push(`${username} in round ${round}`);
        }
      }

      for (let n = 0; n < races; n += atOnce) {
        await Promise.all(Array.from({ length: atOnce }, (_, m) => race(n + m)));
        here.clock.advance(600_000);
      }
      expect(alive).toEqual([]);
      // A sign-in that came too late fails as with a wrong password; no other sign-in fails.
      expect(Object.keys(tally).sort()).toEqual(['in', 'unauthenticated']);
      expect(tally.in! + tally.unauthenticated!).toBe(races);
      await here[Symbol.asyncDispose]();
      if (there.store !== here.store) await there[Symbol.asyncDispose]();
    },
    60_000,
  );

  test.skipIf(skip)(
    'a sign-in that loses to a change is counted and audited as a wrong password',
    async () => {
      const [here, there] = await two();
      const wrong = { code: 'unauthenticated', detail: 'wrong user name or password' };
      const { id } = await here.gateway.accounts.createUser(
        'jo',
        'the first password',
        'Default',
        here.admin.actor,
      );
      const role = (await here.gateway.accounts.roleNamed('Auditor')).id;
      const races = [
        { password: 'the first password', change: { password: 'the second password' } },
        { password: 'the second password', change: { role } },
        { password: 'the second password', change: { isActive: false } },
      ];
      const { store } = there;
      const commit = store.commit.bind(store);
      for (const { password, change } of races) {
        // The sign-in commits after the change, although it read the user before.
        store.commit = async (writes) => {
          store.commit = commit;
          await here.gateway.users.update(here.admin, id, change);
          return commit(writes);
        };
        const signIn = there.gateway.accounts.signIn('jo', password, '192.0.2.7');
        expect(await signIn.catch(({ code, detail }) => ({ code, detail }))).toEqual(wrong);
      }
      const refusals = await here.audit('account.signIn');
      expect(refusals.filter(({ outcome }) => outcome === 'refused')).toHaveLength(3);
      expect(await here.store.count('loginFailure', [], 10)).toBe(3);
      await here[Symbol.asyncDispose]();
      if (there.store !== here.store) await there[Symbol.asyncDispose]();
    },
  );
});
