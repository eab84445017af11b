import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { json } from './errors.ts';
import { jsonResponse, type PublicRoute } from './route.ts';

const schema = Type.Object(
  {
    status: Type.String({ enum: ['ok', 'unavailable'] }),
    checks: Type.Record(
      Type.String(),
      Type.Object(
        { ok: Type.Boolean(), detail: Type.Optional(Type.String()) },
        { additionalProperties: false },
      ),
      {
        description:
          'by name: `store`, `configuration` (not ok while a damaged record is ignored), `issuing` (not ok while a CA of a domain is about to expire or shortens the validity of certificates), `keys.<name>`, `issuers.<name>`',
      },
    ),
  },
  { $id: 'Health', additionalProperties: false },
);

/** `GET /api/health`. */
export const healthRoute = (gateway: Gateway): PublicRoute => ({
  method: 'GET',
  path: '/api/health',
  operation: {
    id: 'readHealth',
    tag: 'health',
    summary: 'Check readiness: whether this gateway can store and sign',
    responses: {
      200: jsonResponse(
        'The gateway is ready. Checks other than `store` and `keys.<name>` may still fail.',
        schema,
        {
          status: 'ok',
          checks: { store: { ok: true } },
        },
      ),
      503: jsonResponse('The gateway cannot store data or cannot sign.', schema, {
        status: 'unavailable',
        checks: { store: { ok: false, detail: 'the disk is full' } },
      }),
    },
  },
  async handle() {
    const { ready, checks } = await gateway.readiness();
    return json(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
  },
});
