import {
  authorityKeyIdentifierOf,
  type Certificate,
  extension,
  subjectKeyIdentifierOf,
  type TbsCertificate,
} from '../certificate.ts';
import type { AuthorityKeyIdentifier } from '../extensions/identity.ts';
import {
  type AuthorityInfoAccess,
  decodeAuthorityInfoAccess,
  decodeCrlDistributionPoints,
} from '../extensions/locations.ts';
import type { KeyUsage } from '../extensions/usage.ts';
import { type Facts, factsOf, readFacts } from '../facts.ts';
import { oid } from '../oids.ts';
import type { PublicKey } from '../public-key.ts';
import { remembering } from '../remembering.ts';

/** A certificate to be and its issuer, decoded once for all rules. */
export interface Draft {
  readonly tbs: TbsCertificate;
  readonly facts: Facts;
  readonly ca: boolean;
  readonly keyUsage: readonly KeyUsage[];
  readonly purposes: readonly string[];
  readonly subjectKeyIdentifier: Uint8Array | undefined;
  readonly authorityKeyIdentifier: AuthorityKeyIdentifier | undefined;
  /** URIs; undefined when the extension is missing. */
  readonly crlDistributionPoints: readonly string[] | undefined;
  readonly authorityInfoAccess: AuthorityInfoAccess | undefined;
  /** Undefined for a certificate that is to sign itself. */
  readonly issuer: Issuer | undefined;
}

interface Issuer {
  readonly certificate: Certificate;
  readonly facts: Facts;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
}

/** A rule, and the section that states it. */
export interface Rule {
  readonly section: string;
  /** What is wrong, if it is broken. */
  readonly finding: (draft: Draft) => string | false | undefined;
}

const distributionPoints = remembering(decodeCrlDistributionPoints);
const infoAccess = remembering(decodeAuthorityInfoAccess);

/** Faults: malformed for an extension that cannot be read; of `readPublicKey`. */
export function readDraft(
  tbs: TbsCertificate,
  issuer: Certificate | undefined,
  key: PublicKey | undefined,
): Draft {
  const facts = readFacts(tbs, key);
  const crlDistributionPoints = extension(tbs, oid.crlDistributionPoints);
  const authorityInfoAccess = extension(tbs, oid.authorityInfoAccess);
  return {
    tbs,
    facts,
    ca: facts.basicConstraints?.ca ?? false,
    keyUsage: facts.keyUsage ?? [],
    purposes: facts.purposes ?? [],
    subjectKeyIdentifier: subjectKeyIdentifierOf(tbs),
    authorityKeyIdentifier: authorityKeyIdentifierOf(tbs),
    crlDistributionPoints: crlDistributionPoints && distributionPoints(crlDistributionPoints.value),
    authorityInfoAccess: authorityInfoAccess && infoAccess(authorityInfoAccess.value),
    issuer: issuer && readIssuer(issuer),
  };
}

const issuers = new WeakMap<Certificate, Issuer>();

function readIssuer(certificate: Certificate): Issuer {
  let issuer = issuers.get(certificate);
  if (!issuer) {
    const subjectKeyIdentifier = subjectKeyIdentifierOf(certificate);
    issuer = { certificate, facts: factsOf(certificate), subjectKeyIdentifier };
    issuers.set(certificate, issuer);
  }
  return issuer;
}
