import { Type } from '@sinclair/typebox';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/inbound/cmp/mount.ts');

export const cmp = definePlugin({
  slot: 'inbound',
  name: 'cmp',
  summary: 'Enrolment over CMP (RFC 9483) at /.well-known/cmp.',
  config: Type.Object({
    /** After so long a certificate that its holder has not confirmed is revoked. */
    confirm_seconds: Type.Integer({ minimum: 1, maximum: 7 * 86_400, default: 600 }),
    /** For so long a request waits for an answer, where nothing else says for how long: an approval does. */
    decide_seconds: Type.Integer({ minimum: 60, maximum: 90 * 86_400, default: 14 * 86_400 }),
    /** Messages whose messageTime is further from the time here are refused; transactions are remembered for a day. */
    message_time_seconds: Type.Integer({ minimum: 10, maximum: 86_400, default: 86_400 }),
    /** Refuses messages without messageTime too, instead of remembering them for as long as they could be replayed. */
    message_time_required: Type.Boolean({ default: false }),
    /** How a private key that was made here is packed: RFC 9483 §4.1.6 has an AsymmetricKeyPackage, OpenSSL reads PKCS#8 alone. */
    central_key_format: Type.Union([Type.Literal('asymmetric-key-package'), Type.Literal('pkcs8')], {
      default: 'asymmetric-key-package',
    }),
    /** How it is encrypted under a shared secret: RFC 9483 §4.1.6.3 has AES key wrap, OpenSSL reads the PWRI-KEK of RFC 3211 alone. */
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
    const { createCmp } = await adapter();
    const keyDelivery = {
      format: config.central_key_format === 'pkcs8' ? 'pkcs8' : 'asymmetricKeyPackage',
      wrap: config.central_key_wrap === 'pwri-kek' ? 'pwriKek' : 'aesWrap',
    } as const;
    return { mounts: [createCmp({ gateway, clock, entropy, log, keyDelivery, ...times })] };
  },
});
