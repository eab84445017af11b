import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import type { Store } from '#core/ports/store.ts';
import { failure } from '#tests/contracts/store.ts';
import { verifyChains } from '#tests/contracts/store-audit.ts';
import { event, insert } from '#tests/contracts/store-samples.ts';
import { commitProxy } from '#tests/fixtures/commit-proxy.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';
import { tcpProxy } from '#tests/fixtures/tcp-proxy.ts';

const clock = { now: () => Date.now() };

const role = (uniqueName: string) =>
  [insert('role', { uniqueName }), { op: 'audit', event: event({ action: uniqueName }) }] as const;

/** Adds a record that is no configuration: one statement, which is a transaction by itself. */
const failedLogin = (subject: string) =>
  [insert('loginFailure', { subject }), { op: 'audit', event: event({ action: subject }) }] as const;

/** Repeats until it succeeds; returns the number of failures, all of which must be `unavailable`. */
async function persist(attempt: () => Promise<unknown>): Promise<number> {
  const deadline = Date.now() + 10_000;
  for (let failures = 0; ; failures++) {
    try {
      await attempt();
      return failures;
    } catch (error) {
      expect(error).toMatchObject({ code: 'unavailable', retryAfter: 1 });
      if (Date.now() > deadline) throw error;
      await Bun.sleep(50);
    }
  }
}

