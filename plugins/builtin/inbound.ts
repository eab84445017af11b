import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

export const cmp = definePlugin({
  slot: 'inbound',
  name: 'cmp',
  summary: 'Enrolment over CMP (RFC 9483) at /.well-known/cmp.',
  config: Type.Object({
    /** A certificate that its holder has not confirmed within this time is revoked. */
    confirm_seconds: Type.Integer({ minimum: 1, maximum: 7 * 86_400, default: 600 }),
    /** How long a request can be pending, unless its approval sets another limit. */
    decide_seconds: Type.Integer({ minimum: 60, maximum: 90 * 86_400, default: 14 * 86_400 }),
    /** The largest difference between messageTime and the time of the gateway. At most a day, as long as transactions are kept. */
    message_time_seconds: Type.Integer({ minimum: 10, maximum: 86_400, default: 86_400 }),
    /** Rejects messages without messageTime. Otherwise their transactions are kept for as long as they could be replayed. */
    message_time_required: Type.Boolean({ default: false }),
    /** The format of a server-generated private key: AsymmetricKeyPackage in RFC 9483 §4.1.6; OpenSSL reads only PKCS#8. */
    central_key_format: Type.Union([Type.Literal('asymmetric-key-package'), Type.Literal('pkcs8')], {
      default: 'asymmetric-key-package',
    }),
    /** Its encryption under a shared secret: AES key wrap in RFC 9483 §4.1.6.3; OpenSSL reads only PWRI-KEK (RFC 3211). */
    central_key_wrap: Type.Union([Type.Literal('aes-wrap'), Type.Literal('pwri-kek')], {
      default: 'aes-wrap',
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
    /** The maximum size of an imported device file, in MiB. */
    device_import_mib: Type.Integer({ minimum: 1, maximum: 512, default: 32 }),
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
