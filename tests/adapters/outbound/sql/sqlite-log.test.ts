import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, fdatasyncSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Flush } from '#adapters/outbound/sql/sqlite-log.ts';
import type { Store } from '#core/ports/store.ts';
import { failure } from '#tests/contracts/store.ts';
import { verifyChains } from '#tests/contracts/store-audit.ts';
import { event, insert } from '#tests/contracts/store-samples.ts';

const clock = { now: () => Date.now() };
const role = (uniqueName: string) => insert('role', { uniqueName });

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const one of cleanUp.splice(0).reverse()) await one();
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'postern-log-'));
  cleanUp.push(async () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens a store in a file with the flushes of `flush`. */
async function open(flush: Flush, path = join(newDirectory(), 'postern.db')) {
  const store = await openSqliteStore({ path, clock, flush });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await store.close();
    isOpen = false;
  };
  // Before those that end held flushes.
  cleanUp.unshift(close);
  return { store, path, close };
}

async function names(store: Store): Promise<string[]> {
  const { records } = await store.list('role', { limit: 100 });
  return records.map(({ uniqueName }) => uniqueName).sort();
}

/** Flushes that end when the test says so. */
function heldFlushes() {
  const flushes: PromiseWithResolvers<void>[] = [];
  const begun: PromiseWithResolvers<void>[] = [Promise.withResolvers()];
  let held = false;
  cleanUp.push(async () => {
    held = false;
    for (const { resolve } of flushes) resolve();
  });
  return {
    hold: () => {
      held = true;
    },
    /** Resolves when flush `n` has begun; the first after `hold` is 0. */
    begun: (n: number) => {
      begun[n] ??= Promise.withResolvers();
      return begun[n].promise;
    },
    end: (n: number) => flushes[n]!.resolve(),
    get count() {
      return flushes.length;
    },
    flush(): Promise<void> {
      if (!held) return Promise.resolve();
      const n = flushes.push(Promise.withResolvers()) - 1;
      begun[n] ??= Promise.withResolvers();
      begun[n].resolve();
      return flushes[n]!.promise;
    },
  };
}

const isPending = async (promise: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([promise, Bun.sleep(20).then(() => 'pending')])) === 'pending';

describe('the log of SQLite', () => {
  test('has an acknowledged commit on the disk, not only in the memory of the kernel', async () => {
    const power = { directory: newDirectory(), flushes: 0 };
    // The state after a power failure: the database, and the log as of the last completed flush.
    const flush: Flush = async (descriptor) => {
      fdatasyncSync(descriptor);
      const log = readlinkSync(`/proc/self/fd/${descriptor}`);
      copyFileSync(log.replace(/-wal$/, ''), join(power.directory, 'left.db'));
      copyFileSync(log, join(power.directory, 'left.db-wal'));
      power.flushes++;
    };
    const { store } = await open(flush);
    for (let n = 0; n < 20; n++) {
      const name = `role-${n}`;
      await store.commit([role(name), { op: 'audit', event: event({ action: name }) }]);
      using left = new Database(join(power.directory, 'left.db'));
      expect(left.query('select count(*) as n from roles where unique_name = ?').get(name)).toEqual({ n: 1 });
      for (const suffix of ['', '-wal', '-shm'])
        rmSync(join(power.directory, `left.db${suffix}`), { force: true });
    }
    expect(power.flushes).toBeGreaterThanOrEqual(20);
  });

  test('a commit is acknowledged when its flush has completed', async () => {
    const flushes = heldFlushes();
    const { store } = await open(flushes.flush);
    flushes.hold();
    const committed = store.commit([role('one')]);
    await flushes.begun(0);
    expect(await isPending(committed)).toBe(true);
    flushes.end(0);
    expect(await committed).toHaveLength(1);
  });

  test('a commit cannot be read before its flush', async () => {
    const flushes = heldFlushes();
    const { store } = await open(flushes.flush);
    await store.commit([role('zero')]);
    flushes.hold();
    const committed = store.commit([role('one')]);
    await flushes.begun(0);
    const reads = {
      find: store.find('role', { uniqueName: 'one' }),
      list: store.list('role', { limit: 10 }),
      search: store.list('role', { limit: 10, search: ['one'] }),
      count: store.count('role', [], 10),
    };
    for (const read of Object.values(reads)) expect(await isPending(read)).toBe(true);
    flushes.end(0);
    await committed;
    expect((await reads.find)?.uniqueName).toBe('one');
    expect((await reads.list).records).toHaveLength(2);
    expect((await reads.search).records).toHaveLength(1);
    expect(await reads.count).toBe(2);
  });

  test('commits of another process are flushed before they can be read', async () => {
    const flushes = heldFlushes();
    const { store, path } = await open(flushes.flush);
    expect(await names(store)).toEqual([]);
    const other = await open(() => Promise.resolve(), path);
    await other.store.commit([role('theirs')]);
    flushes.hold();
    const read = names(store);
    await flushes.begun(0);
    expect(await isPending(read)).toBe(true);
    flushes.end(0);
    expect(await read).toEqual(['theirs']);
    // Nothing was committed since.
    expect(await names(store)).toEqual(['theirs']);
    expect(flushes.count).toBe(1);
  });

  test('commits that arrive during a flush share the next one', async () => {
    const flushes = heldFlushes();
    const { store } = await open(flushes.flush);
    flushes.hold();
    const first = store.commit([role('first')]);
    await flushes.begun(0);
    const others = ['a', 'b', 'c'].map((name) => store.commit([role(name)]));
    flushes.end(0);
    await first;
    await flushes.begun(1);
    for (const other of others) expect(await isPending(other)).toBe(true);
    flushes.end(1);
    await Promise.all(others);
    expect(flushes.count).toBe(2);
  });

  test('after a failed flush, nothing is acknowledged or read until the log has been checkpointed', async () => {
    const failing = { now: false, count: 0 };
    const flush: Flush = async () => {
      if (!failing.now) return;
      failing.count++;
      throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
    };
    const { store, path, close } = await open(flush);
    await store.commit([role('before'), { op: 'audit', event: event({ action: 'before' }) }]);
    failing.now = true;
    expect(await failure(store.commit([role('lost')]))).toMatchObject({ code: 'unavailable' });
    expect(await failure(store.commit([role('refused')]))).toMatchObject({ code: 'unavailable' });
    expect(await failure(names(store))).toMatchObject({ code: 'unavailable' });
    expect(await store.health()).toMatchObject({ ok: false, detail: 'the disk fails' });
    // A second flush would succeed without writing anything, so it is not tried.
    expect(failing.count).toBe(1);
    failing.now = false;
    while (await failure(store.commit([{ op: 'audit', event: event({ action: 'after' }) }])))
      await Bun.sleep(50);
    // The failed log is empty, and its contents are in the database file.
    await close();
    rmSync(`${path}-wal`);
    if (existsSync(`${path}-shm`)) rmSync(`${path}-shm`);
    using left = new Database(path);
    expect(left.query('select unique_name from roles order by unique_name').values()).toEqual([
      ['before'],
      ['lost'],
    ]);
    const again = await open(() => Promise.resolve(), path);
    const events = await verifyChains(again.store);
    expect(events.map(({ action }) => action)).toContain('before');
  });

  test('the event loop is not blocked while the disk is busy', async () => {
    const flushes = heldFlushes();
    const { store } = await open(flushes.flush);
    flushes.hold();
    const committed = store.commit([role('slow')]);
    await flushes.begun(0);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(await isPending(committed)).toBe(true);
    flushes.end(0);
    await committed;
  });
});
