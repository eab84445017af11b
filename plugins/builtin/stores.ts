import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const sqlite = definePlugin({
  slot: 'store',
  name: 'sqlite',
  summary: 'Stores all records in an SQLite database in the data directory; needs no installation.',
  oneProcess: true,
  config: Type.Object({
    /** Default: `postern.db` in the data directory. */
    path: Type.Optional(Type.String({ minLength: 1, pathname: true })),
  }),
  open: async ({ path }, { dataDirectory, clock }) =>
    (await import('#adapters/outbound/sql/sqlite.ts')).openSqliteStore({
      path: path ?? join(dataDirectory, 'postern.db'),
      clock,
    }),
  restore: async ({ path }, { dataDirectory }, snapshot) =>
    (await import('#adapters/outbound/sql/sqlite.ts')).restoreSqliteStore(
      path ?? join(dataDirectory, 'postern.db'),
      snapshot,
    ),
});

const seconds = Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 }));

export const postgres = definePlugin({
  slot: 'store',
  name: 'postgres',
  summary: 'Stores all records in a PostgreSQL database that several gateways can share.',
  config: Type.Object({
    url: Type.String({
      title: 'a URL like postgres://user:password@host:5432/database',
      pattern: '^postgres(ql)?://',
    }),
    /** The number of connections for reading in each process; one more is for writing. */
    pool_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    connect_timeout_seconds: seconds,
    statement_timeout_seconds: seconds,
    /** How long a synchronous standby may take to confirm a commit before the client receives 503. */
    commit_timeout_seconds: seconds,
  }),
  open: async (
    { url, pool_size, connect_timeout_seconds, statement_timeout_seconds, commit_timeout_seconds },
    { clock },
  ) =>
    (await import('#adapters/outbound/sql/postgres.ts')).openPostgresStore({
      url,
      clock,
      ...(pool_size !== undefined && { poolSize: pool_size }),
      ...(connect_timeout_seconds !== undefined && { connectTimeout: connect_timeout_seconds * 1000 }),
      ...(statement_timeout_seconds !== undefined && { statementTimeout: statement_timeout_seconds * 1000 }),
      ...(commit_timeout_seconds !== undefined && { commitTimeout: commit_timeout_seconds * 1000 }),
    }),
  restore: async ({ url, connect_timeout_seconds: seconds }, _, snapshot) =>
    (await import('#adapters/outbound/sql/postgres.ts')).restorePostgresStore(
      { url, ...(seconds !== undefined && { connectTimeout: seconds * 1000 }) },
      snapshot,
    ),
});
