import { createHash, hash } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import {
  type HashName,
  pssSaltLength,
  type SignatureAlgorithm,
  signatureAlgorithmFits,
  signatureHash,
} from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import type { PublicKey } from '#core/x509/public-key.ts';
import { ckg, ckm } from './cryptoki.ts';
import type { Scheme } from './messages.ts';

const digests = {
  sha256: { octets: 32, hashAlg: ckm.sha256, mgf: ckg.mgf1Sha256 },
  sha384: { octets: 48, hashAlg: ckm.sha384, mgf: ckg.mgf1Sha384 },
  sha512: { octets: 64, hashAlg: ckm.sha512, mgf: ckg.mgf1Sha512 },
} as const satisfies Record<HashName, unknown>;

/** Octets of the order of the curve. */
const orders: Readonly<Record<string, number>> = { 'p-256': 32, 'p-384': 48, 'p-521': 66 };

type Key = Pick<PublicKey, 'type'>;

/** Octets hashed before yielding to other work: a fraction of a millisecond. */
const slice = 256 * 1024;

async function digestOf(hashed: HashName, message: Uint8Array): Promise<Uint8Array> {
  if (message.length <= slice) return hash(hashed, message, 'buffer');
  const hashing = createHash(hashed);
  for (let at = 0; at < message.length; at += slice) {
    hashing.update(message.subarray(at, at + slice));
    await new Promise(setImmediate);
  }
  return hashing.digest();
}

/**
 * Returns the mechanism and the data to sign. The hash is computed here for messages of any length. The message must
 * not change meanwhile. Faults: badAlgorithm.
 */
export async function toSign(
  key: Key,
  algorithm: SignatureAlgorithm,
  message: Uint8Array,
): Promise<Scheme & { readonly data: Uint8Array }> {
  if (!signatureAlgorithmFits(algorithm, key.type)) {
    throw new Fault('badAlgorithm', `a key of type ${key.type} cannot sign with ${algorithm}`);
  }
  const hashed = signatureHash(algorithm);
  if (hashed === undefined) return { mechanism: ckm.eddsa, data: message };
  const digest = await digestOf(hashed, message);
  const saltLen = pssSaltLength(algorithm);
  if (saltLen === undefined) return ofDigest(key, hashed, digest);
  const { hashAlg, mgf } = digests[hashed];
  return { mechanism: ckm.rsaPss, pss: { hashAlg, mgf, saltLen }, data: digest };
}

/** Like `toSign`, for a digest that the caller computed: RSASSA-PKCS1-v1_5 and ECDSA. Faults: badAlgorithm. */
export function toSignDigest(
  key: Key,
  algorithm: SignatureAlgorithm,
  digest: Uint8Array,
): Scheme & { readonly data: Uint8Array } {
  const hashed = signatureHash(algorithm);
  const isPss = pssSaltLength(algorithm) !== undefined;
  if (!hashed || isPss || !signatureAlgorithmFits(algorithm, key.type)) {
    throw new Fault('badAlgorithm', `a key of type ${key.type} cannot sign a digest with ${algorithm}`);
  }
  const { octets } = digests[hashed];
  if (digest.length !== octets) {
    throw new Fault('badAlgorithm', `a ${hashed} digest has ${octets} octets, not ${digest.length}`);
  }
  return ofDigest(key, hashed, digest);
}

function ofDigest(key: Key, hashed: HashName, digest: Uint8Array) {
  const order = orders[key.type];
  // FIPS 186-5 §6.4.1: truncate to the length of the order. Not every token does that itself.
  if (order !== undefined) return { mechanism: ckm.ecdsa, data: digest.subarray(0, order) };
  // DigestInfo (RFC 8017 §9.2).
  const info = der((b) =>
    b.sequence((s) => s.sequence((a) => a.oid(oid[hashed]).null()).octetString(digest)),
  );
  return { mechanism: ckm.rsaPkcs, data: info };
}

/**
 * Converts a signature to the X.509 format: a token returns r‖s for ECDSA, but RFC 5480 §A requires a SEQUENCE. Faults:
 * internal.
 */
export function fromToken({ type }: Key, signature: Uint8Array): Uint8Array {
  const order = orders[type];
  if (order === undefined) return signature;
  if (signature.length !== 2 * order) {
    const cause = new Error(`the token made a signature of ${signature.length} octets with a ${type} key`);
    throw new Fault('internal', 'internal error', { cause });
  }
  return der((b) =>
    b.sequence((s) => s.unsigned(signature.subarray(0, order)).unsigned(signature.subarray(order))),
  );
}
