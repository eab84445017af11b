import { join } from 'node:path';
import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const keyfile = definePlugin({
  slot: 'keys',
  name: 'keyfile',
  summary: 'Stores private keys in encrypted files in the data directory.',
  config: Type.Object({
    /** Default: `keys` in the data directory. */
    directory: Type.Optional(Type.String({ minLength: 1, pathname: true })),
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
    /** The PKCS#11 module of the manufacturer. */
    library: Type.String({ minLength: 1, pathname: true }),
    /** The initialisation parameters, which only modules of NSS need. */
    library_parameters: Type.Optional(Type.String({ minLength: 1 })),
    /** The label of the token. Without `token` and `slot`, the module must have exactly one token. */
    token: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
    /** The slot number of the token, if several tokens have the same label. */
    slot: Type.Optional(Type.Integer({ minimum: 0 })),
    pin: Type.String({ minLength: 1 }),
    /** The number of concurrent signature operations. */
    sessions: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    /** The time limit of one operation. */
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
    /** Environment variables for the module, in addition to common ones of the gateway's own environment. */
    environment: Type.Optional(
      Type.Array(Type.String({ title: 'text like NAME=value', pattern: '^[A-Za-z_][A-Za-z0-9_]*=' })),
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
