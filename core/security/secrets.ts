import type { Entropy } from '../ports/platform.ts';

/**
 * What a sealed secret is for: the vault binds the bytes to it, so that one kind cannot stand in for another. Whose it is, is not
 * bound: whoever can write to the database to swap two sealed secrets can as well swap the references of two devices to
 * their configurations, and no seal of the secret alone could tell.
 */
export const secretContext = {
  estPassword: 'device est_password',
  cmpSharedSecret: 'device cmp_shared_secret',
  deviceImportRows: 'device import rows',
  tokenKey: 'token key',
  auditAnchor: 'audit anchor',
} as const;

/** 256 random bits, base64url. */
export const newSecret = (entropy: Entropy): string => Buffer.from(entropy.bytes(32)).toString('base64url');
