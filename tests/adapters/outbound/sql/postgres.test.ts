import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import postgres from 'postgres';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import type { Store } from '#core/ports/store.ts';
import { failure, storeContract, type TestDatabase } from '#tests/contracts/store.ts';
import { verifyChains } from '#tests/contracts/store-audit.ts';
import { event, insert } from '#tests/contracts/store-samples.ts';
import { freePorts } from '#tests/fixtures/ports.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

const clock = { now: () => Date.now() };

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.stop());

  async function execute(url: string, text: string): Promise<void> {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      await sql.unsafe(text);
    } finally {
      await sql.end();
    }
  }

  type Database = TestDatabase & { readonly url: string };

  /** A database with the tables, to be copied: creating them takes longer than most tests. */
  let tables: Promise<string> | undefined;
  async function makeTables(): Promise<string> {
    const url = await server.createDatabase();
    await (await openPostgresStore({ url, clock })).close();
    return url;
  }
  async function withTables(): Promise<Database> {
    tables ??= makeTables();
    return database(await server.createDatabase(await tables));
  }

  function database(url: string): Database {
    const stores: Store[] = [];
    return {
      url,
      async open(own = clock) {
        const store = await openPostgresStore({ url, clock: own, poolSize: 2 });
        stores.push(store);
        return store;
      },
      execute: (text) => execute(url, text),
      async remove() {
        await Promise.all(stores.map((store) => store.close()));
        await server.execute(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
      },
    };
  }

  storeContract('it', withTables);

  const databases: TestDatabase[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.remove();
  });
  const fresh = async () => {
    const made = database(await server.createDatabase());
    databases.push(made);
    return made;
  };

  test('gateways that create the tables concurrently create them once', async () => {
    const database = await fresh();
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => database.open()));
    await Promise.all(stores.map((store, i) => store.commit([insert('role', { uniqueName: `r${i}` })])));
    expect(await stores[0]!.count('role', [], 10)).toBe(5);
  });

  test('a gateway works while a newer version upgrades the tables, and starts on them again', async () => {
    const database = await fresh();
    const old = await database.open();
    await old.commit([insert('role', { uniqueName: 'before' })]);
    const [, read] = [await old.list('role', { limit: 1 }), await old.get('role', 1)];
    await database.execute(`begin;
      alter table roles add column later text;
      alter table roles add column sooner bigint not null default 7;
      create index roles_later on roles (later);
      insert into kysely_migration values ('9999-later', '2126-01-01T00:00:00.000Z');
      commit`);
    expect(await old.get('role', 1)).toEqual(read!);
    await old.commit([insert('role', { uniqueName: 'after' })]);
    expect((await old.list('role', { limit: 1 })).records).toMatchObject([{ uniqueName: 'after' }]);
    const both = await Promise.all([database.open(), database.open()]);
    expect(await Promise.all(both.map((store) => store.count('role', [], 5)))).toEqual([2, 2]);
  });

  test('a missing database or rejected login is unavailable', async () => {
    const [port] = await freePorts(1);
    const urls = [
      `postgres://postern@127.0.0.1:${port}/postgres`,
      server.url.replace(/postgres$/, 'nowhere'),
      server.url.replace('postern@', 'nobody@'),
    ];
    for (const url of urls) {
      const opening = openPostgresStore({ url, clock, connectTimeout: 1000 });
      expect(await failure(opening)).toMatchObject({ code: 'unavailable' });
    }
  });

  test('a statement that takes too long is cancelled, and its commit has no effect', async () => {
    const database = await fresh();
    const store = await openPostgresStore({ url: database.url, clock, statementTimeout: 200 });
    const sql = postgres(database.url, { max: 1 });
    await sql.begin(async (open) => {
      await open`lock table roles in access exclusive mode`;
      expect(await failure(store.commit([insert('setting'), insert('role')]))).toMatchObject({
        code: 'unavailable',
      });
      expect(await failure(store.get('role', 1))).toMatchObject({ code: 'unavailable', retryAfter: 1 });
    });
    await sql.end();
    await store.commit([insert('role', { uniqueName: 'after' }), { op: 'audit', event: event() }]);
    expect(await store.count('role', [], 5)).toBe(1);
    expect(await store.count('setting', [], 5)).toBe(0);
    expect(await verifyChains(store)).toHaveLength(1);
    await store.close();
  });

  test('a store that closes does not wait long for a server that does not respond', async () => {
    const database = await fresh();
    const store = await openPostgresStore({ url: database.url, clock });
    await store.changeCounter();
    const sql = postgres(database.url, { max: 1 });
    await sql.begin(async (open) => {
      await open`lock table roles, change_counter in access exclusive mode`;
      const asked = [failure(store.get('role', 1)), failure(store.changeCounter())];
      const start = performance.now();
      await store.close();
      expect(performance.now() - start).toBeWithin(1500, 20_000);
      expect(await Promise.all(asked)).toMatchObject([{ code: 'unavailable' }, { code: 'unavailable' }]);
    });
    await sql.end();
  });

  test('commits of two gateways that deadlock both succeed', async () => {
    const database = await fresh();
    const [a, b] = [await database.open(), await database.open()];
    await a.commit([insert('role', { uniqueName: '1' }), insert('role', { uniqueName: '2' })]);
    const touch = (store: Store, ids: number[]) =>
      store.commit(ids.map((id) => ({ op: 'update', kind: 'role', id, set: { createdAt: id } })));
    for (let i = 0; i < 10; i++) {
      const both = await Promise.all([touch(a, [1, 2, 1, 2]), touch(b, [2, 1, 2, 1])]);
      expect(both).toEqual([
        [1, 2, 1, 2],
        [2, 1, 2, 1],
      ]);
    }
  }, 60_000);

  test('closed connections are opened again', async () => {
    const database = await fresh();
    const store = await database.open();
    await store.commit([insert('role'), { op: 'audit', event: event() }]);
    await Promise.all(Array.from({ length: 8 }, () => store.get('role', 1)));
    const cut = 'select pg_terminate_backend(pid) from pg_stat_activity';
    await database.execute(`${cut} where datname = current_database() and pid <> pg_backend_pid()`);
    await Bun.sleep(50);
    await Promise.all(Array.from({ length: 8 }, () => failure(store.get('role', 1))));
    await failure(store.commit([{ op: 'audit', event: event() }]));
    expect(await store.get('role', 1)).toMatchObject({ id: 1 });
    await store.commit([insert('role', { uniqueName: 'after' }), { op: 'audit', event: event() }]);
    expect(await store.health()).toEqual({ ok: true });
    await verifyChains(store);
  });

  test('a server that crashes under load loses no acknowledged commit, is unavailable, and then works again', async () => {
    const database = await fresh();
    const store = await database.open();
    const done: string[] = [];
    const refused: unknown[] = [];
    let stop = false;
    let next = 0;
    const load = Promise.all(
      Array.from({ length: 20 }, async () => {
        while (!stop) {
          const uniqueName = `role-${next++}`;
          const role = insert('role', { uniqueName });
          const audit = { op: 'audit', event: event({ action: uniqueName }) } as const;
          const update = { op: 'update', kind: 'setting', id: 1, set: { name: uniqueName } } as const;
          try {
            await store.deviceLogin('nobody', 'estPassword');
            await store.commit(next % 3 === 0 ? [role, audit] : [role, audit, update]);
            done.push(uniqueName);
          } catch (error) {
            refused.push(error);
            await Bun.sleep(20);
          }
        }
      }),
    );
    await store.commit([insert('setting')]);
    for (let round = 0; round < 3; round++) {
      await Bun.sleep(300);
      await server.kill();
      await Bun.sleep(100);
      expect(await store.health()).toEqual({ ok: false, detail: 'the database is unreachable' });
      // Commits are retried for a while: the server is away for longer the first time.
      while (refused.length === 0) await Bun.sleep(10);
      await server.start();
      const before = done.length;
      const patience = Date.now() + 10_000;
      while (done.length < before + 20 && Date.now() < patience) await Bun.sleep(10);
      expect(done.length).toBeGreaterThan(before);
    }
    stop = true;
    await load;
    expect(refused.length).toBeGreaterThan(0);
    for (const fault of refused) expect(fault).toMatchObject({ code: 'unavailable', retryAfter: 1 });
    const kept = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.list('role', { limit: 1000, ...(cursor && { cursor }) });
      for (const { uniqueName } of page.records) kept.add(uniqueName);
      cursor = page.next;
    } while (cursor);
    expect(done.filter((name) => !kept.has(name))).toEqual([]);
    const events = await verifyChains(store);
    expect(new Set(events.map(({ action }) => action))).toEqual(kept);
    expect(await store.health()).toEqual({ ok: true });
  }, 60_000);
});
