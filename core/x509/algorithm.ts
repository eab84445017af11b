import { der } from '../der/builder.ts';
import { type DerReader, readDer } from '../der/reader.ts';
import { contextConstructed } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { oid } from './oids.ts';

type MlDsa = 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87';

/** A type of subject key. For RSA, the number is the length of the modulus in bits. */
export type KeyType = `rsa-${number}` | 'p-256' | 'p-384' | 'p-521' | 'ed25519' | MlDsa;

export type HashName = 'sha256' | 'sha384' | 'sha512';

export type SignatureAlgorithm =
  | `rsa-pkcs1-${HashName}`
  | `rsa-pss-${HashName}`
  | `ecdsa-${HashName}`
  | 'ed25519'
  | MlDsa;

interface Scheme {
  readonly oid: string;
  /** Undefined if the scheme does its own hashing. */
  readonly hash?: HashName;
  /** Octets of salt for RSASSA-PSS: the length of the hash. */
  readonly salt?: number;
  readonly identifier: Uint8Array;
}

const bare = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which)));
const withNull = (which: string): Uint8Array => der((b) => b.sequence((s) => s.oid(which).null()));

const pkcs1 = (which: string, hash: HashName): Scheme => ({ oid: which, hash, identifier: withNull(which) });
const plain = (which: string, hash?: HashName): Scheme => ({
  oid: which,
  ...(hash && { hash }),
  identifier: bare(which),
});

/** RFC 4055 §3.1. The trailer field has its default. */
const pss = (hash: HashName, salt: number): Scheme => ({
  oid: oid.rsaPss,
  hash,
  salt,
  identifier: der((b) =>
    b.sequence((s) =>
      s.oid(oid.rsaPss).sequence((p) =>
        p
          .explicit(0, withNull(oid[hash]))
          .explicit(1, (m) => m.sequence((f) => f.oid(oid.mgf1).raw(withNull(oid[hash]))))
          .explicit(2, (n) => n.integer(salt)),
      ),
    ),
  ),
});

const schemes: Readonly<Record<SignatureAlgorithm, Scheme>> = {
  'rsa-pkcs1-sha256': pkcs1(oid.sha256WithRsa, 'sha256'),
  'rsa-pkcs1-sha384': pkcs1(oid.sha384WithRsa, 'sha384'),
  'rsa-pkcs1-sha512': pkcs1(oid.sha512WithRsa, 'sha512'),
  'rsa-pss-sha256': pss('sha256', 32),
  'rsa-pss-sha384': pss('sha384', 48),
  'rsa-pss-sha512': pss('sha512', 64),
  'ecdsa-sha256': plain(oid.ecdsaWithSha256, 'sha256'),
  'ecdsa-sha384': plain(oid.ecdsaWithSha384, 'sha384'),
  'ecdsa-sha512': plain(oid.ecdsaWithSha512, 'sha512'),
  ed25519: plain(oid.ed25519),
  'ml-dsa-44': plain(oid.mlDsa44),
  'ml-dsa-65': plain(oid.mlDsa65),
  'ml-dsa-87': plain(oid.mlDsa87),
};

export const signatureAlgorithms = Object.keys(schemes) as readonly SignatureAlgorithm[];

/** Weak algorithms that an error names, so that the operator of the client knows what to change. */
const weak: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'MD2 with RSA',
  '1.2.840.113549.1.1.4': 'MD5 with RSA',
  '1.2.840.113549.1.1.5': 'SHA-1 with RSA',
  '1.3.14.3.2.29': 'SHA-1 with RSA',
  '1.2.840.113549.1.1.14': 'SHA-224 with RSA',
  '1.2.840.10045.4.1': 'ECDSA with SHA-1',
  '1.2.840.10045.4.3.1': 'ECDSA with SHA-224',
  '1.2.840.10040.4.3': 'DSA with SHA-1',
  '2.16.840.1.101.3.4.3.2': 'DSA with SHA-256',
};

/** Consumes the AlgorithmIdentifier of a signature. Faults: malformed; badAlgorithm if it is unknown or weak. */
export function readSignatureAlgorithm(reader: DerReader): SignatureAlgorithm {
  for (const algorithm of signatureAlgorithms) {
    if (reader.takes(schemes[algorithm].identifier)) return algorithm;
  }
  return readOtherForm(reader.sequence());
}

