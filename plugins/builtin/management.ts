import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/management/mount.ts');

export const management = definePlugin({
  slot: 'inbound',
  name: 'management',
  summary: 'The Management API at /api, its OpenAPI document at /schema, metrics at /metrics.',
  config: Type.Object({
    /** The longest file of devices that is imported at once, in MiB. */
    device_import_mib: Type.Integer({ minimum: 1, maximum: 512, default: 32 }),
  }),
  async open({ device_import_mib: mebibytes }, { gateway, log, clock, baseUrl }) {
    const { createManagement } = await adapter();
    return { mounts: createManagement(gateway, log, clock, baseUrl, mebibytes * 1024 * 1024) };
  },
});
