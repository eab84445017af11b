import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { openPostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store } from '#core/ports/store.ts';
import { failure } from '#tests/contracts/store.ts';
import { event, insert } from '#tests/contracts/store-samples.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

const clock = { now: () => Date.now() };
const detail = 'the database was reset to an earlier state: it lacks records that this gateway has read';

const role = (uniqueName: string) =>
  [insert('role', { uniqueName }), { op: 'audit', event: event({ action: uniqueName }) }] as const;

async function demandRefusal(store: Store): Promise<void> {
  expect(await failure(store.changeCounter())).toMatchObject({ code: 'unavailable', detail });
  expect(await failure(store.commit(role('refused')))).toMatchObject({ code: 'unavailable', detail });
  expect(await store.health()).toEqual({ ok: false, detail });
}

async function eventually(attempt: () => Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + 10_000; ; await Bun.sleep(50)) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

interface Changeable {
  open(): Promise<Store>;
  execute(sql: string): Promise<unknown>;
}

function behindTheBack(name: string, database: () => Changeable): void {
  // A restore, or a proxy that has put another server behind connections that went on.
  test(`${name}: a change counter that went back is noticed on connections that go on, and forgiven when it is back`, async () => {
    const { open, execute } = database();
    const store = await open();
    try {
      for (const name of ['a', 'b', 'c']) await store.commit(role(name));
      expect(await store.changeCounter()).toBe(3);
      // What was read counts from the next commit on.
      await store.confirm!();
      await execute('update change_counter set value = 2');
      await demandRefusal(store);
      await execute('update change_counter set value = 3');
      await eventually(() => store.changeCounter());
      await store.commit(role('d'));
      expect(await store.health()).toEqual({ ok: true });
      await execute('update change_counter set value = 1');
      await demandRefusal(store);
      // An operator who restarts the gateway accepts the database as it is.
      const restarted = await open();
      await restarted.commit(role('e'));
      expect(await restarted.health()).toEqual({ ok: true });
      await restarted.close();
    } finally {
      await store.close();
    }
  });
}

describe('a database that goes back in time', () => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-back-'));
  const path = join(directory, 'postern.db');
  afterAll(() => rmSync(directory, { recursive: true }));

  behindTheBack('SQLite', () => ({
    open: () => openSqliteStore({ path, clock }),
    async execute(sql) {
      using db = new Database(path);
      db.run(sql);
    },
  }));

  describe.skipIf(!hasPostgres)('PostgreSQL', () => {
    let server: PostgresFixture;
    beforeAll(async () => {
      server = await startPostgres();
    }, 60_000);
    afterAll(() => server.stop());

    behindTheBack('PostgreSQL', () => ({
      open: () => openPostgresStore({ url: server.url, clock, poolSize: 2 }),
      execute: async (sql) => server.execute(sql),
    }));

    test('an old primary is neither read nor written when the new one is lost, until the gateway is restarted', async () => {
      const copy = await server.standby();
      const database = new URL(await server.createDatabase());
      const both = `postgres://postern@127.0.0.1:${database.port},127.0.0.1:${copy.port}${database.pathname}`;
      const store = await openPostgresStore({ url: both, clock, poolSize: 2 });
      try {
        await store.commit(role('at both'));
        // From here on they go separate ways, and both take writes.
        await server.execute('alter system reset synchronous_standby_names');
        await server.execute('select pg_reload_conf()');
        await copy.promote();
        for (const name of ['a', 'b', 'c']) await store.commit(role(name));
        await server.kill();
        for (let n = 0; n < 20; n++) {
          expect(await failure(store.commit(role(`refused-${n}`)))).toMatchObject({ code: 'unavailable' });
          expect(await failure(store.get('role', 1))).toMatchObject({ code: 'unavailable' });
          await Bun.sleep(20);
        }
        expect(await store.health()).toMatchObject({ ok: false });
        const alone = `postgres://postern@127.0.0.1:${copy.port}${database.pathname}`;
        const restarted = await openPostgresStore({ url: alone, clock, poolSize: 2 });
        expect(
          (await restarted.list('role', { limit: 10 })).records.map(({ uniqueName }) => uniqueName),
        ).toEqual(['at both']);
        await restarted.close();
        await server.start();
        await eventually(async () => expect(await store.health()).toEqual({ ok: true }));
        await store.commit(role('d'));
        expect(await store.count('role', [], 10)).toBe(5);
      } finally {
        await store.close();
      }
    }, 60_000);

    test('a primary key that is taken, as of an older copy whose sequences are behind, is unavailable and no defect', async () => {
      const url = await server.createDatabase();
      const store = await openPostgresStore({ url, clock, poolSize: 2 });
      try {
        await store.commit(role('a'));
        const sql = postgres(url, { max: 1 });
        await sql`insert into roles (id, created_at, unique_name, permissions, is_protected)
          select n, 0, 'lost-' || n, '[]', false from generate_series(2, 40) as n`;
        await sql.end();
        expect(await failure(store.commit(role('b')))).toMatchObject({ code: 'unavailable' });
      } finally {
        await store.close();
      }
    });
  });
});
