import { Type } from '@sinclair/typebox';
import { createRest } from '#adapters/inbound/rest/mount.ts';
import { definePlugin } from './contract.ts';

export const rest = definePlugin({
  slot: 'inbound',
  name: 'rest',
  summary: 'Enrolment over JSON at /rest.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: [createRest(gateway)] }),
});
