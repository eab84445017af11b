import { Type } from '@sinclair/typebox';
import type { KeyType } from '#core/x509/algorithm.ts';
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

/** The key types that Postern generates. RSA keys beyond 4096 bits are slow and add little. */
const keyTypes = [
  'p-256',
  'p-384',
  'p-521',
  'rsa-2048',
  'rsa-3072',
  'rsa-4096',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
] as const satisfies readonly KeyType[];

export const keyType = (description: string) => Type.String({ enum: [...keyTypes], description });
