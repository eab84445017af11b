import type { Entropy } from '../ports/platform.ts';

/** What a sealed secret is for: the vault binds the bytes to it, so that one cannot stand in for another. */
export const secretContext = {
  estPassword: 'device est_password',
  cmpSharedSecret: 'device cmp_shared_secret',
  tokenKey: 'token key',
  auditAnchor: 'audit anchor',
} as const;

/** 256 random bits, base64url. */
export const newSecret = (entropy: Entropy): string => Buffer.from(entropy.bytes(32)).toString('base64url');
