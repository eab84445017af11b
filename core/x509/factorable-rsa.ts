import { checkPrime, hash } from 'node:crypto';
import { hex } from '../der/bytes.ts';
import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import type { PublicKey } from './public-key.ts';

const largestSmallFactor = 2 ** 20;
/** Steps of Fermat's method. They find prime factors with equal upper halves, and factors slightly further apart. */
const fermatSteps = 100;
const mostRemembered = 10_000;

/** Hashes of moduli that have passed, oldest first, so that a renewal with the same key does not check it again. */
const passed = new Set<string>();

/**
 * Rejects an RSA key that anybody can factor: small factors, a square, two close primes, a prime modulus. Returns
 * undefined, without a promise, if there is nothing to check. Faults: badAlgorithm.
 */
export function demandUnfactored({
  type,
  bytes,
}: Pick<PublicKey, 'type' | 'bytes'>): Promise<void> | undefined {
  if (!type.startsWith('rsa-')) return undefined;
  const name = hash('sha256', bytes, 'base64');
  return passed.has(name) ? undefined : examine(name, modulusOf(bytes));
}

async function examine(name: string, modulus: bigint): Promise<void> {
  await preparePrimes();
  const weakness = factorable(modulus) ?? ((await isPrime(modulus)) ? 'its modulus is a prime' : undefined);
  if (weakness) {
    throw new Fault('badAlgorithm', `the RSA key can be factored: ${weakness}`, {
      hint: 'the random number generator or the software that generated the key is broken: generate another key elsewhere',
    });
  }
  if (passed.size >= mostRemembered) for (const oldest of passed) if (passed.delete(oldest)) break;
  passed.add(name);
}

/** Runs in a thread of the runtime, because it takes tens of milliseconds for 4096 bits. */
const isPrime = (candidate: bigint): Promise<boolean> =>
  new Promise((resolve, reject) => {
    checkPrime(candidate, { checks: 2 }, (error, result) => (error ? reject(error) : resolve(result)));
  });

/** RFC 8017 §A.1.1. */
const modulusOf = (key: Uint8Array): bigint =>
  readDer(key, (reader) => {
    const sequence = reader.sequence();
    const modulus = sequence.integerBytes();
    sequence.integerBytes();
    return BigInt(`0x${hex(modulus)}`);
  });

/** Returns why an odd modulus can be factored within milliseconds, or undefined if these methods fail. */
export function factorable(modulus: bigint): string | undefined {
  const root = squareRoot(modulus);
  if (root * root === modulus) return 'it is a square';
  if (hasClosePrimes(modulus, root)) return 'its two primes are too close';
  if (hasSmallFactor(modulus)) return 'it has a small factor';
  return undefined;
}

function squareRoot(square: bigint): bigint {
  let root = 1n << BigInt((square.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + square / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Fermat's method: n = a² − b² with an a near the square root of n. */
function hasClosePrimes(modulus: bigint, root: bigint): boolean {
  let a = root + 1n;
  let difference = a * a - modulus;
  for (let step = 0; step < fermatSteps; step++) {
    if (isSquare(difference)) return true;
    difference += 2n * a + 1n;
    a += 1n;
  }
  return false;
}

/** The residues of squares. They exclude most other numbers without computing a square root. */
const filters = [64, 63, 65, 11, 17, 19].map((modulus) => {
  const residues = new Set(Array.from({ length: modulus }, (_, n) => (n * n) % modulus));
  return { modulus, residues };
});
const product = BigInt(filters.reduce((all, { modulus }) => all * modulus, 1));

function isSquare(number: bigint): boolean {
  const low = Number(number % product);
  if (!filters.every(({ modulus, residues }) => residues.has(low % modulus))) return false;
  const root = squareRoot(number);
  return root * root === number;
}

function hasSmallFactor(modulus: bigint): boolean {
  primeProducts ??= productsOfPrimes();
  let rest = 1n;
  for (const primes of primeProducts) rest = (rest * (primes % modulus)) % modulus;
  let [a, b] = [modulus, rest];
  while (b > 0n) [a, b] = [b, a % b];
  return a > 1n;
}

/** Products of the odd primes below 2^20 in groups, because dividing by a product is cheaper than by each prime. */
let primeProducts: readonly bigint[] | undefined;
const groups = 32;

let preparing: Promise<void> | undefined;

/** Computes the products before the first key needs them, in slices, so that the event loop is not blocked. */
function preparePrimes(): Promise<void> | undefined {
  if (primeProducts) return undefined;
  preparing ??= (async () => {
    const made: bigint[] = [];
    for (const product of slicesOfPrimes()) {
      if (product !== undefined) made.push(product);
      await turn();
    }
    primeProducts = made;
  })();
  return preparing;
}

/** Waits for a later turn of the event loop. `core/` has no timers, so it waits for a thread of the runtime. */
const turn = (): Promise<unknown> => isPrime(3n);

/** Yields product by product, and undefined where a slice ends without one. */
function* slicesOfPrimes(): Generator<bigint | undefined> {
  const composite = new Uint8Array(largestSmallFactor);
  const primes: bigint[] = [];
  for (let n = 3; n < largestSmallFactor; n += 2) {
    // Crossing out the multiples of the smallest primes takes longest, so each of them ends a slice.
    if (n < 64 || (n & 0xffff) === 1) yield undefined;
    if (composite[n]) continue;
    primes.push(BigInt(n));
    for (let multiple = n * n; multiple < largestSmallFactor; multiple += 2 * n) composite[multiple] = 1;
  }
  const size = Math.ceil(primes.length / groups);
  for (let n = 0; n < groups; n++) yield multiplied(primes.slice(n * size, (n + 1) * size));
}

const productsOfPrimes = (): readonly bigint[] => [...slicesOfPrimes()].filter((one) => one !== undefined);

function multiplied(numbers: readonly bigint[]): bigint {
  if (numbers.length <= 1) return numbers[0] ?? 1n;
  const half = numbers.length >> 1;
  return multiplied(numbers.slice(0, half)) * multiplied(numbers.slice(half));
}
