import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import { json } from '../errors.ts';
import { nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';
import { auditEvents } from './audit-events.ts';

const closed = { additionalProperties: false } as const;

const verdict = Type.Object(
  {
    is_intact: Type.Boolean({ description: 'true if no event was changed, removed, inserted or moved' }),
    events: Type.Integer({ description: 'number of events verified' }),
    chains: Type.Integer(),
    anchor: nullable(
      Type.Object({ number: Type.Integer(), digest: Type.String() }, closed),
      'the newest seal; the log also records its number and digest',
    ),
    problems: Type.Array(
      Type.Object(
        {
          chain: Type.String(),
          sequence: Type.Integer(),
          event: nullable(Type.Integer(), 'null: the event is missing'),
          detail: Type.String(),
        },
        closed,
      ),
      { description: 'the first invalid event of each broken chain' },
    ),
  },
  { ...closed, $id: 'AuditVerdict' },
);

/** `GET /api/audit-events/verification/`. */
export const auditVerification = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${auditEvents.path}/verification`,
  operation: {
    id: 'verifyAuditEvents',
    tag: 'audit',
    summary: 'Verify the audit trail',
    description: 'Reads the whole trail, which takes some seconds per hundred thousand events.',
    permission: 'audit.read',
    responses: {
      200: jsonResponse('The result.', verdict, {
        is_intact: true,
        events: 1207,
        chains: 3,
        anchor: { number: 4, digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
        problems: [],
      }),
    },
  },
  async handle(principal) {
    const { events, chains, anchor = null, problems } = await gateway.auditEvents.verify(principal);
    return json(200, {
      is_intact: problems.length === 0,
      events,
      chains,
      anchor,
      problems: problems.map(({ chain, sequence, event = null, what }) => ({
        chain,
        sequence,
        event,
        detail: what,
      })),
    });
  },
});
