import { constants, createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { p256, p384, p521 } from '@noble/curves/nist.js';
import { publicKeyOf } from '#adapters/wire/private-key.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault, toFault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { pssSaltLength, type SignatureAlgorithm, signatureHash } from '#core/x509/algorithm.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { readPublicKey } from '#core/x509/public-key.ts';

/** Signs `data` (not its digest). Returns the signature in the encoding of X.509. */
export type Sign = (algorithm: SignatureAlgorithm, data: Uint8Array) => Uint8Array | Promise<Uint8Array>;

const curves: Readonly<Record<string, typeof p256>> = { 'p-256': p256, 'p-384': p384, 'p-521': p521 };

/**
 * Signs with a key in memory (PKCS #8, DER). ECDSA is deterministic (RFC 6979), so a repeated message has identical octets and
 * the upstream recognizes it.
 */
export function signingWith(pkcs8: Uint8Array): Sign {
  const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
  const curve = curves[readPublicKey(publicKeyOf(pkcs8)).type];
  return curve ? signingOn(curve, key) : (algorithm, data) => signWith(key, algorithm, data);
}

function signingOn(curve: typeof p256, key: KeyObject): Sign {
  const scalar = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
  return (algorithm, data) => {
    const digest = createHash(signatureHash(algorithm) ?? 'sha256')
      .update(data)
      .digest();
    return curve.sign(digest, scalar, { prehash: false, lowS: false, format: 'der' });
  };
}

function signWith(key: KeyObject, algorithm: SignatureAlgorithm, data: Uint8Array): Uint8Array {
  const saltLength = pssSaltLength(algorithm);
  const how = saltLength === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  return sign(signatureHash(algorithm), data, how);
}

/** Signs with a key in a key store, found by id or label at the first use. The key must match the certificate (DER). */
export function signingIn(keys: KeyStore, idOrLabel: string, certificate: Uint8Array): Sign {
  let found: string | undefined;
  return async (algorithm, data) => {
    found ??= await keyOf(keys, idOrLabel, certificate);
    return keys.sign(found, algorithm, data);
  };
}

async function keyOf(keys: KeyStore, idOrLabel: string, certificate: Uint8Array): Promise<string> {
  try {
    const { id, spki } = await keys.publicKey(idOrLabel).then(
      (spki) => ({ id: idOrLabel, spki }),
      (error: unknown) => {
        if (!keys.find || toFault(error).code !== 'notFound') throw error;
        return keys.find(idOrLabel);
      },
    );
    if (sameBytes(spki, parseCertificate(certificate).spki)) return id;
  } catch (cause) {
    const { code, detail } = toFault(cause);
    if (code === 'internal') throw cause;
    throw new Fault('unavailable', `the key for the upstream CA: ${detail}`, { cause });
  }
  throw new Fault('unavailable', 'the key for the upstream CA does not match client_certificate');
}
