import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
} from 'node:crypto';
import { promisify } from 'node:util';
import { Fault } from '#core/fault.ts';
import {
  defaultSignatureAlgorithm,
  type KeyType,
  pssSaltLength,
  type SignatureAlgorithm,
  signatureAlgorithmFits,
  signatureHash,
} from '#core/x509/algorithm.ts';
import { readPublicKey, verifySignature } from '#core/x509/public-key.ts';

export interface PrivateKey {
  readonly type: KeyType;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
  readonly key: KeyObject;
}

const generatePair = promisify(generateKeyPair);
const fewestRsaBits = 2048;
const mostRsaBits = 8192;
/** Octets. An RSA key of 8192 bits has less than 5 KiB. */
const mostPkcs8Bytes = 16 * 1024;

/** Generates a key in another thread. Faults: badAlgorithm for an unsupported type. */
export async function generatePrivateKey(type: KeyType): Promise<PrivateKey> {
  const { publicKey, privateKey } = await generate(type);
  return { type, spki: spkiOf(publicKey), key: privateKey };
}

function generate(type: KeyType): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  switch (type) {
    case 'p-256':
    case 'p-384':
    case 'p-521':
      return generatePair('ec', { namedCurve: type.toUpperCase() });
    case 'ed25519':
      return generatePair('ed25519');
    case 'ml-dsa-44':
    case 'ml-dsa-65':
    case 'ml-dsa-87':
      return generatePair(type);
    default:
      return generatePair('rsa', { modulusLength: rsaBits(type), publicExponent: 65_537 });
  }
}

function rsaBits(type: string): number {
  const bits = Number(/^rsa-(\d{4})$/.exec(type)?.[1]);
  if (bits >= fewestRsaBits && bits <= mostRsaBits) return bits;
  throw new Fault('badAlgorithm', `keys of type ${type.slice(0, 20)} are not supported`, {
    hint: 'use RSA with 2048 to 8192 bits, P-256, P-384, P-521, Ed25519 or ML-DSA',
  });
}

/**
 * Imports PKCS#8 (DER). Faults: malformed (not an unencrypted PrivateKeyInfo, or public and private key do not match),
 * badAlgorithm (weak or unknown).
 */
export function importPrivateKey(pkcs8: Uint8Array): PrivateKey {
  const key = parse(pkcs8);
  const publicKey = readPublicKey(spkiOf(createPublicKey(key)));
  const imported: PrivateKey = { type: publicKey.type, spki: publicKey.spki, key };
  // The file may contain a separate public key, and nothing else compares it with the private key.
  const algorithm = defaultSignatureAlgorithm(publicKey.type);
  const probe = Buffer.from('postern');
  const signature = attempt(() => signWith(imported, algorithm, probe));
  if (!signature || !verifySignature(publicKey, algorithm, probe, signature)) {
    throw new Fault('malformed', 'the private key does not match the public key stored with it');
  }
  return imported;
}

function parse(pkcs8: Uint8Array): KeyObject {
  const key = pkcs8.length <= mostPkcs8Bytes && attempt(() => restoreKey(pkcs8));
  if (!key) throw new Fault('malformed', 'not an unencrypted PKCS#8 private key of a supported type');
  return key;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** Restores a key from octets that Postern wrote. */
export function restorePrivateKey(pkcs8: Uint8Array, spki: Uint8Array): PrivateKey {
  return { type: readPublicKey(spki).type, spki, key: restoreKey(pkcs8) };
}

const restoreKey = (pkcs8: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.from(pkcs8.buffer, pkcs8.byteOffset, pkcs8.byteLength),
    format: 'der',
    type: 'pkcs8',
  });

const spkiOf = (key: KeyObject): Uint8Array => Uint8Array.from(key.export({ format: 'der', type: 'spki' }));

/** Returns PKCS#8 (DER) without the attributes that an imported key may have had. */
export const exportPrivateKey = ({ key }: PrivateKey): Uint8Array =>
  Uint8Array.from(key.export({ format: 'der', type: 'pkcs8' }));

/** Signs data (ECDSA: DER; RSASSA-PSS: a salt of the length of the hash). Faults: badAlgorithm. */
export const signWith = (key: PrivateKey, algorithm: SignatureAlgorithm, data: Uint8Array): Uint8Array =>
  sign(signatureHash(algorithm), data, signingKey(key, algorithm));

/**
 * Like `signWith`, in another thread, because hashing megabytes would block the event loop. `data` must not change
 * meanwhile.
 */
export async function signLongMessage(
  key: PrivateKey,
  algorithm: SignatureAlgorithm,
  data: Uint8Array,
): Promise<Uint8Array> {
  const how = signingKey(key, algorithm);
  return new Promise((resolve, reject) => {
    sign(signatureHash(algorithm), data, how, (error, signature) =>
      error ? reject(error) : resolve(signature),
    );
  });
}

function signingKey({ type, key }: PrivateKey, algorithm: SignatureAlgorithm) {
  if (!signatureAlgorithmFits(algorithm, type)) {
    throw new Fault('badAlgorithm', `a key of type ${type} cannot sign with ${algorithm}`);
  }
  const saltLength = pssSaltLength(algorithm);
  return saltLength === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
}
