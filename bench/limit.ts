import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';

/** As long as what a device signs in its request, and the CA in its certificate. */
const requestInfo = crypto.getRandomValues(new Uint8Array(150));
const tbsCertificate = crypto.getRandomValues(new Uint8Array(500));
const { privateKey: keyOfCa } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** A request brings its public key with it, each another one. */
const requests = Array.from({ length: 64 }, () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicKey: publicKey.export({ format: 'der', type: 'spki' }),
    proof: sign('sha256', requestInfo, privateKey),
  };
});

/** As many as the requests under test ask for, and as long a message. */
const macIterations = 100;
const message = crypto.getRandomValues(new Uint8Array(700));

/** Microseconds of CPU time of this process for what cannot be done without, measured afresh at each call. */
export type Limit = (count: number) => number;

/** One verification and one signature with P-256, the public key read as it comes in a request. */
export const cryptographicLimit: Limit = (count) => timed(certify, count);

/**
 * One message under a password-based MAC (RFC 9810 §5.1.3.1), its key made of secret and salt: a request has to be checked and its
 * answer protected, with a salt of its own.
 */
export const macLimit: Limit = (count) => timed(authenticate, count);

function certify(count: number): void {
  for (let n = 0; n < count; n++) {
    const { publicKey, proof } = requests[n % requests.length]!;
    const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' });
    if (!verify('sha256', requestInfo, key, proof)) throw new Error('a good signature does not verify');
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
