import { Type } from '@sinclair/typebox';
import type { FieldDescription } from '../description.ts';
import { dateTime } from '../fields.ts';

export const idField: FieldDescription = {
  schema: Type.Integer({ description: 'id of the record' }),
  readOnly: true,
  orderable: true,
};

export const createdAtField: FieldDescription = {
  schema: dateTime('when the record was created'),
  readOnly: true,
  orderable: true,
};
