import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { openSqliteStore, restoreSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { definePlugin } from './contract.ts';

export const sqlite = definePlugin({
  slot: 'store',
  name: 'sqlite',
  summary: 'Keeps everything in one SQLite database in the data directory; nothing to install.',
  oneProcess: true,
  config: Type.Object({
    /** Default: `postern.db` in the data directory. */
    path: Type.Optional(Type.String({ minLength: 1, pathname: true })),
  }),
  open: ({ path }, { dataDirectory, clock }) =>
    openSqliteStore({ path: path ?? join(dataDirectory, 'postern.db'), clock }),
  restore: ({ path }, { dataDirectory }, snapshot) =>
    restoreSqliteStore(path ?? join(dataDirectory, 'postern.db'), snapshot),
});
