import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const sqlite = definePlugin({
  slot: 'store',
  name: 'sqlite',
  summary: 'Stores all records in an SQLite database in the data directory; needs no installation.',
  oneProcess: true,
  config: Type.Object({
    path: Type.Optional(
      Type.String({
        minLength: 1,
        pathname: true,
        description: 'The file of the database.',
        examples: ['/var/lib/postern/postern.db'],
        unset: '`postern.db` in the data directory',
      }),
    ),
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

const seconds = (unset: string, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 3600, description, unset }));

export const postgres = definePlugin({
  slot: 'store',
  name: 'postgres',
  summary: 'Stores all records in a PostgreSQL database that several gateways can share.',
  config: Type.Object({
    url: Type.String({
      title: 'a URL like postgres://user:password@host:5432/database',
      pattern: '^postgres(ql)?://',
      description: 'The address of the database, with several hosts if it has standbys.',
      examples: ['postgres://postern@db1,db2/postern?sslmode=verify-full'],
    }),
    pool_size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description: 'Connections for reading, per process. Searches have 2 more, and writes 1 more.',
        unset: '4',
      }),
    ),
    connect_timeout_seconds: seconds('5', 'How long opening a connection may take.'),
    statement_timeout_seconds: seconds('10', 'How long a statement may take.'),
    commit_timeout_seconds: seconds(
      '3',
      'How long a synchronous standby may take to confirm a commit before the client receives 503.',
    ),
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
