import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore, restorePostgresStore } from '#adapters/outbound/sql/postgres.ts';
import { openSqliteStore, restoreSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { type Snapshot, unsettledRestore } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';
import { installation, testClock } from '#tests/fixtures/installation.ts';
import { hasPostgres, type PostgresFixture, startPostgres } from '#tests/fixtures/postgres.ts';

setDefaultTimeout(60_000);

const clock = testClock();
const directory = mkdtempSync(join(tmpdir(), 'postern-snapshot-'));
let server: PostgresFixture | undefined;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
  rmSync(directory, { recursive: true });
});

interface Database {
  open(): Promise<Store>;
  restore(snapshot: Snapshot): Promise<void>;
}

let files = 0;
const databases = {
  SQLite: async (): Promise<Database> => {
    const path = join(directory, `${++files}.db`);
    return {
      open: () => openSqliteStore({ path, clock }),
      restore: (from) => restoreSqliteStore(path, from),
    };
  },
  PostgreSQL: async (): Promise<Database> => {
    const url = await server!.createDatabase();
    return {
      open: () => openPostgresStore({ url, clock }),
      restore: (from) => restorePostgresStore({ url }, from),
    };
  },
} as const;
type Name = keyof typeof databases;

/** Every item, so that two snapshots can be compared. */
async function contents(store: Store): Promise<unknown[]> {
  const all: unknown[] = [];
  await store.snapshot!(async ({ schema, items }) => {
    all.push(schema);
    for await (const item of items) {
      if ('table' in item) all.push(item.table.name, item.table.columns);
      else all.push(...item.rows);
    }
  });
  return all;
}

const pairs: [Name, Name][] = [
  ['SQLite', 'SQLite'],
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
  ['PostgreSQL', 'PostgreSQL'],
];

describe.each(pairs)('a snapshot of %s in %s', (from, to) => {
  const runs = hasPostgres || (from === 'SQLite' && to === 'SQLite') ? test : test.skip;

  runs('holds the same, and no id comes back', async () => {
    const source = await databases[from]();
    await using site = await installation({ store: await source.open(), clock });
    for (let n = 0; n < 3; n++) await site.device(`pump-${n}`);
    const { device: last } = await site.device('last');
    await site.gateway.devices.remove(site.admin, last.id);

    const target = await databases[to]();
    await site.store.snapshot!((snapshot) => target.restore(snapshot));
    const before = (await contents(site.store)) as unknown[][];
    const restored = await target.open();
    try {
      const marker = await restored.find('setting', { name: unsettledRestore });
      await restored.commit([{ op: 'delete', kind: 'setting', id: marker!.id }]);
      expect(await contents(restored)).toEqual(before);
      const values = { createdAt: 1, commonName: 'next', serialNumber: '', deviceType: 0, domain: null };
      const [id] = await restored.commit([
        {
          op: 'insert',
          kind: 'device',
          values: {
            ...values,
            onboardingConfig: null,
            noOnboardingConfig: null,
            blockedAt: null,
            deviceImport: null,
            custodians: [],
          },
        },
      ]);
      expect(id).toBeGreaterThan(last.id);
    } finally {
      await restored.close();
    }
  });

  runs('is refused by a database that is not empty, which stays as it is', async () => {
    const source = await databases[from]();
    await using site = await installation({ store: await source.open(), clock });
    const target = await databases[to]();
    const store = await target.open();
    try {
      const before = await contents(store);
      const refused = site.store.snapshot!((snapshot) => target.restore(snapshot));
      expect(await refused.catch((error) => error)).toMatchObject({ code: 'conflict' });
      expect(await contents(store)).toEqual(before);
    } finally {
      await store.close();
    }
  });

  runs('leaves nothing behind when it breaks off', async () => {
    const source = await databases[from]();
    await using site = await installation({ store: await source.open(), clock });
    const target = await databases[to]();
    const broken = site.store.snapshot!(({ schema, items }) => {
      async function* some() {
        let n = 0;
        for await (const item of items) {
          if (n++ > 20) throw new Error('broken off');
          yield item;
        }
      }
      return target.restore({ schema, isCopy: false, items: some() });
    });
    expect(await broken.catch((error) => error)).toMatchObject({ code: 'internal' });
    await site.store.snapshot!((snapshot) => target.restore(snapshot));
  });
});

test('a snapshot of a later version is rejected', async () => {
  const target = await databases.SQLite();
  const later = target.restore({ schema: '9999-later', isCopy: false, items: (async function* () {})() });
  expect(await later.catch((error) => error)).toMatchObject({ code: 'unsupported' });
});
