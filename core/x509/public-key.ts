import { constants, createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { remembering, sameBytes } from '../der/bytes.ts';
import { DerReader, readDer } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import {
  type KeyType,
  pssSaltLength,
  type SignatureAlgorithm,
  signatureAlgorithmFits,
  signatureHash,
} from './algorithm.ts';
import { oid } from './oids.ts';
import { isOfSmallOrder, isRocaModulus } from './weak-keys.ts';

/** A key that Postern accepts: only this file makes one. */
export interface PublicKey {
  /** SubjectPublicKeyInfo in DER. */
  readonly spki: Uint8Array;
  readonly type: KeyType;
  /** Contents of its BIT STRING. */
  readonly bytes: Uint8Array;
  readonly key: KeyObject;
}

const fewestRsaBits = 2048;
const mostRsaBits = 8192;

/** Octets of a coordinate. */
const curves = {
  [oid.p256]: ['p-256', 32],
  [oid.p384]: ['p-384', 48],
  [oid.p521]: ['p-521', 66],
} as const satisfies Record<string, readonly [KeyType, number]>;

/** Octets of the key: RFC 8410 §3, FIPS 204 table 2. */
const fixedLength = {
  [oid.ed25519]: ['ed25519', 32],
  [oid.mlDsa44]: ['ml-dsa-44', 1312],
  [oid.mlDsa65]: ['ml-dsa-65', 1952],
  [oid.mlDsa87]: ['ml-dsa-87', 2592],
} as const satisfies Record<string, readonly [KeyType, number]>;

const refused = (detail: string): Fault =>
  new Fault('badAlgorithm', detail, {
    hint: 'use RSA with 2048 to 8192 bits, P-256, P-384, P-521, Ed25519 or ML-DSA',
  });
const malformed = (detail: string): Fault => new Fault('malformed', detail);

/**
 * A SubjectPublicKeyInfo in DER (RFC 5280 §4.1.2.7). Faults: malformed; badAlgorithm for a kind of key, or a size, that is
 * not accepted.
 */
export function decodePublicKey(spki: Uint8Array): PublicKey {
  const info = new DerReader(spki).enter(tag.sequence);
  const algorithm = info.sequence();
  const bytes = info.bitStringBytes();
  info.finish();
  const type = keyType(algorithm, bytes);
  return { spki, type, bytes, key: importKey(spki) };
}

/** The same with a memory for the last one: for keys that come again, as those of CAs do. */
export const readPublicKey: (spki: Uint8Array) => PublicKey = remembering(decodePublicKey);

function keyType(algorithm: DerReader, bytes: Uint8Array): KeyType {
  const which = algorithm.oid();
  if (which === oid.ecPublicKey) return ecKeyType(algorithm, bytes);
  if (which === oid.rsaEncryption) {
    algorithm.null();
    algorithm.finish();
    return rsaKeyType(bytes);
  }
  if (which === oid.rsaPss) throw refused('RSA keys bound to RSASSA-PSS are not accepted');
  const known = which in fixedLength ? fixedLength[which as keyof typeof fixedLength] : undefined;
  if (!known) throw refused(`unknown kind of public key ${which}`);
  algorithm.finish();
  const [type, length] = known;
  if (bytes.length !== length)
    throw malformed(`public key of ${type} has ${bytes.length} octets, not ${length}`);
  if (type === 'ed25519' && isOfSmallOrder(bytes)) {
    throw refused('with this Ed25519 key everybody can make signatures');
  }
  return type;
}

function ecKeyType(algorithm: DerReader, bytes: Uint8Array): KeyType {
  if (algorithm.peek() !== tag.oid) throw refused('elliptic curves need to be named (RFC 5480 §2.1.1)');
  const which = algorithm.oid();
  algorithm.finish();
  if (!(which in curves)) throw refused(`unknown elliptic curve ${which}`);
  const [type, octets] = curves[which as keyof typeof curves];
  if (bytes[0] === 2 || bytes[0] === 3) throw refused('compressed elliptic curve points are not accepted');
  if (bytes[0] !== 4 || bytes.length !== 1 + 2 * octets) throw malformed(`bad point on ${type}`);
  return type;
}

/** RSAPublicKey (RFC 8017 §A.1.1). */
function rsaKeyType(bytes: Uint8Array): KeyType {
  const [modulus, exponent] = readDer(bytes, (reader) => {
    const key = reader.sequence();
    const numbers = [unsigned(key), unsigned(key)] as const;
    key.finish();
    return numbers;
  });
  const bits = bitLength(modulus);
  if (bits < fewestRsaBits)
    throw refused(`RSA keys need at least ${fewestRsaBits} bits, this one has ${bits}`);
  if (bits > mostRsaBits)
    throw refused(`RSA keys may have ${mostRsaBits} bits at most, this one has ${bits}`);
  if ((modulus[modulus.length - 1]! & 1) === 0) throw malformed('RSA modulus is even');
  const even = (exponent[exponent.length - 1]! & 1) === 0;
  const exponentBits = bitLength(exponent);
  if (even || exponentBits < 17) throw refused('RSA public exponents need to be odd and at least 65537');
  if (exponentBits > 256) throw refused('RSA public exponents may have 256 bits at most');
  if (isRocaModulus(modulus)) throw refused('RSA key of a flawed generator (CVE-2017-15361, ROCA)');
  return `rsa-${bits}`;
}

/** A positive INTEGER without its sign octet. */
function unsigned(reader: DerReader): Uint8Array {
  const value = reader.integerBytes();
  if (value[0]! >= 0x80) throw malformed('RSA key with a negative number');
  return value[0] === 0 ? value.subarray(1) : value;
}

const bitLength = (n: Uint8Array): number => (n.length === 0 ? 0 : n.length * 8 - (Math.clz32(n[0]!) - 24));

/** The cryptographic library checks what is left: that a point lies on its curve above all. */
function importKey(spki: Uint8Array): KeyObject {
  try {
    // Any octets will do: only the declaration asks for a Buffer.
    return createPublicKey({ key: spki as Buffer, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new Fault('badAlgorithm', 'public key is not usable: wrong point or numbers', { cause });
  }
}

/** ECDSA signatures in DER (RFC 5480 §A). False, never an exception, for whatever is wrong with the signature. */
export function verifySignature(
  key: PublicKey,
  algorithm: SignatureAlgorithm,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!signatureAlgorithmFits(algorithm, key.type)) return false;
  try {
    return verify(signatureHash(algorithm), data, verificationKey(key, algorithm), signature);
  } catch {
    return false;
  }
}

function verificationKey({ key }: PublicKey, algorithm: SignatureAlgorithm) {
  const saltLength = pssSaltLength(algorithm);
  return saltLength === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
}

/** As `verifySignature`, in a thread of its own: hashing megabytes would block the event loop. `data` must not change meanwhile. */
export function verifyLongMessage(
  key: PublicKey,
  algorithm: SignatureAlgorithm,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (!signatureAlgorithmFits(algorithm, key.type)) return Promise.resolve(false);
  const how = verificationKey(key, algorithm);
  return new Promise((resolve) => {
    verify(signatureHash(algorithm), data, how, signature, (error, holds) => resolve(!error && holds));
  });
}

/** RFC 7093 §2 method 1: the leftmost 160 bits of the SHA-256 of the BIT STRING's contents. */
export function keyIdentifier(key: Pick<PublicKey, 'bytes'>): Uint8Array {
  // A view of new octets has a buffer made for them first: two digits an octet cost less.
  return Uint8Array.fromHex(hash('sha256', key.bytes, 'hex').slice(0, 40));
}

export const samePublicKey = (a: PublicKey, b: PublicKey): boolean => sameBytes(a.spki, b.spki);
