import type { Entropy } from '#core/ports/platform.ts';

/** From the cryptographic library's generator. Bun asks it for the octets of many calls at once, so no pool of our own. */
export const systemEntropy: Entropy = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };
