import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/est/mount.ts');

export const est = definePlugin({
  slot: 'inbound',
  name: 'est',
  summary: 'Enrolment over EST (RFC 7030) at /.well-known/est.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: [(await adapter()).createEst(gateway)] }),
});
