import { join } from 'node:path';
import { definePlugin, type Log, openSqliteStore, type Store, Type } from 'postern';

/** Wraps the built-in SQLite store and logs slow commits. A store for another database implements the same members itself. */
function withSlowCommitsLogged(store: Store, log: Log, slow: number): Store {
  return {
    async commit(writes) {
      const began = performance.now();
      try {
        return await store.commit(writes);
      } finally {
        const milliseconds = Math.round(performance.now() - began);
        if (milliseconds >= slow) log.warn('slow commit', { milliseconds, writes: writes.length });
      }
    },
    get: (kind, id) => store.get(kind, id),
    find: (kind, where) => store.find(kind, where),
    list: (kind, query) => store.list(kind, query),
    listWithout: (kind, fields, query) => store.listWithout(kind, fields, query),
    count: (kind, where, atMost) => store.count(kind, where, atMost),
    tally: (kind, where, by, atMost) => store.tally(kind, where, by, atMost),
    deviceLogin: (name, secret) => store.deviceLogin(name, secret),
    revoked: (ca, since) => store.revoked(ca, since),
    ...(store.readsFor && { readsFor: (account) => store.readsFor!(account) }),
    ...(store.confirm && { confirm: () => store.confirm!() }),
    changeCounter: () => store.changeCounter(),
    lease: (name, holder, seconds) => store.lease(name, holder, seconds),
    auditHeads: (after) => store.auditHeads(after),
    ...(store.snapshot && { snapshot: (use) => store.snapshot!(use) }),
    health: () => store.health(),
    close: () => store.close(),
  };
}

export default definePlugin({
  slot: 'store',
  name: 'my-plugin',
  summary: 'Stores all records in SQLite and logs slow commits.',
  oneProcess: true,
  config: Type.Object({
    /** Default: in the data directory. */
    path: Type.Optional(Type.String({ minLength: 1, pathname: true })),
    slow_milliseconds: Type.Integer({ minimum: 1, maximum: 60_000, default: 500 }),
  }),
  async open({ path, slow_milliseconds: slow }, { dataDirectory, clock, log }) {
    const store = await openSqliteStore({ path: path ?? join(dataDirectory, 'my-plugin.db'), clock });
    return withSlowCommitsLogged(store, log, slow);
  },
});
