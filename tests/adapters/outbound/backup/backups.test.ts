import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BackupOptions, createBackups } from '#adapters/outbound/backup/backups.ts';
import { readBackup, verifyBackup } from '#adapters/outbound/backup/read.ts';
import { openKeyFiles } from '#adapters/outbound/keyfile/key-files.ts';
import { openSqliteStore, restoreSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { verifyAudit } from '#core/audit/verify.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { SnapshotItem } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

// Each passphrase costs scrypt's time.
setDefaultTimeout(60_000);

const passphrase = 'correct horse battery staple';
const home = mkdtempSync(join(tmpdir(), 'postern-backup-'));
const clock = testClock();
const vault = createVault(new Uint8Array(32).fill(1));
const alive = async (): Promise<void> => {};
let store: Store;
let site: Installation;
let keys: KeyStore;

beforeAll(async () => {
  store = await openSqliteStore({ path: join(home, 'postern.db'), clock });
  site = await installation({ store, clock });
  keys = await openKeyFiles({ directory: join(home, 'keys'), vault });
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});

const backupsWith = (options: Partial<BackupOptions> = {}) =>
  createBackups({
    store,
    keyStores: new Map([['files', keys]]),
    files: {},
    clock,
    passphrase,
    sftp: undefined,
    keep: undefined,
    ...options,
  });

function newDirectory(): string {
  const path = mkdtempSync(join(home, 'to-'));
  return path;
}

test('a backup contains all files and keys except keys of devices', async () => {
  const { id } = await keys.generate('p-256', 'one');
  const { files: _, ...device } = keys;
  writeFileSync(join(home, 'master.json'), '{"a":1}\n');
  const path = newDirectory();
  const { name, size } = await backupsWith({
    keyStores: new Map<string, KeyStore>([
      ['files', keys],
      ['hsm', device],
    ]),
    files: { 'master.json': join(home, 'master.json'), 'master.key': join(home, 'missing') },
  }).run({ kind: 'directory', path }, alive);
  expect(readdirSync(path)).toEqual([name]);
  expect(readFileSync(join(path, name)).length).toBe(size);
  const summary = await verifyBackup(join(path, name), passphrase);
  expect(summary).toMatchObject({ keysElsewhere: ['hsm'], keys: 1, createdAt: clock.now() });
  expect([...summary.files]).toEqual([['master.json', '{"a":1}\n']]);
  const found: string[] = [];
  for await (const entry of readBackup(join(path, name), passphrase)) {
    if ('key' in entry) found.push(entry.key, entry.contents);
  }
  expect(found).toEqual([id, readFileSync(join(home, 'keys', `${id}.key`), 'utf8')]);
});

test('a missing or short passphrase is rejected before anything is written', async () => {
  const path = newDirectory();
  for (const given of [undefined, 'too short']) {
    const backups = backupsWith({ passphrase: given });
    const refused = await backups.run({ kind: 'directory', path }, alive).catch((error) => error);
    expect(refused).toMatchObject({ code: 'conflict' });
  }
  expect(readdirSync(path)).toEqual([]);
});

test('the oldest backups are deleted, and other files kept', async () => {
  const path = newDirectory();
  writeFileSync(join(path, 'postern-notes.txt'), '');
  mkdirSync(join(path, 'sub'));
  const names: string[] = [];
  for (let n = 0; n < 4; n++) {
    names.push((await backupsWith({ keep: 2 }).run({ kind: 'directory', path }, alive)).name);
    clock.advance(1);
  }
  expect(readdirSync(path).sort()).toEqual([...names.slice(2), 'postern-notes.txt', 'sub']);
});

test('backups dated in the future are deleted first, and the new one is kept', async () => {
  const path = newDirectory();
  const run = async () => (await backupsWith({ keep: 2 }).run({ kind: 'directory', path }, alive)).name;
  clock.advance(7_200_000);
  const ahead: string[] = [];
  for (let n = 0; n < 2; n++) {
    ahead.push(await run());
    clock.advance(1);
  }
  clock.advance(-7_200_000);
  const first = await run();
  expect(readdirSync(path).sort()).toEqual([first, ahead[1]!]);
  clock.advance(1);
  const second = await run();
  expect(readdirSync(path).sort()).toEqual([first, second]);
});

test('leftovers of a killed run are deleted: a file immediately, in a directory after a day', async () => {
  const path = newDirectory();
  const part = (age: number) =>
    `.postern-${new Date(clock.now() - age).toISOString().replace(/[-:]/g, '')}.backup.part`;
  const [old, young] = [part(25 * 3_600_000), part(3_600_000)];
  for (const name of [old, young, '.a.backup.part', '.mine.part']) writeFileSync(join(path, name), 'half');
  await backupsWith().run({ kind: 'file', path: join(path, 'a.backup') }, alive);
  expect((await verifyBackup(join(path, 'a.backup'), passphrase)).createdAt).toBe(clock.now());
  const { name } = await backupsWith().run({ kind: 'directory', path }, alive);
  expect(readdirSync(path).sort()).toEqual([young, '.mine.part', 'a.backup', name].sort());
});

test('an existing file is not overwritten', async () => {
  const path = join(newDirectory(), 'b');
  writeFileSync(path, 'mine');
  expect(
    await backupsWith()
      .run({ kind: 'file', path }, alive)
      .catch((error) => error),
  ).toMatchObject({
    code: 'conflict',
  });
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

test('a run that loses its lease leaves nothing', async () => {
  const path = newDirectory();
  const lost = () => Promise.reject(new Error('another one runs'));
  const failed = await backupsWith()
    .run({ kind: 'directory', path }, lost)
    .catch((error) => error);
  expect(failed.message).toBe('another one runs');
  expect(readdirSync(path)).toEqual([]);
});

test('a concurrent commit is in the backup completely or not at all', async () => {
  const path = join(newDirectory(), 'b');
  let going = true;
  let made = 0;
  const load = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; going; n++) {
      await site.device(`load-${worker}-${n}`);
      made++;
    }
  });
  while (made < 50) await Bun.sleep(1);
  await backupsWith().run({ kind: 'file', path }, alive);
  const during = made;
  going = false;
  await Promise.all(load);

  async function* items(): AsyncGenerator<SnapshotItem> {
    for await (const entry of readBackup(path, passphrase)) {
      if ('table' in entry || 'rows' in entry) yield entry;
    }
  }
  const { schema } = await verifyBackup(path, passphrase);
  // Foreign keys are enforced while it is filled.
  const file = join(home, 'restored.db');
  await restoreSqliteStore(file, { schema, isCopy: false, items: items() });
  const restored = await openSqliteStore({ path: file, clock });
  try {
    expect((await verifyAudit(restored, vault)).problems).toEqual([]);
    const devices = await restored.count('device', [], 1_000_000);
    const created = [{ field: 'action', is: 'equal', value: 'device.create' }] as const;
    expect(await restored.count('auditEvent', created, 1_000_000)).toBe(devices);
    expect(await restored.count('noOnboardingConfig', [], 1_000_000)).toBe(devices);
    expect(devices).toBeGreaterThanOrEqual(50);
    expect(devices).toBeLessThanOrEqual(during);
  } finally {
    await restored.close();
  }
}, 60_000);

