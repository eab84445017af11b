import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { json } from '../errors.ts';
import { nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';
import { issuingCas } from './issuing-cas.ts';

const { tag } = issuingCas;

const keyStore = Type.Object(
  {
    name: Type.String({ description: 'name in the configuration' }),
    key_types: nullable(Type.Array(Type.String()), 'the key types that it generates; null: all'),
    hands_out_keys: Type.Boolean({
      description: 'true if private keys can be exported; a CA of type 3 needs a key store where they cannot',
    }),
    takes_keys: Type.Boolean({
      description: 'true if private keys can be imported; a CA of type 2 needs such a key store',
    }),
  },
  { $id: 'KeyStore', additionalProperties: false },
);

/** `GET /api/key-stores`. */
export const keyStores = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/key-stores',
  operation: {
    id: 'listKeyStores',
    tag,
    summary: 'List the configured key stores',
    permission: 'cas.read',
    responses: {
      200: jsonResponse('The key stores, in the order of the configuration.', Type.Array(keyStore), [
        { name: 'files', key_types: null, hands_out_keys: true, takes_keys: true },
        { name: 'hsm', key_types: ['p-256', 'rsa-3072'], hands_out_keys: false, takes_keys: false },
      ]),
    },
  },
  handle: async (principal) =>
    json(
      200,
      gateway.issuingCas.keyStores(principal).map(({ name, keyTypes, handsOutKeys, takesKeys }) => ({
        name,
        key_types: keyTypes === 'all' ? null : keyTypes,
        hands_out_keys: handsOutKeys,
        takes_keys: takesKeys,
      })),
    ),
});
