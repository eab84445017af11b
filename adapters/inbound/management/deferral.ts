import { Type } from '@sinclair/typebox';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import { json } from './errors.ts';
import { jsonResponse, type ResponseDocumentation } from './route.ts';

const schema = Type.Object(
  {
    status: Type.Literal('pending'),
    detail: Type.String(),
    id: Type.Integer({ description: 'id of the approval or the upstream request that is pending' }),
  },
  { $id: 'Pending', additionalProperties: false },
);
const waitsFor = (whom: string): string => `the request is pending with ${whom}: send it again later`;
const detail = waitsFor('approval');

export const isDeferral = (made: unknown): made is Deferral =>
  typeof made === 'object' && made !== null && 'kind' in made && made.kind === 'pending';

/** Neither done nor refused: somebody has to decide first. */
export const pending = ({ id, retryAfter, upstream }: Deferral): Response =>
  json(
    202,
    { status: 'pending', detail: upstream ? waitsFor('the upstream CA') : detail, id },
    { 'retry-after': String(retryAfter) },
  );

export const pendingResponse = (description: string): ResponseDocumentation => ({
  ...jsonResponse(description, schema, { status: 'pending', detail, id: 12 }),
  headers: { 'Retry-After': 'Seconds after which to retry.' },
});
