import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/publication/publication.ts');

export const publication = definePlugin({
  slot: 'inbound',
  name: 'publication',
  summary: 'Publishes CRLs at /crl and CA certificates at /aia, without authentication.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: (await adapter()).createPublication(gateway) }),
});
