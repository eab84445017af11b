import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { SqliteReader } from '#adapters/outbound/sql/sqlite-reader.ts';
import { newHandle, type Store } from '#core/ports/store.ts';
import { failure, storeContract, type TestDatabase } from '#tests/contracts/store.ts';
import { verifyChains } from '#tests/contracts/store-audit.ts';
import { event, insert, nullable } from '#tests/contracts/store-samples.ts';

const clock = { now: () => Date.now() };
const writerProgram = new URL('../../../fixtures/store-writer.ts', import.meta.url).pathname;

function createDatabase(): TestDatabase & { readonly path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'postern-sqlite-'));
  const path = join(directory, 'postern.db');
  const stores: Store[] = [];
  return {
    path,
    async open(own = clock) {
      const store = await openSqliteStore({ path, clock: own });
      stores.push(store);
      return store;
    },
    async execute(sql) {
      using db = new Database(path);
      db.run(sql);
    },
    async remove() {
      for (const store of stores) await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

storeContract('SQLite', async () => createDatabase());

describe('SQLite', () => {
  const databases: TestDatabase[] = [];
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.remove();
  });
  const fresh = () => {
    const database = createDatabase();
    databases.push(database);
    return database;
  };
  const writer = (path: string, prefix: string, count: number) =>
    Bun.spawn([process.execPath, writerProgram, path, prefix, `${count}`], {
      stdout: 'pipe',
      stderr: 'inherit',
    });
  const roleNames = async (store: Store): Promise<Set<string>> => {
    const names = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.list('role', { limit: 1000, ...(cursor && { cursor }) });
      for (const { uniqueName } of page.records) names.add(uniqueName);
      cursor = page.next;
    } while (cursor);
    return names;
  };

  test('its files are for its owner only', async () => {
    const before = process.umask(0o022);
    try {
      const database = fresh();
      const store = await database.open();
      await store.commit([insert('role')]);
      for (const suffix of ['', '-wal', '-shm']) {
        expect(statSync(database.path + suffix).mode & 0o777).toBe(0o600);
      }
    } finally {
      process.umask(before);
    }
  });

  test('a commit that SQLite reports as failed, but made, does not break the audit chain', async () => {
    const database = fresh();
    const opened = spyOn(Database.prototype, 'run');
    const store = await database.open();
    const [connection] = opened.mock.contexts as unknown as Database[];
    opened.mockRestore();
    const prepare = connection!.prepare.bind(connection);
    const prepared = spyOn(connection!, 'prepare').mockImplementation(((sql: string) => {
      const statement = prepare(sql);
      if (sql !== 'commit') return statement;
      const run = statement.run.bind(statement);
      let fails = true;
      statement.run = (...given) => {
        const result = run(...given);
        if (!fails) return result;
        fails = false;
        throw new Error('disk I/O error');
      };
      return statement;
    }) as never);
    const told = (action: string) =>
      store.commit([insert('loginFailure'), { op: 'audit', event: event({ action }) }]);
    expect(await failure(told('one'))).toMatchObject({ code: 'internal' });
    await told('two');
    await told('three');
    prepared.mockRestore();
    const events = await verifyChains(store);
    expect(events.map(({ action }) => action).sort()).toEqual(['one', 'three', 'two']);
  });

  test('in memory, stores are independent', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => openSqliteStore({ path: ':memory:', clock })));
    await a!.commit([insert('role')]);
    expect(await a!.count('role', [], 5)).toBe(1);
    expect(await b!.count('role', [], 5)).toBe(0);
    await Promise.all([a!.close(), b!.close()]);
  });

  test('processes that create the tables and write concurrently all succeed', async () => {
    const database = fresh();
    const writers = ['a', 'b', 'c'].map((prefix) => writer(database.path, prefix, 100));
    expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0]);
    const store = await database.open();
    expect((await roleNames(store)).size).toBe(300);
    expect(await verifyChains(store)).toHaveLength(300);
    expect(await store.auditHeads('')).toHaveLength(3);
  }, 60_000);

  test('commits that a killed process acknowledged are there', async () => {
    const database = fresh();
    const told: string[] = [];
    for (const prefix of ['first', 'second', 'third']) {
      const process = writer(database.path, prefix, 1_000_000);
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of process.stdout) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > 3000) process.kill('SIGKILL');
      }
      await process.exited;
      expect(process.signalCode).toBe('SIGKILL');
      told.push(...text.split('\n').slice(0, -1));
    }
    expect(told.length).toBeGreaterThan(300);
    const store = await database.open();
    const names = await roleNames(store);
    expect(told.filter((name) => !names.has(name))).toEqual([]);
    expect(await verifyChains(store)).toHaveLength(names.size);
    using db = new Database(database.path);
    expect(db.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  }, 60_000);

  test('a damaged record is an error that names the record but not its contents', async () => {
    const database = fresh();
    const store = await database.open(clock);
    const [role] = await store.commit([insert('role', { uniqueName: 'Line' })]);
    const own = newHandle('configuration');
    const config = insert('noOnboardingConfig', {}, own);
    const [device] = await store
      .commit([config, insert('device', { ...nullable.device, commonName: 'pump', noOnboardingConfig: own })])
      .then(([, id]) => [id]);
    await database.execute(`update roles set permissions = '["a secret'`);
    await database.execute(`update no_onboarding_configs set protocols = '["a secret'`);
    const failures = [
      [() => store.get('role', role!), `permissions of role ${role} in the store is damaged`],
      [() => store.list('role', { limit: 1 }), `permissions of role ${role} in the store is damaged`],
      [
        () => store.deviceLogin('pump', 'estPassword'),
        `protocols of device ${device} in the store is damaged`,
      ],
    ] as const;
    for (const [ask, message] of failures) {
      const fault = await failure(ask());
      expect(fault).toMatchObject({ code: 'internal', detail: 'internal error', cause: { message } });
      expect(Bun.inspect(fault)).not.toContain('secret');
    }
  });

  test('while another process writes, a commit waits without blocking', async () => {
    const database = fresh();
    const store = await database.open();
    using other = new Database(database.path);
    other.run('begin immediate');
    const commit = store.commit([insert('role')]);
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(10);
      expect(await store.count('role', [], 5)).toBe(0);
    }
    other.run('rollback');
    await commit;
    expect(await store.count('role', [], 5)).toBe(1);
  });

  test('a commit is unavailable when another process does not stop writing', async () => {
    const database = fresh();
    const store = await openSqliteStore({ path: database.path, clock, busyTimeout: 50 });
    using other = new Database(database.path);
    other.run('begin immediate');
    expect(await failure(store.commit([insert('role')]))).toMatchObject({
      code: 'unavailable',
      retryAfter: 1,
    });
    expect(await failure(store.lease('a', 'b', 1))).toMatchObject({ code: 'unavailable' });
    other.run('rollback');
    await store.commit([insert('role', { uniqueName: 'other' }), { op: 'audit', event: event() }]);
    expect([...(await roleNames(store))]).toEqual(['other']);
    await store.close();
  });

  test('a search does not block other queries', async () => {
    const database = fresh();
    const store = await database.open();
    await store.commit(
      Array.from({ length: 3000 }, (_, i) =>
        insert('device', { commonName: `pump-${i}`, ...nullable.device }),
      ),
    );
    await store.list('device', { limit: 1 });
    // Takes a while: only the last word matches nothing.
    const search = ['p', 'u', 'm', 'pu', 'um', 'mp', 'pum', 'ump', 'pump', 'not'];
    let most = 0;
    for (let attempt = 0; attempt < 20 && most < 2; attempt++) {
      let searching = true;
      const searched = store.list('device', { search, limit: 1 }).then(() => {
        searching = false;
      });
      let answered = 0;
      while (searching) {
        await store.deviceLogin('pump-7', 'estPassword');
        await store.commit([insert('role', { uniqueName: `${attempt}-${answered++}` })]);
      }
      await searched;
      most = Math.max(most, answered);
    }
    // If the search had blocked, at most one would be done.
    expect(most).toBeGreaterThanOrEqual(2);
  });

  test('a query that takes too long is cancelled, and those that wait for it are served', async () => {
    const database = fresh();
    const store = await database.open();
    const reader = new SqliteReader(database.path, 2000);
    const count =
      'with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000000000) select count(*) from n';
    const [long, waiting] = [reader.query(count, []), reader.query('select 1 as one', [])];
    expect(await failure(long)).toMatchObject({ code: 'unavailable', detail: 'the query took too long' });
    expect(await waiting).toEqual([{ one: 1 }]);
    expect(reader.isIdle).toBe(true);
    expect(await reader.query('select value from change_counter', [])).toEqual([{ value: 0 }]);
    expect(await failure(reader.query('delete from roles', []))).toMatchObject({ name: 'Fault' });
    expect(await failure(reader.query('select nothing', []))).toMatchObject({ code: 'internal' });
    const last = reader.query(count, []);
    reader.close();
    expect(await failure(last)).toMatchObject({ code: 'unavailable' });
    await store.close();
  });

  test('checkpoints run in a thread, not in a commit, and the log starts again', async () => {
    const database = fresh();
    const store = await database.open();
    const octets = new Uint8Array(250_000);
    const log = () => statSync(`${database.path}-wal`).size;
    await store.commit([insert('issuingCa')]);
    let longest = 0;
    for (let n = 0; n < 400; n++) {
      await store.commit([insert('crlPart', { name: `${n}`, octets })]);
      longest = Math.max(longest, log());
    }
    // 100 MB were written. Below the limit of the log, a commit does not checkpoint.
    expect(longest).toBeGreaterThan(8192 * 4096);
    expect(longest).toBeLessThan(65_536 * 4096);
    const copied = statSync(database.path).size;
    expect(copied).toBeGreaterThan(32 * 2 ** 20);
    expect(await store.count('crlPart', [], 1000)).toBe(400);
  }, 60_000);

  test('a clock that was set back between two upgrades is ignored', async () => {
    const database = fresh();
    await (await database.open()).close();
    await database.execute(
      "update kysely_migration set timestamp = '2126-01-01T00:00:00.000Z' where name < '0002'",
    );
    const store = await database.open();
    expect(await store.health()).toEqual({ ok: true });
    await store.close();
  });

  test.each([
    ['no database', (contents: Buffer) => contents.fill(0x41)],
    ['cut off', (contents: Buffer) => contents.subarray(0, contents.length / 4)],
  ])('a file that is %s gives an error with the fix', async (_, damage) => {
    const database = fresh();
    await (await database.open()).close();
    writeFileSync(database.path, damage(readFileSync(database.path)));
    const opening = openSqliteStore({ path: database.path, clock });
    await expect(opening).rejects.toThrow(/^\/.*postern\.db: .*; the file is damaged: restore a backup/);
  });

  test('additions of a newer version to the database are accepted, and incompatible changes rejected', async () => {
    const database = fresh();
    const store = await database.open();
    await database.execute('alter table roles add column later text');
    await database.execute("insert into kysely_migration values ('9998-later', '2126-01-01T00:00:00.000Z')");
    await store.commit([insert('role', { uniqueName: 'before' })]);
    await store.close();
    const again = await database.open();
    await again.commit([insert('role', { uniqueName: 'after' })]);
    expect(await again.count('role', [], 5)).toBe(2);
    for (const name of ['9999-later-breaking', '0001-another']) {
      await database.execute(`insert into kysely_migration values ('${name}', '2126-01-01T00:00:00.000Z')`);
      const opening = openSqliteStore({ path: database.path, clock });
      expect(await failure(opening)).toMatchObject({ code: 'unsupported' });
      await database.execute(`delete from kysely_migration where name = '${name}'`);
    }
  });
});
