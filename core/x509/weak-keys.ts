import { hex } from '../der/bytes.ts';

/**
 * The points of edwards25519 of order 1, 2, 4 or 8, in every encoding, without the sign bit. Signatures for such a key
 * can be made without a private key and verify (RFC 8032 §5.1.7), so they prove nothing.
 */
const smallOrder: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26E8958FC2B227B045C3F489F2EF98F0D5DFAC05D3C63339B13802886D53FC05',
  'C7176A703D4DD84FBA3C0B760D10670F2A2053FA2C39CCC64EC7FD7792AC037A',
  'ECFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF7F',
  'EDFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF7F',
  'EEFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF7F',
]);

/** `key`: the 32 octets of an Ed25519 public key. */
export const isOfSmallOrder = (key: Uint8Array): boolean =>
  smallOrder.has(hex(key.with(31, key[31]! & 0x7f)));

/**
 * Primes for which the powers of 65537 are only some of the residues, limited to factors of the constant that the
 * flawed generator used.
 */
const telling = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157].map(
  (prime) => [BigInt(prime), powersOf(65537 % prime, prime)] as const,
);

function powersOf(base: number, prime: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * base) % prime) powers.add(power);
  return powers;
}

/**
 * Returns whether an RSA modulus can be factored because Infineon's RSALib, used in chip cards and TPMs until 2017,
 * generated it (CVE-2017-15361, "ROCA"): its primes, and therefore the modulus, are powers of 65537 modulo many small
 * primes. About one in a hundred million other moduli has this property too.
 */
export function isRocaModulus(modulus: Uint8Array): boolean {
  const n = BigInt(`0x${hex(modulus)}`);
  return telling.every(([prime, powers]) => powers.has(Number(n % prime)));
}
