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
          'by name: `store`, `configuration` (not ok while a record cannot be loaded and is set aside), `keys.<name>`, `issuers.<name>`',
      },
    ),
  },
  { $id: 'Health', additionalProperties: false },
);

/** An unreachable upstream CA or a record that cannot be loaded is so for every gateway: no reason to send devices to another one. */
const isShared = (name: string): boolean => name === 'configuration' || name.startsWith('issuers.');

/** `GET /api/health`. */
export const healthRoute = (gateway: Gateway): PublicRoute => ({
  method: 'GET',
  path: '/api/health',
  operation: {
    id: 'readHealth',
    tag: 'health',
    summary: 'Whether everything that the service depends on is in reach',
    responses: {
      200: jsonResponse('All of it, except perhaps upstream CAs and records that are set aside.', schema, {
        status: 'ok',
        checks: { store: { ok: true } },
      }),
      503: jsonResponse('Not all of it.', schema, {
        status: 'unavailable',
        checks: { store: { ok: false, detail: 'the database cannot be read' } },
      }),
    },
  },
  async handle() {
    const checks = await gateway.health();
    const ok = Object.entries(checks).every(([name, check]) => check.ok || isShared(name));
    return json(ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', checks });
  },
});
