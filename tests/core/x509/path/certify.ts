import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import {
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
  signatureHash,
} from '#core/x509/algorithm.ts';
import {
  assembleCertificate,
  buildTbsCertificate,
  type Certificate,
  parseCertificate,
} from '#core/x509/certificate.ts';
import { addExtensions, type Extension } from '#core/x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { keyIdentifier, readPublicKey } from '#core/x509/public-key.ts';

export interface Key {
  readonly privateKey: KeyObject;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
  readonly identifier: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
}

export function keyOf(privateKey: KeyObject, publicKey: KeyObject, algorithm: SignatureAlgorithm): Key {
  const spki = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }));
  return { privateKey, spki, algorithm, identifier: identifierOf(spki) };
}

function identifierOf(spki: Uint8Array): Uint8Array {
  try {
    return keyIdentifier(readPublicKey(spki));
  } catch {
    return Uint8Array.of(1, 2, 3, 4); // of a key that Postern does not accept
  }
}

export function ecKey(namedCurve = 'P-256', algorithm: SignatureAlgorithm = 'ecdsa-sha256'): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  return keyOf(privateKey, publicKey, algorithm);
}

/** A name and a key. */
export interface Party {
  readonly name: Name;
  readonly key: Key;
}

export const party = (name: string, key: Key = ecKey()): Party => ({
  name: parseDistinguishedName(name),
  key,
});

export const noon = Date.UTC(2026, 5, 1, 12);
const year = 365 * 24 * 3600 * 1000;

export interface Order {
  readonly ca?: boolean;
  readonly pathLength?: number;
  readonly notBefore?: number;
  readonly notAfter?: number;
  /** Magnitude. */
  readonly serial?: Uint8Array;
  /** Extensions that are added, or that replace one with the same OID. */
  readonly with?: readonly Extension[];
  /** OIDs of extensions to omit. */
  readonly without?: readonly string[];
  readonly subject?: Name;
  readonly issuer?: Name;
  readonly spki?: Uint8Array;
  /** What `buildTbsCertificate` rejects or does not know. Signed with SHA-256 unless `hash` is given. */
  readonly raw?: {
    /** 0 for version 1. */
    readonly version?: number;
    /** Contents octets of the INTEGER. */
    readonly serial?: Uint8Array;
    /** AlgorithmIdentifier in DER. */
    readonly algorithm?: Uint8Array;
    readonly outerAlgorithm?: Uint8Array;
    readonly hash?: string;
    readonly extensions?: readonly Extension[];
    /** Extensions after the others; duplicates are allowed. */
    readonly more?: readonly Extension[];
    /** DER in place of Validity, and DER before the extensions. */
    readonly validity?: Uint8Array;
    readonly uniqueIdentifiers?: Uint8Array;
  };
}

let serials = 0;

/** Returns a certificate (DER) with the extensions of a conforming CA, changed by `order`. */
export function certify(subject: Party, issuer: Party, order: Order = {}): Uint8Array {
  const ca = order.ca ?? false;
  const usual = [
    basicConstraintsExtension(order.pathLength === undefined ? { ca } : { ca, pathLength: order.pathLength }),
    keyUsageExtension(ca ? ['keyCertSign', 'cRLSign'] : ['digitalSignature']),
    subjectKeyIdentifierExtension(subject.key.identifier),
    authorityKeyIdentifierExtension(issuer.key.identifier),
  ];
  const changed = new Set([...(order.with ?? []).map((one) => one.oid), ...(order.without ?? [])]);
  const template = {
    serial: order.serial ?? Uint8Array.of(0x40, 1, 2, 3, 4, 5, 6, 7, serials >> 8, serials++ & 0xff),
    signatureAlgorithm: issuer.key.algorithm,
    issuer: order.issuer ?? issuer.name,
    notBefore: order.notBefore ?? noon - year,
    notAfter: order.notAfter ?? noon + year,
    subject: order.subject ?? subject.name,
    spki: order.spki ?? subject.key.spki,
    extensions: [...usual.filter((one) => !changed.has(one.oid)), ...(order.with ?? [])],
  };
  const { raw } = order;
  if (!raw) {
    const tbs = buildTbsCertificate(template);
    return assembleCertificate(tbs, issuer.key.algorithm, signWith(issuer.key, tbs));
  }
  const algorithm = raw.algorithm ?? signatureAlgorithmIdentifier(issuer.key.algorithm);
  const tbs = der((b) =>
    b.sequence((s) => {
      if (raw.version !== 0) s.explicit(0, (v) => v.integer(raw.version ?? 2));
      if (raw.serial) s.add(0x02, raw.serial);
      else s.unsigned(template.serial);
      s.raw(algorithm).raw(template.issuer.der);
      if (raw.validity) s.raw(raw.validity);
      else s.sequence((validity) => validity.time(template.notBefore).time(template.notAfter));
      s.raw(template.subject.der).raw(template.spki);
      if (raw.uniqueIdentifiers) s.raw(raw.uniqueIdentifiers);
      const extensions = [...(raw.extensions ?? template.extensions), ...(raw.more ?? [])];
      if (extensions.length > 0) s.explicit(3, (e) => addExtensions(e, extensions));
    }),
  );
  const signature = signWith(issuer.key, tbs, raw.hash);
  return der((b) =>
    b.sequence((s) =>
      s
        .raw(tbs)
        .raw(raw.outerAlgorithm ?? algorithm)
        .bitString(signature),
    ),
  );
}

export function signWith(key: Key, data: Uint8Array, hash?: string): Uint8Array {
  const how = key.algorithm.startsWith('rsa-pss-')
    ? {
        key: key.privateKey,
        padding: 6 /* RSA_PKCS1_PSS_PADDING */,
        saltLength: -1 /* as long as the hash */,
      }
    : key.privateKey;
  return new Uint8Array(sign(hash ?? signatureHash(key.algorithm), data, how));
}

export const certificate = (subject: Party, issuer: Party, order?: Order): Certificate =>
  parseCertificate(certify(subject, issuer, order));
