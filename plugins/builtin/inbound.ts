import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const cmp = definePlugin({
  slot: 'inbound',
  name: 'cmp',
  summary: 'Enrolment over CMP (RFC 9483) at /.well-known/cmp.',
  config: Type.Object({
    confirm_seconds: Type.Integer({
      minimum: 1,
      maximum: 7 * 86_400,
      default: 600,
      description: 'A certificate that its holder does not confirm in this time is revoked.',
    }),
    decide_seconds: Type.Integer({
      minimum: 60,
      maximum: 90 * 86_400,
      default: 14 * 86_400,
      description: 'How long a pending request waits. The period of an approval replaces it.',
    }),
    message_time_seconds: Type.Integer({
      minimum: 10,
      maximum: 86_400,
      default: 86_400,
      description:
        'A message is rejected if its messageTime is further than this from the time of the gateway.',
    }),
    message_time_required: Type.Boolean({
      default: false,
      description:
        'Rejects messages without messageTime, instead of remembering their transactions for longer.',
    }),
    central_key_format: Type.Union([Type.Literal('asymmetric-key-package'), Type.Literal('pkcs8')], {
      default: 'asymmetric-key-package',
      description:
        'The format of private keys that the gateway generates: the one of RFC 9483 §4.1.6, or the one that OpenSSL reads.',
    }),
    central_key_wrap: Type.Union([Type.Literal('aes-wrap'), Type.Literal('pwri-kek')], {
      default: 'aes-wrap',
      description:
        'How such a key is encrypted under a shared secret: as in RFC 9483 §4.1.6.3, or with PWRI-KEK (RFC 3211) for OpenSSL.',
    }),
  }),
  open: async (config, { gateway, clock, entropy, log }) => {
    const confirmWithin = config.confirm_seconds * 1000;
    const decideWithin = config.decide_seconds * 1000;
    const messageTimeWindow = config.message_time_seconds * 1000;
    const requireMessageTime = config.message_time_required;
    const times = { confirmWithin, decideWithin, messageTimeWindow, requireMessageTime };
    const { createCmp } = await import('#adapters/inbound/cmp/mount.ts');
    const keyDelivery = {
      format: config.central_key_format === 'pkcs8' ? 'pkcs8' : 'asymmetricKeyPackage',
      wrap: config.central_key_wrap === 'pwri-kek' ? 'pwriKek' : 'aesWrap',
    } as const;
    return { mounts: [createCmp({ gateway, clock, entropy, log, keyDelivery, ...times })] };
  },
});

export const est = definePlugin({
  slot: 'inbound',
  name: 'est',
  summary: 'Enrolment over EST (RFC 7030) at /.well-known/est.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({
    mounts: [(await import('#adapters/inbound/est/mount.ts')).createEst(gateway)],
  }),
});

export const rest = definePlugin({
  slot: 'inbound',
  name: 'rest',
  summary: 'Enrolment over JSON at /rest.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({
    mounts: [(await import('#adapters/inbound/rest/mount.ts')).createRest(gateway)],
  }),
});

export const management = definePlugin({
  slot: 'inbound',
  name: 'management',
  summary: 'The Management API at /api, its OpenAPI document at /schema, metrics at /metrics.',
  config: Type.Object({
    device_import_mib: Type.Integer({
      minimum: 1,
      maximum: 512,
      default: 32,
      description: 'The size in MiB of the largest CSV file of devices that can be imported.',
    }),
  }),
  async open({ device_import_mib: mebibytes }, { gateway, log, clock, baseUrl }) {
    const { createManagement } = await import('#adapters/inbound/management/mount.ts');
    return { mounts: createManagement(gateway, log, clock, baseUrl, mebibytes * 1024 * 1024) };
  },
});

export const publication = definePlugin({
  slot: 'inbound',
  name: 'publication',
  summary: 'Publishes CRLs at /crl and CA certificates at /aia, without authentication.',
  config: Type.Object({}),
  open: async (_, { gateway }) => ({
    mounts: (await import('#adapters/inbound/publication/publication.ts')).createPublication(gateway),
  }),
});

export const webConsole = definePlugin({
  slot: 'inbound',
  name: 'console',
  summary: 'The web console at /, a client of the Management API.',
  config: Type.Object({}),
  open: async () => ({ mounts: [(await import('#adapters/inbound/console/mount.ts')).createConsole()] }),
});

export const documentation = definePlugin({
  slot: 'inbound',
  name: 'docs',
  summary: 'The documentation at /docs/, readable without signing in.',
  config: Type.Object({}),
  open: async () => ({ mounts: [(await import('#adapters/inbound/docs/mount.ts')).createDocs()] }),
});
