import { timingSafeEqual } from 'node:crypto';
import { readDer } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import {
  readSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
} from '#core/x509/algorithm.ts';
import { type PublicKey, verifySignature } from '#core/x509/public-key.ts';
import { computeMac, type MacParameters, macAlgorithm, readMacAlgorithm } from './mac.ts';
import type { Protector, SealedPkiMessage } from './message.ts';

/** The protection that a message states. */
export type Protection =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'mac';
      readonly parameters: MacParameters;
      /** Returns whether the MAC was computed with this secret. Compares in constant time. */
      verify(secret: Uint8Array): boolean | Promise<boolean>;
    }
  | {
      readonly kind: 'signature';
      readonly algorithm: SignatureAlgorithm;
      /** Returns whether the signature verifies with this key. */
      verify(key: PublicKey): boolean;
    };

/**
 * Returns the protection of a message by its protectionAlg (RFC 9810 §5.1.3) without computing anything yet. Faults:
 * malformed, also for protectionAlg without protection and the reverse; badAlgorithm for an unknown or weak algorithm,
 * and for a MAC that is too expensive.
 */
export function readProtection(message: SealedPkiMessage): Protection {
  const { protection } = message;
  const identifier = message.header.protectionAlg;
  if (!protection && !identifier) return { kind: 'none' };
  if (!protection || !identifier) {
    throw new Fault(
      'malformed',
      'CMP: protectionAlg and protection must either both be present or both be absent',
    );
  }
  const parameters = readMacAlgorithm(identifier);
  if (parameters) {
    return {
      kind: 'mac',
      parameters,
      verify(secret) {
        const mac = computeMac(parameters, secret, message.protectedPart());
        return mac instanceof Promise
          ? mac.then((computed) => sameSecret(computed, protection))
          : sameSecret(mac, protection);
      },
    };
  }
  const algorithm = readDer(identifier, readSignatureAlgorithm);
  return {
    kind: 'signature',
    algorithm,
    verify: (key) => verifySignature(key, algorithm, message.protectedPart(), protection),
  };
}

const sameSecret = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b);

/** Protects with a shared secret and the parameters of `like`, except for a new salt (RFC 9483 §3.2). */
export function macProtection(
  secret: Uint8Array,
  like: MacParameters,
  random: (octets: number) => Uint8Array,
): Protector {
  const parameters = { ...like, salt: random(16) };
  return {
    algorithm: macAlgorithm(parameters),
    protect: (protectedPart) => computeMac(parameters, secret, protectedPart),
  };
}

/** Protects with a signature. `sign` returns it as encoded in X.509 (ECDSA: DER). */
export function signatureProtection(
  algorithm: SignatureAlgorithm,
  sign: (data: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): Protector {
  return { algorithm: signatureAlgorithmIdentifier(algorithm), protect: sign };
}
