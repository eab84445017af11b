import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/publication/publication.ts');

export const publication = definePlugin({
  slot: 'inbound',
  name: 'publication',
  summary: 'CRLs and CA certificates for everybody at /crl and /aia.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: (await adapter()).createPublication(gateway) }),
});
