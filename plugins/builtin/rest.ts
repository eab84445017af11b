import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/rest/mount.ts');

export const rest = definePlugin({
  slot: 'inbound',
  name: 'rest',
  summary: 'Enrolment over JSON at /rest.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: [(await adapter()).createRest(gateway)] }),
});
