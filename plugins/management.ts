import { Type } from '@sinclair/typebox';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { definePlugin } from './contract.ts';

export const management = definePlugin({
  slot: 'inbound',
  name: 'management',
  summary: 'The Management API at /api, its OpenAPI document at /schema, metrics at /metrics.',
  config: Type.Object({}),
  open: async (_, { gateway, log, clock, baseUrl }) => ({
    mounts: createManagement(gateway, log, clock, baseUrl),
  }),
});
