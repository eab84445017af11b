import { Type } from '@sinclair/typebox';

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
