import { afterAll, afterEach, beforeAll, describe } from 'bun:test';
import type { Clock } from '#core/ports/platform.ts';
import type { Store } from '#core/ports/store.ts';
import { auditContract } from './store-audit.ts';
import { commitContract } from './store-commits.ts';
import { listContract } from './store-lists.ts';
import { recordContract } from './store-records.ts';
import { revokedContract } from './store-revoked.ts';

/** A database, empty at first. */
export interface TestDatabase {
  /** Opens one more instance of the store, as another process would. */
  open(clock?: Clock): Promise<Store>;
  /** Runs SQL without the store. */
  execute(sql: string): Promise<void>;
  /** Closes all instances and deletes the database. */
  remove(): Promise<void>;
}

/**
 * Returns the reason of a rejected promise. (`expect(…).rejects` of Bun 1.4.5 waits up to a second if sockets
 * are involved.)
 */
export const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Where tests get their databases. */
export interface Databases {
  /** Makes a database that is deleted after the test. */
  fresh(): Promise<TestDatabase>;
  /** Makes one for all tests of a `describe`, before the first. */
  shared(prepare: (store: Store) => Promise<unknown>): () => TestDatabase & { readonly store: Store };
}

/** Executes the comments of core/ports/store.ts. */
export function storeContract(name: string, create: () => Promise<TestDatabase>): void {
  describe(`${name} as a store`, () => {
    const open: TestDatabase[] = [];
    afterEach(async () => {
      for (const database of open.splice(0)) await database.remove();
    });
    const databases: Databases = {
      async fresh() {
        const database = await create();
        open.push(database);
        return database;
      },
      shared(prepare) {
        let database: (TestDatabase & { readonly store: Store }) | undefined;
        beforeAll(async () => {
          const created = await create();
          const store = await created.open();
          database = { ...created, store };
          await prepare(store);
        });
        afterAll(() => database?.remove());
        return () => database!;
      },
    };
    recordContract(databases);
    commitContract(databases);
    listContract(databases);
    auditContract(databases);
    revokedContract(databases);
  });
}
