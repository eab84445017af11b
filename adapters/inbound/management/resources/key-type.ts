import { Type } from '@sinclair/typebox';
import type { KeyType } from '#core/x509/algorithm.ts';

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
