import { Type } from '@sinclair/typebox';
import type { FieldDescription } from './description.ts';

/** The error bodies that `errors.ts` renders. */
export const detail = Type.Object(
  {
    detail: Type.String({ description: 'the error' }),
    hint: Type.Optional(Type.String({ description: 'how to fix it' })),
    code: Type.String({
      description:
        'identifies the error for programs and translations: `device_blocked`, `still_used`, `not_found`; never changes its meaning',
    }),
    values: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()]), {
        description: 'the values in `detail` by name, for a translation of it',
      }),
    ),
  },
  { $id: 'Detail', additionalProperties: false },
);
export const fieldErrors = Type.Unsafe({
  $id: 'FieldErrors',
  type: 'object',
  description: 'messages by field; `non_field_errors` for errors that concern no single field',
  additionalProperties: { type: 'array', items: { type: 'string' } },
});

/** Returns the schema of a body with these fields. */
export const objectOf = (fields: Readonly<Record<string, FieldDescription>>, $id: string) =>
  Type.Object(
    Object.fromEntries(
      Object.entries(fields).map(([name, { schema, required }]) => [
        name,
        required ? schema : Type.Optional(schema),
      ]),
    ),
    { $id, additionalProperties: false },
  );

export const jwt = Type.String({ description: 'JWT' });
export const tokenExample = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

/** The schema of the response to a user's sign-in. */
export const tokenPair = Type.Object(
  { access: jwt, refresh: jwt },
  { $id: 'TokenPair', additionalProperties: false },
);
export const tokenPairExample = { access: tokenExample, refresh: tokenExample };
