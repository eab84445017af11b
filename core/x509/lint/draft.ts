import { cachingLast } from '../../der/bytes.ts';
import type { KeyType, SignatureAlgorithm } from '../algorithm.ts';
import { hasRoom } from '../ca-chain.ts';
import {
  authorityKeyIdentifierOf,
  type Certificate,
  decoded,
  extension,
  type OutlinedCertificate,
  subjectKeyIdentifierOf,
} from '../certificate.ts';
import type { Extension } from '../extension.ts';
import { type AuthorityKeyIdentifier, subjectKeyIdentifierLength } from '../extensions/identity.ts';
import {
  type AuthorityInfoAccess,
  decodeAuthorityInfoAccess,
  decodeCrlDistributionPoints,
} from '../extensions/locations.ts';
import type { NameConstraints } from '../extensions/name-constraints.ts';
import type { BasicConstraints, KeyUsage } from '../extensions/usage.ts';
import { type Facts, factsOf, readFacts } from '../facts.ts';
import type { Name } from '../name.ts';
import { oid } from '../oids.ts';
import type { PublicKey } from '../public-key.ts';

/** The holder of the signing key: the issuer, or the certificate itself if it is self-signed. */
interface Signer {
  readonly subject: Name;
  readonly key: KeyType;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
}

interface Issuer extends Signer {
  readonly certificate: Certificate;
  readonly facts: Facts;
  // Of the CA itself and of the CAs above it:
  readonly nameConstraints: readonly NameConstraints[];
  /** The purposes of each CA that has a list of them. */
  readonly purposes: readonly (readonly string[])[];
  /** Whether the path lengths of the CA and of those above it allow one more CA that issues certificates. */
  readonly hasRoomForCa: boolean;
}

/** The parts that certificates of one profile and CA have in common. */
export interface Common {
  readonly ca: boolean;
  /** The extensions without their values. */
  readonly extensions: readonly Pick<Extension, 'oid' | 'critical'>[];
  readonly selfIssued: boolean;
  readonly key: KeyType;
  readonly basicConstraints: BasicConstraints | undefined;
  /** Undefined if the extension is absent. */
  readonly keyUsage: readonly KeyUsage[] | undefined;
  readonly purposes: readonly string[];
  readonly purposesCritical: boolean;
  readonly authorityKeyIdentifier: AuthorityKeyIdentifier | undefined;
  /** URIs; undefined if the extension is absent. */
  readonly crlDistributionPoints: readonly string[] | undefined;
  readonly authorityInfoAccess: AuthorityInfoAccess | undefined;
  /** The issuer name in the certificate. */
  readonly issuerName: Name;
  /** Undefined for a self-signed certificate. */
  readonly issuer: Issuer | undefined;
  readonly signer: Signer;
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
}

/** A certificate before it is signed, and its issuer, decoded once for all rules. */
export interface Draft extends Common {
  readonly tbs: OutlinedCertificate;
  readonly facts: Facts;
  /** Number of octets; undefined if the extension is absent. */
  readonly subjectKeyIdentifier: number | undefined;
}

/** A rule and the section that states it. A rule depends only on its argument. */
export interface Rule<T = Draft> {
  readonly section: string;
  /** Returns the violation, or a falsy value. */
  readonly finding: (of: T) => string | false | undefined;
}

const noPurposes: readonly string[] = [];
const distributionPoints = cachingLast(decodeCrlDistributionPoints);
const infoAccess = cachingLast(decodeAuthorityInfoAccess);

/** Decodes a certificate for the rules. Faults: malformed for an invalid extension; those of `readPublicKey`. */
export function readDraft(
  tbs: OutlinedCertificate,
  certificate: Certificate | undefined,
  above: readonly Certificate[],
  key: PublicKey | undefined,
): Draft {
  const facts = readFacts(tbs, key);
  const issuer = certificate && readIssuer(certificate, above);
  return {
    tbs,
    facts,
    subjectKeyIdentifier: decoded(tbs, oid.subjectKeyIdentifier, subjectKeyIdentifierLength),
    ca: facts.basicConstraints?.ca ?? false,
    extensions: tbs.extensions,
    selfIssued: facts.selfIssued,
    key: facts.key.type,
    basicConstraints: facts.basicConstraints,
    keyUsage: facts.keyUsage,
    purposes: facts.purposes ?? noPurposes,
    purposesCritical: extension(tbs, oid.extendedKeyUsage)?.critical ?? false,
    authorityKeyIdentifier: authorityKeyIdentifierOf(tbs),
    crlDistributionPoints: decoded(tbs, oid.crlDistributionPoints, distributionPoints),
    authorityInfoAccess: decoded(tbs, oid.authorityInfoAccess, infoAccess),
    issuerName: tbs.issuer,
    issuer,
    signer: issuer ?? signerOf(tbs, facts),
    signatureAlgorithm: tbs.signatureAlgorithm,
  };
}

const signerOf = (certificate: OutlinedCertificate, { key }: Facts): Signer => ({
  subject: certificate.subject,
  key: key.type,
  subjectKeyIdentifier: subjectKeyIdentifierOf(certificate),
});

const issuers = new WeakMap<Certificate, Issuer>();

function readIssuer(certificate: Certificate, above: readonly Certificate[]): Issuer {
  let issuer = issuers.get(certificate);
  if (!issuer) {
    const facts = factsOf(certificate);
    const chain = [certificate, ...above];
    issuer = {
      ...signerOf(certificate, facts),
      certificate,
      facts,
      nameConstraints: chain.flatMap((one) => factsOf(one).nameConstraints ?? []),
      purposes: chain.flatMap((one) => {
        const { purposes } = factsOf(one);
        return purposes && !purposes.includes(oid.anyExtendedKeyUsage) ? [purposes] : [];
      }),
      hasRoomForCa: hasRoom(chain, 1),
    };
    issuers.set(certificate, issuer);
  }
  return issuer;
}
