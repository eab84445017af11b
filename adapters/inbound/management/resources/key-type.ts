import { Type } from '@sinclair/typebox';
import type { KeyType } from '#core/x509/algorithm.ts';

/** What keys are made here. RSA beyond 4096 bits takes long to make and to sign with, and adds little. */
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
