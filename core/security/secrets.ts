import { hash, timingSafeEqual } from 'node:crypto';
import type { Entropy } from '../ports/platform.ts';

/**
 * The purposes of sealed secrets. The vault binds the sealed bytes to the purpose, so that a secret of one kind cannot
 * replace one of another kind. The owner is not bound: an attacker who can swap two sealed secrets in the database can
 * also swap the references of two devices to their configurations, and no seal of the secret alone could detect that.
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

const digest = (secret: Uint8Array | string): Uint8Array => hash('sha256', secret, 'buffer');

/** Compares in constant time, for secrets of any length. A text counts as its octets in UTF-8. */
export function sameSecret(a: string, b: Uint8Array | string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}
