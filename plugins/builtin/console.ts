import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/console/mount.ts');

export const webConsole = definePlugin({
  slot: 'inbound',
  name: 'console',
  summary: 'The web console at /, a client of the Management API.',
  config: Type.Object({}),
  open: async () => ({ mounts: [(await adapter()).createConsole()] }),
});
