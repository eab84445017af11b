import { generateKeyPairSync, sign, verify } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** As long as what a device signs in its request, and the CA in its certificate. */
const requestInfo = crypto.getRandomValues(new Uint8Array(150));
const tbsCertificate = crypto.getRandomValues(new Uint8Array(500));
const proof = sign('sha256', requestInfo, privateKey);

/** As many as the requests under test ask for, and as long a message. */
const macIterations = 100;
const message = crypto.getRandomValues(new Uint8Array(700));

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
export const cryptographicLimit = (count = 3000): number => timed(certify, count);

/**
 * The same for one message under a password-based MAC (RFC 9810 §5.1.3.1), its key made of secret and salt: a request has to be checked
 * and its answer protected, with a salt of its own.
 */
export const macLimit = (count = 10_000): number => timed(authenticate, count);

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
