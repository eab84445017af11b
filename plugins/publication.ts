import { Type } from '@sinclair/typebox';
import { createPublication } from '#adapters/inbound/publication/publication.ts';
import { definePlugin } from './contract.ts';

export const publication = definePlugin({
  slot: 'inbound',
  name: 'publication',
  summary: 'CRLs and CA certificates for everybody at /crl and /aia.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({ mounts: createPublication(gateway) }),
});
