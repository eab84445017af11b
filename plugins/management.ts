import { Type } from '@sinclair/typebox';
import { createManagement } from '#adapters/inbound/management/mount.ts';
import { definePlugin } from './contract.ts';

export const management = definePlugin({
  slot: 'inbound',
  name: 'management',
  summary: 'The Management API at /api, and its OpenAPI document at /schema.',
  config: Type.Object({}),
  open: async (_, { gateway, log, clock }) => ({ mounts: createManagement(gateway, log, clock) }),
});
