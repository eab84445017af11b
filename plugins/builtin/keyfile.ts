import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/outbound/keyfile/key-files.ts');

export const keyfile = definePlugin({
  slot: 'keys',
  name: 'keyfile',
  summary: 'Stores private keys in encrypted files in the data directory.',
  config: Type.Object({
    /** Default: `keys` in the data directory. */
    directory: Type.Optional(Type.String({ minLength: 1, pathname: true })),
  }),
  open: async ({ directory }, { dataDirectory, vault }) =>
    (await adapter()).openKeyFiles({ directory: directory ?? join(dataDirectory, 'keys'), vault }),
});
