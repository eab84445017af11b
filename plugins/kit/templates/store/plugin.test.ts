import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import type { Store } from 'postern';
import { storeContract } from 'postern/contracts/store';
import { testSurroundings } from 'postern/contracts/surroundings';
import plugin from './plugin.ts';

storeContract('my-plugin', async () => {
  const { remove, ...surroundings } = testSurroundings('my-plugin');
  const path = join(surroundings.dataDirectory, 'test.db');
  const stores: Store[] = [];
  return {
    async open(clock = surroundings.clock) {
      const store = await plugin.open({ path, slow_milliseconds: 500 }, { ...surroundings, clock });
      stores.push(store);
      return store;
    },
    async execute(sql) {
      using database = new Database(path);
      database.run(sql);
    },
    async remove() {
      for (const store of stores) await store.close();
      await remove();
    },
  };
});
