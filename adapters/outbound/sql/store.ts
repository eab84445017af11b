import type { Clock } from '#core/ports/platform.ts';
import type { AuditHead, DeviceLogin, Kind, Reads, Records, Store } from '#core/ports/store.ts';
import { Coalesced } from './coalesced.ts';
import { decodeProtocols, encodeSought, type Row, toRecord } from './codec.ts';
import { GroupCommit } from './commit.ts';
import { CommitHealth } from './commit-health.ts';
import type { Driver } from './driver.ts';
import { FairQueue } from './fair-queue.ts';
import { accountReaders, type Queries, unavailable } from './queries.ts';
import { count, list, listForAccount, tally } from './query.ts';
import { revoked } from './revoked.ts';
import { snapshotOf } from './snapshot.ts';
import { Statements, sought } from './statements.ts';
import type { Witness } from './witness.ts';

/** Creates the store on a database with all migrations applied. */
export function createStore(driver: Driver, clock: Clock, witness: Witness): Store {
  const statements = new Statements(driver.builder, driver.dialect);
  const beat = new Coalesced(async () => {
    const { read } = witness;
    await driver.beat();
    witness.confirm(read);
  });
  const commits = new CommitHealth(
    () => beat.run(),
    (fault) => driver.reason(fault),
  );
  const group = new GroupCommit(driver, witness, commits);
  const turns = new FairQueue(accountReaders);

  async function find<K extends Kind>(kind: K, where: object): Promise<Records[K] | undefined> {
    const wanted = sought(kind, where);
    if (!wanted) return undefined;
    const [row] = await driver.look(statements.find(kind, wanted), wanted.parameters);
    return row && toRecord(kind, row);
  }

  return {
    get: (kind, id) => find(kind, { id }),
    find,
    ...reads(driver, list),
    readsFor: (account) =>
      reads(
        {
          dialect: driver.dialect,
          builder: driver.builder,
          look: (sql, parameters) => driver.look(sql, parameters),
          query: (sql, parameters, reuse) => driver.query(sql, parameters, reuse),
          search: (sql, parameters) => turns.run(account, () => driver.search(sql, parameters, 'account')),
        },
        listForAccount,
      ),

    deviceLogin(name, secret) {
      const commonName = encodeSought('device', 'commonName', name);
      if (typeof commonName !== 'string') return Promise.resolve(undefined);
      const id = /^[1-9]\d{0,15}$/.test(name) ? encodeSought('device', 'id', Number(name)) : undefined;
      const parameters = id === undefined ? [commonName] : [commonName, id];
      return driver.look(statements.deviceLogin(secret, id !== undefined), parameters).then(toDeviceLogin);
    },

    revoked: (ca, since) => revoked(driver, statements, ca, since),

    commit: (writes) => group.commit(writes),

    confirm: () => commits.watched(() => beat.run()),

    changeCounter: () => driver.sight(),

    async lease(name, holder, seconds) {
      const now = clock.now();
      const length = Math.ceil(seconds * 1000);
      // Zero, so that a released lease has expired by the clock of every instance.
      const until = length > 0 ? now + length : 0;
      // The clocks of instances differ, so the lease of another holder may end later than one taken now, by at most its
      // length.
      const latest = length > 0 ? until + length : Number.MAX_SAFE_INTEGER;
      const rows = await driver.change(statements.lease(), [name, holder, until, now, latest]);
      return rows.length > 0;
    },

    async auditHeads(after) {
      const rows = await driver.query(statements.auditHeadsAfter(), [after], true);
      return rows as unknown as AuditHead[];
    },

    ...(driver.still && {
      snapshot: (use, isCopy = false) =>
        driver.still!(async (ask) => use(await snapshotOf(driver.builder, driver.dialect, ask, isCopy))),
    }),

    async health() {
      const readable = await driver.health();
      return readable.ok ? commits.health() : readable;
    },

    async close() {
      turns.close(unavailable());
      await group.close();
      await driver.close();
    },
  };
}

const reads = (queries: Queries, listing: typeof list): Reads => ({
  list: (kind, query) => listing(queries, kind, query),
  listWithout: (kind, fields, query) => listing(queries, kind, query, fields),
  count: (kind, where, atMost) => count(queries, kind, where, atMost),
  tally: (kind, where, by, atMost) => tally(queries, kind, where, by, atMost),
});

function toDeviceLogin([row]: readonly Row[]): DeviceLogin | undefined {
  if (!row) return undefined;
  const { protocols, secret, ...device } = row;
  return {
    device: toRecord('device', device),
    protocols: decodeProtocols(protocols, device.id),
    secret: secret as DeviceLogin['secret'],
  };
}
