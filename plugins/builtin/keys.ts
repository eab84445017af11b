import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const keyfile = definePlugin({
  slot: 'keys',
  name: 'keyfile',
  summary: 'Stores private keys in encrypted files in the data directory.',
  config: Type.Object({
    directory: Type.Optional(
      Type.String({
        minLength: 1,
        pathname: true,
        description: 'The directory of the key files.',
        examples: ['/var/lib/postern/keys'],
        unset: '`keys` in the data directory',
      }),
    ),
  }),
  open: async ({ directory }, { dataDirectory, vault }) =>
    (await import('#adapters/outbound/keyfile/key-files.ts')).openKeyFiles({
      directory: directory ?? join(dataDirectory, 'keys'),
      vault,
    }),
});

export const pkcs11 = definePlugin({
  slot: 'keys',
  name: 'pkcs11',
  summary: 'Stores private keys in a PKCS#11 token: a hardware security module or SoftHSM.',
  config: Type.Object({
    library: Type.String({
      minLength: 1,
      pathname: true,
      description: "The manufacturer's PKCS#11 module.",
      examples: ['/usr/lib/softhsm/libsofthsm2.so'],
    }),
    library_parameters: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Initialization parameters of the module. Only modules of NSS need them.',
        examples: ["configdir='sql:/etc/pki/nssdb'"],
      }),
    ),
    token: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'The label of the token.',
        examples: ['postern'],
        unset: 'the only token',
      }),
    ),
    slot: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'The number of the PKCS#11 slot of the token, if several tokens have the same label.',
        examples: [0],
      }),
    ),
    pin: Type.String({
      minLength: 1,
      description: 'The user PIN of the token.',
      examples: [{ file: 'pin' }],
    }),
    sessions: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 64, description: 'Concurrent signatures.', unset: '4' }),
    ),
    timeout_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 600,
        description: 'How long one response of the token may take.',
        unset: '10',
      }),
    ),
    environment: Type.Optional(
      Type.Array(Type.String({ title: 'text like NAME=value', pattern: '^[A-Za-z_][A-Za-z0-9_]*=' }), {
        description: 'Environment variables of the module.',
        examples: [['SOFTHSM2_CONF=/etc/postern/softhsm2.conf']],
      }),
    ),
  }),
  open: async (
    { library, library_parameters, token, slot, pin, ...config },
    { name, dataDirectory, vault, log },
  ) =>
    (await import('#adapters/outbound/pkcs11/token-keys.ts')).openToken({
      library,
      ...(library_parameters !== undefined && { parameters: library_parameters }),
      ...(token !== undefined && { token }),
      ...(slot !== undefined && { slot }),
      pin,
      pinFile: join(dataDirectory, 'tokens', `${name}.json`),
      vault,
      log,
      ...(config.sessions !== undefined && { sessions: config.sessions }),
      ...(config.timeout_seconds !== undefined && { patience: config.timeout_seconds * 1000 }),
      ...(config.environment && { environment: variables(config.environment) }),
    }),
});

const variables = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
