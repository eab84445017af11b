import { definePlugin, Type } from 'postern';
import { ocspMount } from './mount.ts';
import { createResponder } from './responder.ts';

/** An OCSP responder as an external plugin: the configuration names it by `module`, and it uses only what `postern` exports. */
export default definePlugin({
  slot: 'inbound',
  name: 'ocsp',
  summary: 'Responds to OCSP requests for all CAs, without authentication.',
  config: Type.Object({
    path: Type.String({
      default: '/ocsp',
      pattern: '^(?:/[A-Za-z0-9._~-]{1,64}){1,8}$',
      title: 'a path like /ocsp',
    }),
    /** The validity of a response, from thisUpdate to nextUpdate. */
    validity_minutes: Type.Integer({ minimum: 1, maximum: 7 * 24 * 60, default: 240 }),
    /** How long caches may keep a response: clients may learn of a revocation that much later. */
    max_age_seconds: Type.Integer({ minimum: 0, maximum: 86_400, default: 300 }),
    /** The number of signed responses kept in memory, about 1 kB each. */
    kept_answers: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 10_000 }),
  }),
  ocspPath: ({ path }) => path,
  open: async (config, { gateway, log }) => {
    const answer = createResponder(gateway, {
      validity: config.validity_minutes * 60_000,
      mostKept: config.kept_answers,
    });
    const { path, max_age_seconds: maxAge } = config;
    return { mounts: [ocspMount({ path, maxAge, answer, now: () => gateway.now(), log })] };
  },
});
