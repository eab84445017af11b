import { remembering } from '../../der/bytes.ts';
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

/** Whose key signs: that of the issuer, or of the certificate itself. */
interface Signer {
  readonly subject: Name;
  readonly key: KeyType;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
}

interface Issuer extends Signer {
  readonly certificate: Certificate;
  readonly facts: Facts;
  // Its own, and those of the CAs above it:
  readonly nameConstraints: readonly NameConstraints[];
  /** Of each that is limited to some. */
  readonly purposes: readonly (readonly string[])[];
  /** Whether it, and those above it, allow one more CA that is to issue something. */
  readonly hasRoomForCa: boolean;
}

/** What certificates of one profile and CA are alike in. */
export interface Common {
  readonly ca: boolean;
  /** Which there are, whatever they say. */
  readonly extensions: readonly Pick<Extension, 'oid' | 'critical'>[];
  readonly selfIssued: boolean;
  readonly key: KeyType;
  readonly basicConstraints: BasicConstraints | undefined;
  /** Undefined when the extension is missing. */
  readonly keyUsage: readonly KeyUsage[] | undefined;
  readonly purposes: readonly string[];
  readonly purposesCritical: boolean;
  readonly authorityKeyIdentifier: AuthorityKeyIdentifier | undefined;
  /** URIs; undefined when the extension is missing. */
  readonly crlDistributionPoints: readonly string[] | undefined;
  readonly authorityInfoAccess: AuthorityInfoAccess | undefined;
  /** As the certificate names it. */
  readonly issuerName: Name;
  /** Undefined for a certificate that is to sign itself. */
  readonly issuer: Issuer | undefined;
  readonly signer: Signer;
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
}

/** A certificate to be and its issuer, decoded once for all rules. */
export interface Draft extends Common {
  readonly tbs: OutlinedCertificate;
  readonly facts: Facts;
  /** Octets that it has; undefined when the extension is missing. */
  readonly subjectKeyIdentifier: number | undefined;
}

/** A rule, and the section that states it. It looks at nothing but what it is given. */
export interface Rule<T = Draft> {
  readonly section: string;
  /** What is wrong, if it is broken. */
  readonly finding: (of: T) => string | false | undefined;
}

const noPurposes: readonly string[] = [];
const distributionPoints = remembering(decodeCrlDistributionPoints);
const infoAccess = remembering(decodeAuthorityInfoAccess);

/** Faults: malformed for an extension that cannot be read; of `readPublicKey`. */
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
