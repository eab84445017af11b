import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import postgres from 'postgres';
import { startPostgres } from '#tests/fixtures/postgres.ts';

/** A database for a Postern server. */
export interface Store extends AsyncDisposable {
  /** Its part of the configuration (TOML). */
  readonly tables: string;
  /** Returns the number of stored certificates, read directly from the database. `dataDirectory`: that of the server. */
  certificates(dataDirectory: string): Promise<number>;
}

const query = 'select count(*) as count from certificates';

export const sqlite: Store = {
  tables: '',
  async certificates(dataDirectory) {
    using database = new Database(join(dataDirectory, 'postern.db'), { readonly: true });
    return (database.query(query).get() as { count: number }).count;
  },
  async [Symbol.asyncDispose]() {},
};

/** Starts PostgreSQL on this machine, with durable commits. */
export async function startPostgresStore(): Promise<Store> {
  const server = await startPostgres({ durable: true });
  const url = await server.createDatabase();
  return {
    tables: `[store]\nplugin = "postgres"\nurl = "${url}"\n`,
    async certificates() {
      const sql = postgres(url, { max: 1 });
      const [row] = await sql.unsafe(query);
      await sql.end();
      return Number(row!.count);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/**
 * Adds `count` certificates with their audit events: copies of the first certificate with other serial numbers, distributed among
 * `devices` devices and older than the existing ones. Writes to SQLite directly, because issuing them would take too long.
 */
export function fill(dataDirectory: string, count: number, devices: number): void {
  using filling = openFilling(dataDirectory);
  filling.copy('certificates', 'device is not null', count, {
    created_at: `created_at - ${count} + i`,
    serial_number: "printf('%032X', i)",
    fingerprint: 'hex(randomblob(32))',
    device: `1 + i % ${devices}`,
  });
  filling.copy('audit_events', "action = 'certificate.issue'", count, {
    at: `at - ${count} + i`,
    object: "'certificate:' || i",
    chain: "'bench'",
    sequence: 'i',
  });
}

/** Adds devices, and certificates that were issued over the last thirty days and expire over the next year. */
export function fillInventory(dataDirectory: string, devices: number, certificates: number): void {
  using filling = openFilling(dataDirectory);
  const day = 86_400_000;
  filling.copy('devices', 'id = 1', devices, {
    common_name: "'machine-' || i",
    serial_number: "'SN-' || i",
    created_at: `created_at - ${devices} + i`,
  });
  filling.copy('certificates', 'device is not null', certificates, {
    created_at: `created_at - (${certificates} - i) * ${Math.floor((30 * day) / certificates)}`,
    not_valid_after: `created_at + ${day} + (i % 365) * ${day}`,
    common_name: `'machine-' || (1 + i % ${devices})`,
    serial_number: "printf('%032X', i)",
    fingerprint: 'hex(randomblob(32))',
    device: `1 + i % ${devices}`,
  });
  filling.copy('audit_events', "action = 'certificate.issue'", certificates, {
    at: `at - ${certificates} + i`,
    object: "'certificate:' || i",
    chain: "'bench'",
    sequence: 'i',
  });
}

interface Filling extends Disposable {
  /** Copies the first matching row `count` times. `changed`: SQL expressions by column, with `i` as the number of the copy. */
  copy(table: string, where: string, count: number, changed: Readonly<Record<string, string>>): void;
}

function openFilling(dataDirectory: string): Filling {
  const database = new Database(join(dataDirectory, 'postern.db'));
  for (const pragma of ['synchronous = off', 'cache_size = -524288']) database.run(`pragma ${pragma}`);
  return {
    copy(table, where, count, changed) {
      const columns = (database.query(`pragma table_info(${table})`).all() as { name: string }[])
        .map(({ name }) => name)
        .filter((name) => name !== 'id');
      database.run(`
        insert into ${table} (${columns.join(', ')})
        with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
        select ${columns.map((name) => changed[name] ?? name).join(', ')}
        from n, (select * from ${table} where ${where} order by id limit 1)`);
    },
    [Symbol.dispose]() {
      database.run('pragma wal_checkpoint(truncate)');
      database.close();
    },
  };
}
