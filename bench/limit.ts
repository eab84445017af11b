import { generateKeyPairSync, sign, verify } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** As long as what a device signs in its request, and the CA in its certificate. */
const requestInfo = crypto.getRandomValues(new Uint8Array(150));
const tbsCertificate = crypto.getRandomValues(new Uint8Array(500));
const proof = sign('sha256', requestInfo, privateKey);

function certify(count: number): void {
  for (let n = 0; n < count; n++) {
    if (!verify('sha256', requestInfo, publicKey, proof)) throw new Error('a good signature does not verify');
    sign('sha256', tbsCertificate, privateKey);
  }
}

/**
 * What no gateway can do without: microseconds of CPU time for one verification and one signature with P-256, in this
 * process. Measured afresh at each call, so that every round has the limit of its own moment.
 */
export function cryptographicLimit(count = 3000): number {
  certify(200);
  const before = process.cpuUsage();
  certify(count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
