import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/outbound/sql/sqlite.ts');

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
    (await adapter()).openSqliteStore({ path: path ?? join(dataDirectory, 'postern.db'), clock }),
  restore: async ({ path }, { dataDirectory }, snapshot) =>
    (await adapter()).restoreSqliteStore(path ?? join(dataDirectory, 'postern.db'), snapshot),
});
