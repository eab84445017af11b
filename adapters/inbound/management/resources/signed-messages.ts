import { Type } from '@sinclair/typebox';
import type { SignedMessage } from '#core/records/credential.ts';
import { type Description, timestamp } from '../description.ts';
import { equalInteger } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

const ordered = { readOnly: true, orderable: true } as const;

export const signedMessages: Description<'signedMessage', never, SignedMessage> = {
  path: '/api/signed-messages',
  tag: 'signers',
  kind: 'signedMessage',
  permissions: { read: 'signers.read' },
  fields: {
    id: idField,
    signer: { schema: Type.Integer({ description: 'id of the signer' }), ...ordered },
    signer_name: { schema: Type.String({ description: 'name of the signer at that time' }), ...ordered },
    hash_value: { schema: Type.String({ description: 'the digest, lower-case hexadecimal' }), ...ordered },
    signature: { schema: Type.String({ description: 'lower-case hexadecimal' }), ...ordered },
    created_at: createdAtField,
  },
  filters: { signer: equalInteger('signer') },
  toJson: (message) => ({
    id: message.id,
    signer: message.signer,
    signer_name: message.signerName,
    hash_value: message.hashValue,
    signature: message.signature,
    created_at: timestamp(message.createdAt),
  }),
  example: {
    id: 12,
    signer: 6,
    signer_name: 'firmware',
    hash_value: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    signature: '3045022100…',
    created_at: '2026-03-02T08:00:00.000',
  },
  operations: (gateway) => gateway.signers.messages,
};
