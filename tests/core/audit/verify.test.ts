import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { chainHash, genesis } from '#core/audit/chain.ts';
import { verifyAudit } from '#core/audit/verify.ts';
import { installation, testClock } from '#tests/fixtures/installation.ts';

const vault = createVault(new Uint8Array(32).fill(1));

/** Two chains, one of which continues after an anchor, in a database file that can be tampered with. */
async function trail(): Promise<Disposable & { path: string; verify(): ReturnType<typeof verifyAudit> }> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-audit-'));
  const path = join(directory, 'store.db');
  const clock = testClock();
  for (let n = 0; n < 2; n++) {
    await using site = await installation({ store: await openSqliteStore({ path, clock }), clock });
    for (let m = 0; m < 3; m++) await site.device(`pump-${n}-${m}`);
    await site.gateway.maintain('test');
    clock.advance(120_000);
    await site.device(`valve-${n}`);
  }
  return {
    path,
    async verify() {
      const store = await openSqliteStore({ path, clock });
      try {
        return await verifyAudit(store, vault);
      } finally {
        await store.close();
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  };
}

/** Runs SQL as an attacker with full access to the database, including the triggers. */
function tamper(path: string, work: (db: Database) => void): void {
  using db = new Database(path);
  for (const { name } of db
    .query<{ name: string }, []>("select name from sqlite_master where type = 'trigger'")
    .all()) {
    db.run(`drop trigger ${name}`);
  }
  work(db);
}

const idOf = (path: string, where: string): number => {
  using db = new Database(path, { readonly: true });
  return db.query<{ id: number }, []>(`select id from audit_events where ${where} order by id limit 1`).get()!
    .id;
};

test('an unchanged audit trail is valid', async () => {
  using site = await trail();
  const { events, chains, anchor, problems } = await site.verify();
  expect(problems).toEqual([]);
  expect([chains, events > 15, anchor?.number]).toEqual([2, true, 2]);
});

const device = "action = 'device.create'";

test.each([
  [
    'an edited detail',
    device,
    (id: number) => `update audit_events set detail = '{"a":1}' where id = ${id}`,
    'the event was modified',
  ],
  [
    'an edited time',
    device,
    (id: number) => `update audit_events set at = at + 1 where id = ${id}`,
    'the event was modified',
  ],
  [
    'another actor',
    device,
    (id: number) => `update audit_events set actor = replace(actor, 'test', 'jo') where id = ${id}`,
    'the event was modified',
  ],
  [
    'a request id that was added',
    device,
    (id: number) => `update audit_events set request_id = '${'a'.repeat(32)}' where id = ${id}`,
    'the event was modified',
  ],
  [
    'a removed event',
    device,
    (id: number) => `delete from audit_events where id = ${id}`,
    'an event is missing before this one',
  ],
  [
    'a removed event, the others moved up',
    device,
    (id: number) => `delete from audit_events where id = ${id};
      update audit_events set sequence = sequence - 1 where chain = (select chain from audit_events where id = ${id} + 1) and id > ${id}`,
    'the event was modified',
  ],
  [
    'two events in each other’s place',
    device,
    (id: number) => `update audit_events set id = -1 where id = ${id};
      update audit_events set id = ${id} where id = ${id} + 1; update audit_events set id = ${id} + 1 where id = -1`,
    'the event was moved',
  ],
])('%s is detected, and the first bad event named', async (_what, where, sql, expected) => {
  using site = await trail();
  const id = idOf(site.path, where);
  tamper(site.path, (db) => db.run(sql(id)));
  const { problems } = await site.verify();
  expect(problems[0]!.what).toBe(expected);
  expect([id, id + 1]).toContain(problems[0]!.event!);
});

test('a request id is part of the hash, and an event without one has the hash of earlier versions', () => {
  const event = {
    at: 1,
    actor: { kind: 'system', id: null, name: 'postern', address: '' },
    action: 'device.create',
    object: 'device:1',
    outcome: 'success',
    detail: { b: 1, a: true },
  } as const;
  const hashOf = (requestId?: string | null) =>
    Buffer.from(
      chainHash(genesis, 'c', 1, requestId === undefined ? event : { ...event, requestId }),
    ).toString('hex');
  const earlier = new Bun.CryptoHasher('sha256')
    .update(genesis)
    .update('["c",1,1,"system",null,"postern","","device.create","device:1","success",[["a",true],["b",1]]]')
    .digest('hex');
  expect(hashOf()).toBe(earlier);
  expect(hashOf(null)).toBe(earlier);
  expect(new Set([earlier, hashOf(''), hashOf('a'), hashOf('b')]).size).toBe(4);
});

test('an inserted event is detected', async () => {
  using site = await trail();
  tamper(site.path, (db) => {
    db.run(`insert into audit_events (at, actor, action, object, outcome, detail, chain, sequence, hash)
      select at, actor, action, object, outcome, detail, chain, (select max(sequence) + 1 from audit_events), hash
      from audit_events order by id desc limit 1`);
  });
  const { problems } = await site.verify();
  expect(problems).toHaveLength(1);
});

const lastChain = '(select chain from audit_events order by id desc limit 1)';

test('a truncated chain is detected by its head', async () => {
  using site = await trail();
  tamper(site.path, (db) => db.run('delete from audit_events where id = (select max(id) from audit_events)'));
  const { problems } = await site.verify();
  expect(problems.map(({ what }) => what)).toEqual(['events at the end of the chain are missing']);
});

test('a chain that is truncated before its anchor, including the head, is detected by the anchor', async () => {
  using site = await trail();
  tamper(site.path, (db) => {
    // After the last anchor only its own record remains.
    db.run(
      `delete from audit_events where chain = ${lastChain} and id >= (select max(id) from audit_events where action = 'audit.anchor')`,
    );
    db.run(`update audit_heads set
      sequence = (select max(sequence) from audit_events where chain = audit_heads.chain),
      hash = (select hash from audit_events where chain = audit_heads.chain order by sequence desc limit 1)`);
  });
  const { problems } = await site.verify();
  expect(problems.map(({ what }) => what)).toEqual(['the newest anchor is missing']);
});

test('the removal of a whole chain is detected by the anchor', async () => {
  using site = await trail();
  tamper(site.path, (db) => {
    const { chain } = db
      .query<{ chain: string }, []>('select chain from audit_events order by id limit 1')
      .get()!;
    db.run('delete from audit_events where chain = ?', [chain]);
    db.run('delete from audit_heads where chain = ?', [chain]);
  });
  const { problems } = await site.verify();
  expect(problems.map(({ what }) => what)).toEqual([
    'an anchor is missing before this one',
    'the chain was truncated before its anchor',
  ]);
});

interface Row {
  readonly id: number;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly outcome: 'success';
  readonly detail: string;
  readonly sequence: number;
}

/** Rewrites a chain with other events and matching hashes. */
function rewrite(db: Database, chain: string, change: (row: Row) => Partial<Row>): void {
  let previous = genesis;
  for (const before of db
    .query<Row, [string]>('select * from audit_events where chain = ? order by sequence')
    .all(chain)) {
    const row = { ...before, ...change(before) };
    const [kind, id, name, address] = JSON.parse(row.actor);
    const event = { ...row, actor: { kind, id, name, address }, detail: JSON.parse(row.detail) };
    previous = chainHash(previous, chain, row.sequence, event);
    db.run('update audit_events set object = ?, detail = ?, hash = ? where id = ?', [
      row.object,
      row.detail,
      previous,
      row.id,
    ]);
  }
  db.run('update audit_heads set hash = ? where chain = ?', [previous, chain]);
}

test('a chain that was rewritten with matching hashes is detected by the anchor', async () => {
  using site = await trail();
  tamper(site.path, (db) => {
    const { chain } = db
      .query<{ chain: string }, []>('select chain from audit_events order by id limit 1')
      .get()!;
    rewrite(db, chain, ({ object }) => ({ object: object.replace('device:1', 'device:9') }));
  });
  const { problems } = await site.verify();
  expect(problems.map(({ what }) => what)).toEqual(['the chain differs from its anchor']);
});

test('an anchor that the installation made of another audit trail is detected by the next anchor', async () => {
  using site = await trail();
  using fork = await trail();
  const anchors = (path: string) => {
    using db = new Database(path, { readonly: true });
    type Found = { chain: string; detail: string };
    return db
      .query<Found, []>("select chain, detail from audit_events where action = 'audit.anchor' order by id")
      .all();
  };
  const [own, next] = anchors(site.path);
  const [other] = anchors(fork.path);
  expect(JSON.parse(other!.detail).number).toBe(JSON.parse(own!.detail).number);
  expect(other!.detail).not.toBe(own!.detail);
  tamper(site.path, (db) =>
    rewrite(db, own!.chain, ({ detail }) => ({ detail: detail === own!.detail ? other!.detail : detail })),
  );
  const { problems } = await site.verify();
  expect(problems).toContainEqual(
    expect.objectContaining({ chain: next!.chain, what: 'an anchor is missing before this one' }),
  );
});

test('an anchor that was not made with the master key is invalid', async () => {
  using site = await trail();
  const store = await openSqliteStore({ path: site.path, clock: testClock() });
  const { problems } = await verifyAudit(store, createVault(new Uint8Array(32).fill(2)));
  await store.close();
  expect(problems.map(({ what }) => what)).toContain('this installation did not make the anchor');
});

test('the audit events of anchors are not anchored repeatedly', async () => {
  await using site = await installation();
  for (let n = 0; n < 5; n++) {
    await site.gateway.maintain('test');
    site.clock.advance(61_000);
  }
  expect(await site.audit('audit.anchor')).toHaveLength(1);
  await site.device('pump');
  await site.gateway.maintain('test');
  expect(await site.audit('audit.anchor')).toHaveLength(2);
  // A clock that is set back does not prevent anchors.
  site.clock.advance(-7_200_000);
  await site.device('valve');
  await site.gateway.maintain('test');
  expect(await site.audit('audit.anchor')).toHaveLength(3);
});
