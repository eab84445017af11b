import { constants, privateEncrypt } from 'node:crypto';
import { p256, p384, p521 } from '@noble/curves/nist.js';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { type SignatureAlgorithm, signatureAlgorithmFits, signatureHash } from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import type { PrivateKey } from './private-key.ts';

const octets = { sha256: 32, sha384: 48, sha512: 64 } as const;

/**
 * Signs a digest that the caller computed: RSASSA-PKCS1-v1_5 (RFC 8017 §9.2, from step 2) and ECDSA (DER). Faults:
 * badAlgorithm for other algorithms and for a digest of another length.
 */
export function signDigestWith(
  key: PrivateKey,
  algorithm: SignatureAlgorithm,
  digest: Uint8Array,
): Uint8Array {
  const hash = signatureHash(algorithm);
  if (!hash || algorithm.startsWith('rsa-pss-') || !signatureAlgorithmFits(algorithm, key.type)) {
    throw new Fault('badAlgorithm', `a key of type ${key.type} cannot sign a digest with ${algorithm}`);
  }
  if (digest.length !== octets[hash]) {
    throw new Fault('badAlgorithm', `a ${hash} digest has ${octets[hash]} octets, not ${digest.length}`);
  }
  if (!algorithm.startsWith('rsa-')) return signWithCurve(key, digest);
  const info = der((b) => b.sequence((s) => s.sequence((a) => a.oid(oid[hash]).null()).octetString(digest)));
  return privateEncrypt({ key: key.key, padding: constants.RSA_PKCS1_PADDING }, info);
}

const curves: Readonly<Record<string, typeof p256>> = { 'p-256': p256, 'p-384': p384, 'p-521': p521 };

/** Signs with another library, because node:crypto always hashes what it signs with ECDSA. */
function signWithCurve({ type, key }: PrivateKey, digest: Uint8Array): Uint8Array {
  const scalar = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
  try {
    // The nonce is derived from the key, the digest and fresh randomness (RFC 6979 §3.6).
    return curves[type]!.sign(digest, scalar, {
      prehash: false,
      lowS: false,
      format: 'der',
      extraEntropy: true,
    });
  } finally {
    scalar.fill(0);
  }
}
