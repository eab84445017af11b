import type { KeyType } from '../algorithm.ts';
import {
  authorityKeyIdentifierOf,
  type Certificate,
  decoded,
  extension,
  subjectKeyIdentifierOf,
  type TbsCertificate,
} from '../certificate.ts';
import type { Extension } from '../extension.ts';
import type { AuthorityKeyIdentifier } from '../extensions/identity.ts';
import {
  type AuthorityInfoAccess,
  decodeAuthorityInfoAccess,
  decodeCrlDistributionPoints,
} from '../extensions/locations.ts';
import type { BasicConstraints, KeyUsage } from '../extensions/usage.ts';
import { type Facts, factsOf, readFacts } from '../facts.ts';
import { oid } from '../oids.ts';
import type { PublicKey } from '../public-key.ts';
import { remembering } from '../remembering.ts';

/** Which extensions a certificate has, whatever they say. */
export interface Form {
  readonly ca: boolean;
  readonly extensions: readonly Pick<Extension, 'oid' | 'critical'>[];
}

/** What a certificate is for. */
export interface Use {
  readonly ca: boolean;
  readonly selfIssued: boolean;
  readonly key: KeyType;
  readonly basicConstraints: BasicConstraints | undefined;
  /** Undefined when the extension is missing. */
  readonly keyUsage: readonly KeyUsage[] | undefined;
  readonly purposes: readonly string[];
  readonly purposesCritical: boolean;
  readonly issuer: Issuer | undefined;
}

/** A certificate to be and its issuer, decoded once for all rules. */
export interface Draft {
  readonly tbs: TbsCertificate;
  readonly facts: Facts;
  readonly ca: boolean;
  readonly form: Form;
  readonly use: Use;
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
  tbs: TbsCertificate,
  issuer: Certificate | undefined,
  key: PublicKey | undefined,
): Draft {
  const facts = readFacts(tbs, key);
  const known = issuer && readIssuer(issuer);
  const ca = facts.basicConstraints?.ca ?? false;
  return {
    tbs,
    facts,
    ca,
    form: { ca, extensions: tbs.extensions },
    use: {
      ca,
      selfIssued: facts.selfIssued,
      key: facts.key.type,
      basicConstraints: facts.basicConstraints,
      keyUsage: facts.keyUsage,
      purposes: facts.purposes ?? noPurposes,
      purposesCritical: extension(tbs, oid.extendedKeyUsage)?.critical ?? false,
      issuer: known,
    },
    subjectKeyIdentifier: subjectKeyIdentifierOf(tbs),
    authorityKeyIdentifier: authorityKeyIdentifierOf(tbs),
    crlDistributionPoints: decoded(tbs, oid.crlDistributionPoints, distributionPoints),
    authorityInfoAccess: decoded(tbs, oid.authorityInfoAccess, infoAccess),
    issuer: known,
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
