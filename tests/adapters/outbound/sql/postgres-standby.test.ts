import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { openPostgresStore, type PostgresOptions } from '#adapters/outbound/sql/postgres.ts';
import type { Store } from '#core/ports/store.ts';
import { failure } from '#tests/contracts/store.ts';
import { verifyChains } from '#tests/contracts/store-audit.ts';
import { event, insert } from '#tests/contracts/store-samples.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

const clock = { now: () => Date.now() };

/** Changes configuration: several statements and COMMIT. */
const role = (uniqueName: string) =>
  [insert('role', { uniqueName }), { op: 'audit', event: event({ action: uniqueName }) }] as const;
/** Only adds records: one statement, which is a transaction by itself. */
const failedLogin = (subject: string) =>
  [insert('loginFailure', { subject }), { op: 'audit', event: event({ action: subject }) }] as const;
const kinds = [
  ['of several statements', role],
  ['of one statement', failedLogin],
] as const;

const away = 'the synchronous standby of the database does not confirm commits';

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 20_000; ; await Bun.sleep(50)) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

describe.skipIf(!hasPostgres)('PostgreSQL with a synchronous standby', () => {
  let server: PostgresFixture;
  let standby: Awaited<ReturnType<PostgresFixture['standby']>>;
  // Started for each test, as a fail-over changes the servers.
  beforeEach(async () => {
    server = await startPostgres();
    standby = await server.standby();
  }, 60_000);
  afterEach(() => server.stop());

  const open = async (options: Partial<PostgresOptions> = {}): Promise<Store> => {
    const url = options.url ?? (await server.createDatabase());
    return openPostgresStore({ clock, poolSize: 2, commitTimeout: 300, ...options, url });
  };

  const waiting = async (): Promise<number> =>
    (await server.execute(`select 1 from pg_stat_activity where wait_event = 'SyncRep'`)).length;

  test.each(kinds)(
    'a commit %s fails soon while the standby is away, and commits do not accumulate',
    async (_, change) => {
      const store = await open();
      try {
        await store.commit(change('before'));
        expect(await store.health()).toEqual({ ok: true });
        await standby.kill();
        const during = await Promise.all(
          Array.from({ length: 20 }, (_, n) => failure(store.commit(change(`during-${n}`)))),
        );
        const later = [];
        for (let n = 0; n < 20; n++) later.push(await failure(store.commit(change(`later-${n}`))));
        for (const fault of [...during, ...later])
          expect(fault).toMatchObject({ code: 'unavailable', detail: away, retryAfter: 1 });
        expect(await failure(store.lease('work', 'me', 10))).toMatchObject({ code: 'unavailable' });
        expect(await failure(store.confirm!())).toMatchObject({ code: 'unavailable' });
        expect(await store.health()).toEqual({ ok: false, detail: away });
        // Once the standby is known to be away, no commit is sent.
        const written = (await verifyChains(store)).map(({ action }) => action);
        expect(written.filter((action) => action.startsWith('later'))).toEqual([]);
        expect(await waiting()).toBe(0);
        await standby.start();
        await eventually(() => store.commit(change('after')));
        expect(await store.health()).toEqual({ ok: true });
        expect((await verifyChains(store)).map(({ action }) => action)).toContain('after');
        expect(await store.lease('work', 'me', 10)).toBe(true);
      } finally {
        await store.close();
      }
    },
    60_000,
  );

  test.each(kinds)(
    'a commit %s is not acknowledged when its wait for the standby is cancelled',
    async (_, change) => {
      const store = await open({ commitTimeout: 60_000, statementTimeout: 60_000 });
      try {
        await store.commit(change('before'));
        await standby.kill();
        const outcome = failure(store.commit(change('in doubt')));
        await eventually(async () => expect(await waiting()).toBe(1));
        await server.execute(
          `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
        );
        expect(await outcome).toMatchObject({ code: 'unavailable', detail: away });
      } finally {
        await standby.start();
        await store.close();
      }
    },
    60_000,
  );

  test('a gateway starts while the standby is away', async () => {
    const url = await server.createDatabase();
    await (await open({ url })).close();
    await standby.kill();
    try {
      const store = await open({ url });
      expect(await store.changeCounter()).toBe(0);
      expect(await store.health()).toEqual({ ok: false, detail: away });
      await store.close();
      expect(await waiting()).toBe(0);
    } finally {
      await standby.start();
    }
  }, 60_000);

  test('a fail-over may lose unconfirmed commits but no acknowledged one, and the gateway continues', async () => {
    // Servers of its own, as the fail-over changes them.
    const server = await startPostgres();
    const standby = await server.standby();
    const url = new URL(await server.createDatabase());
    const both = `postgres://postern@127.0.0.1:${standby.port},127.0.0.1:${url.port}${url.pathname}`;
    const store = await open({ url: both });
    try {
      await store.commit(role('answered'));
      await standby.kill();
      expect(await failure(store.commit(role('in doubt')))).toMatchObject({ code: 'unavailable' });
      // It can be read, but is not taken as durable.
      expect(await store.changeCounter()).toBe(2);
      await server.kill();
      await standby.start();
      await standby.promote();
      await eventually(() => store.commit(role('after')));
      expect((await verifyChains(store)).map(({ action }) => action).toSorted()).toEqual([
        'after',
        'answered',
      ]);
      expect(await store.health()).toEqual({ ok: true });
    } finally {
      await store.close();
      await server.stop();
    }
  }, 60_000);
});
