import { Type } from '@sinclair/typebox';

/** The bodies of failures that `errors.ts` renders. */
export const detail = Type.Object(
  {
    detail: Type.String({ description: 'what is wrong' }),
    hint: Type.Optional(Type.String({ description: 'what can be done about it' })),
    code: Type.Optional(
      Type.String({ enum: ['token_not_valid', 'password_change_required'], description: 'for programs' }),
    ),
  },
  { $id: 'Detail', additionalProperties: false },
);
export const fieldErrors = Type.Unsafe({
  $id: 'FieldErrors',
  type: 'object',
  description: 'messages by field; `non_field_errors` where no field is at fault',
  additionalProperties: { type: 'array', items: { type: 'string' } },
});