/**
 * Reads the forms that RFC 4055 also allows: NULL may be absent for PKCS #1 signatures (§5) and for the hashes inside
 * PSS parameters (§2.1).
 */
function readOtherForm(identifier: DerReader): SignatureAlgorithm {
  const which = identifier.oid();
  if (which === oid.rsaPss) return readPssParameters(identifier);
  const known = signatureAlgorithms.find((algorithm) => schemes[algorithm].oid === which);
  if (known?.startsWith('rsa-pkcs1-') && identifier.empty) return known;
  const text = known
    ? `wrong parameters for the signature algorithm ${known}`
    : weak[which]
      ? `signatures with ${weak[which]} are not accepted`
      : `unknown signature algorithm ${which}`;
  throw new Fault('badAlgorithm', text);
}

function readPssParameters(identifier: DerReader): SignatureAlgorithm {
  const parameters = identifier.sequence();
  identifier.finish();
  const hash = parameters.optional(contextConstructed(0));
  const mask = parameters.optional(contextConstructed(1));
  const salt = parameters.optional(contextConstructed(2));
  // The defaults of absent parameters are SHA-1 and its salt length.
  if (!hash || !mask || !salt) throw new Fault('badAlgorithm', 'RSASSA-PSS with SHA-1 is not accepted');
  const hashOid = readHash(hash);
  const generator = mask.sequence();
  if (generator.oid() !== oid.mgf1 || readHash(generator) !== hashOid) {
    throw new Fault('badAlgorithm', 'RSASSA-PSS requires MGF1 with the same hash as the message');
  }
  mask.finish();
  const saltLength = salt.smallInteger(2 ** 16);
  salt.finish();
  parameters.finish();
  for (const algorithm of signatureAlgorithms) {
    const scheme = schemes[algorithm];
    if (scheme.salt === undefined || oid[scheme.hash!] !== hashOid) continue;
    if (scheme.salt !== saltLength)
      throw new Fault('badAlgorithm', 'RSASSA-PSS requires a salt of the same length as its hash');
    return algorithm;
  }
  throw new Fault('badAlgorithm', `RSASSA-PSS with unknown or weak hash ${hashOid}`);
}

function readHash(reader: DerReader): string {
  const identifier = reader.sequence();
  const which = identifier.oid();
  if (!identifier.empty) identifier.null();
  identifier.finish();
  reader.finish();
  return which;
}

/** Decodes an AlgorithmIdentifier (DER). Returns undefined if the algorithm is unknown or weak. Faults: malformed. */
export function knownSignatureAlgorithm(identifier: Uint8Array): SignatureAlgorithm | undefined {
  try {
    return readDer(identifier, readSignatureAlgorithm);
  } catch (error) {
    if (error instanceof Fault && error.code === 'badAlgorithm') return undefined;
    throw error;
  }
}

/** Returns the AlgorithmIdentifier (DER). */
export const signatureAlgorithmIdentifier = (algorithm: SignatureAlgorithm): Uint8Array =>
  schemes[algorithm].identifier;

/** Returns the hash that the caller computes, or undefined if the scheme does its own hashing (Ed25519, ML-DSA). */
export const signatureHash = (algorithm: SignatureAlgorithm): HashName | undefined => schemes[algorithm].hash;

/** Returns the octets of salt of an RSASSA-PSS algorithm; undefined for other algorithms. */
export const pssSaltLength = (algorithm: SignatureAlgorithm): number | undefined => schemes[algorithm].salt;

/** Returns whether a key of this type can sign with this algorithm. */
export function signatureAlgorithmFits(algorithm: SignatureAlgorithm, key: KeyType): boolean {
  if (key.startsWith('rsa-')) return algorithm.startsWith('rsa-');
  if (key.startsWith('p-')) return algorithm.startsWith('ecdsa-');
  return algorithm === key;
}

/** Returns the signature algorithm whose strength matches the key. */
export function defaultSignatureAlgorithm(key: KeyType): SignatureAlgorithm {
  switch (key) {
    case 'p-256':
      return 'ecdsa-sha256';
    case 'p-384':
      return 'ecdsa-sha384';
    case 'p-521':
      return 'ecdsa-sha512';
    case 'ed25519':
    case 'ml-dsa-44':
    case 'ml-dsa-65':
    case 'ml-dsa-87':
      return key;
    default:
      return Number(key.slice(4)) > 4096 ? 'rsa-pkcs1-sha512' : 'rsa-pkcs1-sha256';
  }
}