describe.skipIf(!hasPostgres)('PostgreSQL that fails', () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  async function withStore(
    work: (store: Store) => Promise<void>,
    { port, user = 'postern' }: { readonly port?: number; readonly user?: string } = {},
  ): Promise<void> {
    const url = new URL(await server.createDatabase());
    if (port !== undefined) url.port = String(port);
    url.username = user;
    const store = await openPostgresStore({ url: url.href, clock, poolSize: 2 });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  }

  test('that closed idle connections causes no failed request', () =>
    withStore(async (store) => {
      await store.commit(role('before'));
      await Promise.all(Array.from({ length: 8 }, () => store.get('role', 1)));
      await server.execute(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postern'`,
      );
      const [read, ids] = await Promise.all([store.get('role', 1), store.commit(role('after'))]);
      expect([read?.uniqueName, ids[0]]).toEqual(['before', 2]);
      expect(await verifyChains(store)).toHaveLength(2);
    }));

  test('that becomes read-only can be read, rejects writes as unhealthy, and works again afterwards', () =>
    withStore(async (store) => {
      await store.commit(role('before'));
      await server.execute('alter system set default_transaction_read_only = on');
      await server.execute('select pg_reload_conf()');
      try {
        await Bun.sleep(100);
        expect(await failure(store.commit(role('during')))).toMatchObject({
          code: 'unavailable',
          retryAfter: 1,
        });
        expect(await failure(store.lease('work', 'me', 10))).toMatchObject({ code: 'unavailable' });
        expect(await store.count('role', [], 5)).toBe(1);
        expect(await store.health()).toEqual({ ok: false, detail: 'the database is read-only' });
      } finally {
        await server.execute('alter system reset default_transaction_read_only');
        await server.execute('select pg_reload_conf()');
      }
      await persist(() => store.commit(role('after')));
      expect(await store.health()).toEqual({ ok: true });
      expect((await verifyChains(store)).map(({ action }) => action)).toEqual(['before', 'after']);
    }));

  test('behind a proxy without a server is soon unavailable, and the proxy gets few connections', async () => {
    await using proxy = await tcpProxy(() => Number(new URL(server.url).port));
    await withStore(
      async (store) => {
        await store.commit(role('before'));
        proxy.mode = 'refuse';
        await server.execute(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postern'`,
        );
        await Bun.sleep(50);
        const before = proxy.connections;
        const since = Date.now();
        for (let n = 0; n < 20; n++) {
          const both = await Promise.all([
            failure(store.get('role', 1)),
            failure(store.commit(role(`r${n}`))),
          ]);
          expect(both).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }]);
        }
        expect(Date.now() - since).toBeLessThan(15_000);
        expect(proxy.connections - before).toBeLessThan(60);
        proxy.mode = 'pass';
        await persist(() => store.commit(role('after')));
        await persist(() => store.get('role', 1));
      },
      { port: proxy.port },
    );
  });

  test('with too many connections is unavailable for new requests, and serves the others', async () => {
    await server.execute('create role crowded login superuser');
    await withStore(
      async (store) => {
        await server.execute('alter role crowded nosuperuser connection limit 2');
        await server.execute('grant postern to crowded; alter role crowded inherit');
        const refused: unknown[] = [];
        const ask = () => store.get('role', 1).catch((error) => refused.push(error));
        await Promise.all(Array.from({ length: 50 }, ask));
        await store.commit(role('there')).catch((error) => refused.push(error));
        for (const fault of refused) expect(fault).toMatchObject({ code: 'unavailable', retryAfter: 1 });
        await server.execute('alter role crowded connection limit -1');
        await persist(() => store.commit(role('after')));
        await Promise.all(Array.from({ length: 50 }, () => persist(() => store.get('role', 1))));
      },
      { user: 'crowded' },
    );
  });

  test('without a connection for writes is unhealthy because of max_connections', async () => {
    await server.execute('create role full_up login superuser');
    await withStore(
      async (store) => {
        await store.commit(role('before'));
        expect(await store.health()).toEqual({ ok: true });
        await server.execute('alter role full_up nosuperuser connection limit 0');
        await server.execute(
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'full_up'`,
        );
        expect(await failure(store.commit(role('during')))).toMatchObject({ code: 'unavailable' });
        expect(await store.health()).toEqual({
          ok: false,
          detail: 'the database has no free connection (max_connections)',
        });
        await server.execute('alter role full_up superuser connection limit -1');
        await persist(() => store.commit(role('after')));
        expect(await store.health()).toEqual({ ok: true });
      },
      { user: 'full_up' },
    );
  });

  describe('a connection that is closed at COMMIT', () => {
    const cases = [
      ['answer', 'it took effect'],
      ['request', 'it did not take effect'],
      ['late', 'it takes effect, if at all, when another one is tried already'],
    ] as const;
    test.each(cases)('loses the %s: %s, and the commit takes effect once', async (what) => {
      await using proxy = await commitProxy(Number(new URL(server.url).port));
      await withStore(
        async (store) => {
          proxy.lose = what;
          const together = await Promise.all(['a', 'b', 'c'].map((name) => store.commit(role(name))));
          expect(proxy.lost).toBe(1);
          await Bun.sleep(what === 'late' ? 700 : 0);
          const { records } = await store.list('role', {
            limit: 10,
            order: { field: 'id', descending: false },
          });
          expect(records.map(({ id, uniqueName }) => [[id, 0], uniqueName])).toEqual(
            together.map((ids, n) => [[...ids], ['a', 'b', 'c'][n]!]),
          );
          const actions = async () => (await verifyChains(store)).map(({ action }) => action);
          expect(await actions()).toEqual(['a', 'b', 'c']);
          await store.commit(role('d'));
          expect(await actions()).toEqual(['a', 'b', 'c', 'd']);
        },
        { port: proxy.port },
      );
    });

    test.each(cases)(
      'in a single-statement commit loses the %s: %s, and the commit takes effect once',
      async (what) => {
        await using proxy = await commitProxy(Number(new URL(server.url).port));
        await withStore(
          async (store) => {
            await store.commit(failedLogin('before'));
            proxy.sign = '"lost"';
            proxy.lose = what;
            const together = await Promise.all(
              ['a', 'lost', 'c'].map((name) => store.commit(failedLogin(name))),
            );
            expect(proxy.lost).toBe(1);
            await Bun.sleep(what === 'late' ? 700 : 0);
            const { records } = await store.list('loginFailure', {
              limit: 10,
              order: { field: 'id', descending: false },
            });
            expect(records.slice(1).map(({ id, subject }) => [[id, 0], subject])).toEqual(
              together.map((ids, n) => [[...ids], ['a', 'lost', 'c'][n]!]),
            );
            await store.commit(failedLogin('after'));
            expect((await verifyChains(store)).map(({ action }) => action)).toEqual([
              'before',
              'a',
              'lost',
              'c',
              'after',
            ]);
          },
          { port: proxy.port },
        );
      },
    );

    test('with one rejected commit among several lets the others take effect once', async () => {
      await using proxy = await commitProxy(Number(new URL(server.url).port));
      await withStore(
        async (store) => {
          await store.commit(role('taken'));
          await server.execute(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'postern'`,
          );
          proxy.lose = 'answer';
          const outcomes = await Promise.allSettled(
            ['a', 'taken', 'b'].map((name) => store.commit(role(name))),
          );
          expect(proxy.lost).toBe(1);
          expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
          expect((await verifyChains(store)).map(({ action }) => action)).toEqual(['taken', 'a', 'b']);
          expect(await store.count('role', [], 10)).toBe(3);
        },
        { port: proxy.port },
      );
    });

    test('without a way to find the result is unavailable, and later commits are correct', async () => {
      await using proxy = await commitProxy(Number(new URL(server.url).port));
      await withStore(
        async (store) => {
          proxy.lose = 'answer';
          const cut = failure(store.commit([insert('role', { uniqueName: 'a' })]));
          expect([await cut, proxy.lost]).toMatchObject([
            {
              code: 'unavailable',
            },
            1,
          ]);
          await store.commit(role('b'));
          expect(await store.count('role', [], 10)).toBe(2);
          expect(await verifyChains(store)).toHaveLength(1);
        },
        { port: proxy.port },
      );
    });
  });

  test('of two servers, the writable one is used; after a fail-over, acknowledged commits are there', async () => {
    const own = await startPostgres();
    try {
      const [, , database] = (await own.createDatabase()).split('/').slice(1) as [string, string, string];
      const standby = await own.standby();
      const primary = new URL(own.url).port;
      const url = `postgres://postern@127.0.0.1:${standby.port},127.0.0.1:${primary}/${database}`;
      const store = await openPostgresStore({ url, clock, poolSize: 2 });
      await store.commit(role('before'));
      expect(await store.health()).toEqual({ ok: true });
      const done: string[] = [];
      let stop = false;
      const load = Promise.all(
        Array.from({ length: 4 }, async (_, n) => {
          for (let i = 0; !stop; i++) {
            const name = `r${n}-${i}`;
            // A retry may find that the first attempt took effect.
            const made = await store.commit(role(name)).then(
              () => true,
              (error) => error.code === 'conflict',
            );
            if (made) done.push(name);
            else await Bun.sleep(20);
          }
        }),
      );
      await Bun.sleep(300);
      await own.kill();
      const before = done.length;
      expect(before).toBeGreaterThan(0);
      await Bun.sleep(300);
      await standby.promote();
      const failedOver = Date.now();
      while (done.length < before + 20 && Date.now() - failedOver < 10_000) await Bun.sleep(10);
      expect(done.length).toBeGreaterThanOrEqual(before + 20);
      stop = true;
      await load;
      const kept = new Set((await verifyChains(store)).map(({ action }) => action));
      expect(done.filter((name) => !kept.has(name))).toEqual([]);
      await store.close();
    } finally {
      await own.stop();
    }
  }, 60_000);
});
