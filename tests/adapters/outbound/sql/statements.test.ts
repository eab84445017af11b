import { describe, expect, test } from 'bun:test';
import {
  type DialectAdapter,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
} from 'kysely';
import type { Tables } from '#adapters/outbound/sql/queries.ts';
import { Statements, selection, sought } from '#adapters/outbound/sql/statements.ts';

/** Compiles statements without a database. */
const builderOf = (adapter: DialectAdapter, compiler: QueryCompiler) =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  });

const builder = builderOf(new SqliteAdapter(), new SqliteQueryCompiler());
const sqlite = new Statements(builder, 'sqlite');
const postgres = new Statements(builderOf(new PostgresAdapter(), new PostgresQueryCompiler()), 'postgres');
const named = sought('setting', { name: 'x' })!;
const nameless = sought('device', { blockedAt: null, commonName: 'x' })!;

describe('a condition', () => {
  test('tells null from a value', () => {
    expect(nameless).toEqual({
      shape: ' blockedAt! commonName',
      fields: [
        { name: 'blockedAt', isNull: true },
        { name: 'commonName', isNull: false },
      ],
      parameters: ['x'],
    });
  });

  test('that no record can meet is undefined', () => {
    expect(sought('device', { blockedAt: null, domain: undefined })).toBeUndefined();
    expect(sought('setting', { name: 7 })).toBeUndefined();
  });

  test('on a field that does not exist is malformed', () => {
    expect(() => sought('setting', { other: 7 })).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('the SQL', () => {
  const rows = (width: string, table: string, parameter = '$1') =>
    `insert into ${table} select ${width} from jsonb_array_elements(${parameter}::text::jsonb) as records (record)`;
  const settings = rows(
    `(record->>0)::bigint, (record->>1), decode(record->>2, 'base64')`,
    '"settings" ("id", "name", "value")',
  );
  const event = rows(
    `(record->>0)::bigint, ${[1, 2, 3, 4, 5, 6].map((n) => `(record->>${n})`).join(', ')}, (record->>7)::bigint, decode(record->>8, 'base64'), (record->>9)`,
    '"audit_events" ("at", "actor", "action", "object", "outcome", "detail", "chain", "sequence", "hash", "request_id")',
    '$2',
  );
  const head = (first: number) =>
    `insert into "audit_heads" ("chain", "sequence", "hash") values ($${first}, $${first + 1}, $${first + 2}) ` +
    'on conflict ("chain") do update set "sequence" = "excluded"."sequence", "hash" = "excluded"."hash"';

  test.each<[what: string, sql: string, expected: string]>([
    [
      'finds the first record that meets every condition',
      postgres.find('setting', named),
      'select "settings"."id" as "id", "settings"."name" as "name", "settings"."value" as "value" ' +
        'from "settings" where "name" = $1 order by "id" limit 1',
    ],
    [
      'inserts rows with ids',
      sqlite.insert('setting', 2, true),
      'insert into "settings" ("id", "name", "value") values (?, ?, ?), (?, ?, ?)',
    ],
    [
      'inserts rows without ids',
      sqlite.insert('setting', 1, false),
      'insert into "settings" ("name", "value") values (?, ?)',
    ],
    ['inserts rows from JSON', postgres.insertRows('setting'), settings],
    ['adds rows of one kind', postgres.addition(['setting']), settings],
    [
      'adds rows and audit events in one statement',
      postgres.addition(['setting', 'auditEvent']),
      `with part0 as (${settings}), part1 as (${event}) ${head(3)}`,
    ],
    [
      'updates the record with this id if it meets the conditions',
      postgres.update('setting', ['value'], named),
      'update "settings" set "value" = $1 where "id" = $2 and "name" = $3',
    ],
    [
      'checks the conditions of an update that changes nothing',
      postgres.update('setting', [], named),
      'update "settings" set "id" = "id" where "id" = $1 and "name" = $2',
    ],
    [
      'compares with null by `is`',
      postgres.delete('device', nameless),
      'delete from "devices" where "id" = $1 and "blocked_at" is null and "common_name" = $2',
    ],
    [
      'locks a required record on PostgreSQL',
      postgres.requirement('setting', named),
      'select 1 as "one" from "settings" where "id" = $1 and "name" = $2 for share',
    ],
    [
      'locks no required record on SQLite',
      sqlite.requirement('setting', named),
      'select 1 as "one" from "settings" where "id" = ? and "name" = ?',
    ],
    ['stores the head of an audit chain', postgres.auditHead(), head(1)],
    [
      'locks the head of an audit chain',
      postgres.auditHeadLocked(),
      'select "hash" from "audit_heads" where "chain" = $1 for update',
    ],
    [
      'takes a lease that is free, expired, its own or too far in the future',
      postgres.lease(),
      'insert into "leases" ("name", "holder", "expires_at") values ($1, $2, $3) on conflict ("name") do update ' +
        'set "holder" = "excluded"."holder", "expires_at" = "excluded"."expires_at" ' +
        'where ("leases"."holder" = "excluded"."holder" or "leases"."expires_at" <= $4 or "leases"."expires_at" > $5) ' +
        'returning "holder"',
    ],
    [
      'writes a heartbeat',
      postgres.heartbeat(),
      `insert into "leases" ("name", "holder", "expires_at") values ('heartbeat', $1, $2) on conflict ("name") ` +
        'do update set "holder" = "excluded"."holder", "expires_at" = "excluded"."expires_at"',
    ],
    ['raises the change counter', postgres.raiseCounter(), 'update "change_counter" set "value" = value + 1'],
    [
      'lists audit heads in order of their names',
      postgres.auditHeadsAfter(),
      'select "chain", "sequence", "hash" from "audit_heads" where "chain" > $1 order by "chain" limit 1000',
    ],
  ])('%s', (_what, sql, expected) => {
    expect(sql).toBe(expected);
  });

  test('for the sign-in of a device finds it by its name, or by its id if the name is unknown', () => {
    const named = '(select "id" from "devices" where "common_name" = $1)';
    const end = (orId: boolean) => postgres.deviceLogin('estPassword', orId).split(' where "d"."id" = ')[1];
    expect([end(true), end(false)]).toEqual([`coalesce(${named}, $2)`, named]);
    for (const [secret, column] of [
      ['estPassword', 'est_password'],
      ['cmpSharedSecret', 'cmp_shared_secret'],
    ] as const) {
      expect(postgres.deviceLogin(secret, false)).toContain(
        `case when o.id is null then "n"."${column}" else "o"."${column}" end as "secret"`,
      );
    }
  });

  test('selects no field that is left out', () => {
    const { sql } = builder
      .selectFrom('settings')
      .select(selection('setting', 's', ['value']))
      .compile();
    expect(sql).toBe('select "s"."id" as "id", "s"."name" as "name" from "settings"');
  });

  test('is the same text for the same shape, and another for another', () => {
    const texts = [
      sqlite.delete('setting', named),
      sqlite.delete('setting', sought('setting', { name: 'y' })!),
      sqlite.delete('setting', sought('setting', {})!),
      sqlite.delete('domain', sought('domain', {})!),
    ];
    expect(texts[1]).toBe(texts[0]!);
    expect(new Set(texts).size).toBe(3);
  });
});
