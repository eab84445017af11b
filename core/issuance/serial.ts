import type { Clock, Entropy } from '../ports/platform.ts';

/**
 * A serial number of 16 octets: 48 bits of milliseconds, then 80 random bits (RFC 5280 §4.1.2.2 and the 64 bits of entropy
 * that careful CAs ask for). The time in front keeps the store's index on serial numbers growing at its end, where an insert
 * costs the same at a million certificates as at none; it tells no more than notBefore does.
 */
export function newSerial(clock: Clock, entropy: Entropy): Uint8Array {
  const serial = entropy.bytes(16);
  let time = clock.now();
  for (let at = 5; at >= 0; at--) {
    serial[at] = time % 256;
    time = Math.floor(time / 256);
  }
  // Positive and without a leading zero octet, whatever the clock says.
  if (serial[0] === 0) serial[0] = 1;
  return serial;
}
