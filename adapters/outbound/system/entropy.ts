import { randomFillSync } from 'node:crypto';
import type { Entropy } from '#core/ports/platform.ts';

/** Straight from the cryptographic library's generator: less than 1 µs for 16 octets, so no pool of our own. */
export const systemEntropy: Entropy = { bytes: (length) => randomFillSync(new Uint8Array(length)) };