test('memory does not grow with the store', async () => {
  const large = await openSqliteStore({ path: join(home, 'large.db'), clock });
  const value = new Uint8Array(4000).fill(7);
  for (let batch = 0; batch < 20; batch++) {
    const writes = Array.from({ length: 1000 }, (_, n) => {
      return { op: 'insert', kind: 'setting', values: { name: `${batch}-${n}`, value } } as const;
    });
    await large.commit(writes);
  }
  const used = (): number => {
    Bun.gc(true);
    const { heapUsed, external, arrayBuffers } = process.memoryUsage();
    return heapUsed + Math.max(external, arrayBuffers);
  };
  const before = used();
  let most = 0;
  let chunks = 0;
  const sample = async (): Promise<void> => {
    if (chunks++ % 200 === 100) most = Math.max(most, used());
  };
  const path = join(newDirectory(), 'b');
  const { size } = await backupsWith({ store: large }).run({ kind: 'file', path }, sample);
  await large.close();
  expect(size).toBeGreaterThan(80_000_000);
  expect(most).toBeGreaterThan(0);
  expect(most - before).toBeLessThan(24 * 1024 * 1024);

  most = 0;
  chunks = 0;
  for await (const entry of readBackup(path, passphrase)) if ('rows' in entry) await sample();
  expect(most - before).toBeLessThan(24 * 1024 * 1024);
}, 60_000);
