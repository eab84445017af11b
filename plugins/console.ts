import { Type } from '@sinclair/typebox';
import { createConsole } from '#adapters/inbound/console/mount.ts';
import { definePlugin } from './contract.ts';

export const webConsole = definePlugin({
  slot: 'inbound',
  name: 'console',
  summary: 'The web console at /, a client of the Management API.',
  config: Type.Object({}),
  open: async () => ({ mounts: [createConsole()] }),
});
