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
const pendingWith = (whom: string): string => `the request is pending with ${whom}: send it again later`;
const detail = pendingWith('the approvers');

export const isDeferral = (made: unknown): made is Deferral =>
  typeof made === 'object' && made !== null && 'kind' in made && made.kind === 'pending';

/** Returns 202: an approver or the upstream CA has not decided yet. */
export const pending = ({ id, retryAfter, upstream }: Deferral): Response =>
  json(
    202,
    { status: 'pending', detail: upstream ? pendingWith('the upstream CA') : detail, id },
    { 'retry-after': String(retryAfter) },
  );

export const pendingResponse = (description: string): ResponseDocumentation => ({
  ...jsonResponse(description, schema, { status: 'pending', detail, id: 12 }),
  headers: { 'Retry-After': 'Seconds after which to retry.' },
});
