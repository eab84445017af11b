import { Type } from '@sinclair/typebox';
import { createEst } from '#adapters/inbound/est/mount.ts';
import { definePlugin } from './contract.ts';

export const est = definePlugin({
  slot: 'inbound',
  name: 'est',
  summary: 'Enrolment over EST (RFC 7030) at /.well-known/est.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: [createEst(gateway)] }),
});
