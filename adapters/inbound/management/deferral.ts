import { Type } from '@sinclair/typebox';
import type { Deferral } from '#core/enrolment/outcome.ts';
import { json } from './errors.ts';
import { jsonResponse, type ResponseDocumentation } from './route.ts';

const schema = Type.Object(
  {
    status: Type.Literal('pending'),
    detail: Type.String(),
    id: Type.Integer({ description: 'of what is being waited for' }),
  },
  { $id: 'Pending', additionalProperties: false },
);
const detail = 'the request waits for approval: send it again later';

export const isDeferral = (made: unknown): made is Deferral =>
  typeof made === 'object' && made !== null && 'kind' in made && made.kind === 'pending';

/** Neither done nor refused: somebody has to decide first. */
export const pending = ({ id, retryAfter }: Deferral): Response =>
  json(202, { status: 'pending', detail, id }, { 'retry-after': String(retryAfter) });

export const pendingResponse = (description: string): ResponseDocumentation => ({
  ...jsonResponse(description, schema, { status: 'pending', detail, id: 12 }),
  headers: { 'Retry-After': 'Seconds after which it makes sense to ask again.' },
});
