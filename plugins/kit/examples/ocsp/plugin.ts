import { definePlugin, Type } from 'postern';
import { ocspMount } from './mount.ts';
import { createResponder } from './responder.ts';

/** Named in the configuration by `module`: it is in no catalog, and knows of Postern what `postern` exports. */
export default definePlugin({
  slot: 'inbound',
  name: 'ocsp',
  summary: 'Says over OCSP whether certificates are revoked, to everybody.',
  config: Type.Object({
    path: Type.String({
      default: '/ocsp',
      pattern: '^(?:/[A-Za-z0-9._~-]{1,64}){1,8}$',
      title: 'a path like /ocsp',
    }),
    /** How long an answer holds, from thisUpdate to nextUpdate. */
    validity_minutes: Type.Integer({ minimum: 1, maximum: 7 * 24 * 60, default: 240 }),
    /** How long caches on the way may keep one: so much later some learn of a revocation. */
    max_age_seconds: Type.Integer({ minimum: 0, maximum: 86_400, default: 300 }),
    /** Signed answers that are kept in memory, about 1 kB each. */
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
