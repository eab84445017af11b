import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** As long as the signed parts of a typical request and a typical certificate. */
const requestInfo = crypto.getRandomValues(new Uint8Array(150));
const tbsCertificate = crypto.getRandomValues(new Uint8Array(500));
const { privateKey: keyOfCa } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Each request contains another public key. */
const requests = Array.from({ length: 64 }, () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    proof: sign('sha256', requestInfo, privateKey),
  };
});

/** The iteration count and the message length of the measured requests. */
const macIterations = 100;
const message = crypto.getRandomValues(new Uint8Array(700));

/** Measures the microseconds of CPU time of this process for the indispensable cryptography, anew at each call. */
export type Limit = (count: number) => number;

/** Measures one verification and one signature with P-256, including the decoding of the public key. */
export const cryptographicLimit: Limit = (count) => timed(certify, count);

/**
 * Measures one password-based MAC (RFC 9810 §5.1.3.1), including the derivation of its key from secret and salt. Request and response
 * have different salts, so each needs one.
 */
export const macLimit: Limit = (count) => timed(authenticate, count);

function certify(count: number): void {
  for (let n = 0; n < count; n++) {
    const { publicKey, proof } = requests[n % requests.length]!;
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    if (!verify('sha256', requestInfo, key, proof)) throw new Error('a valid signature does not verify');
    sign('sha256', tbsCertificate, keyOfCa);
  }
}

function authenticate(count: number): void {
  const key = new Uint8Array(32);
  for (let n = 0; n < count; n++) {
    for (let iteration = 0; iteration < macIterations; iteration++) Bun.SHA256.hash(key, key);
    new Bun.CryptoHasher('sha256', key).update(message).digest();
  }
}

function timed(work: (count: number) => void, count: number): number {
  work(Math.ceil(count / 15));
  const before = process.cpuUsage();
  work(count);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
