import {
  basicConstraintsOf,
  type Certificate,
  extendedKeyUsageOf,
  extension,
  keyUsageOf,
  subjectAltNamesOf,
} from '../certificate.ts';
import { decodeNameConstraints, type NameConstraints } from '../extensions/name-constraints.ts';
import {
  decodeCertificatePolicies,
  decodeInhibitAnyPolicy,
  decodePolicyConstraints,
  decodePolicyMappings,
  type PolicyConstraints,
  type PolicyMapping,
} from '../extensions/policies.ts';
import type { BasicConstraints, KeyUsage } from '../extensions/usage.ts';
import type { GeneralName } from '../general-name.ts';
import { type Name, sameName } from '../name.ts';
import { oid } from '../oids.ts';
import { type PublicKey, readPublicKey } from '../public-key.ts';
import { toRefusal } from './failure.ts';

/** What validation asks of a certificate, decoded. */
export interface Facts {
  readonly key: PublicKey;
  readonly selfIssued: boolean;
  readonly basicConstraints: BasicConstraints | undefined;
  readonly keyUsage: readonly KeyUsage[] | undefined;
  readonly purposes: readonly string[] | undefined;
  /** All names that name constraints bear on: of the subject and alternative ones. */
  readonly names: readonly GeneralName[];
  readonly nameConstraints: NameConstraints | undefined;
  /** OIDs. */
  readonly policies: readonly string[] | undefined;
  readonly policyMappings: readonly PolicyMapping[];
  readonly policyConstraints: PolicyConstraints;
  readonly inhibitAnyPolicy: number | undefined;
  /** OID of a critical extension that nothing here processes. */
  readonly unknownCritical: string | undefined;
}

/** The extensions that validation processes or, like the CRL's address, leaves to the caller's revocation check. */
const processed: ReadonlySet<string> = new Set([
  oid.basicConstraints,
  oid.keyUsage,
  oid.extendedKeyUsage,
  oid.subjectAltName,
  oid.nameConstraints,
  oid.certificatePolicies,
  oid.policyMappings,
  oid.policyConstraints,
  oid.inhibitAnyPolicy,
  oid.crlDistributionPoints,
]);

const known = new WeakMap<Certificate, Facts>();

/** Throws a Refusal when an extension cannot be read, or the key is not of an accepted kind. */
export function factsOf(certificate: Certificate): Facts {
  let facts = known.get(certificate);
  if (!facts) {
    try {
      facts = gather(certificate);
    } catch (error) {
      throw toRefusal(error, certificate);
    }
    known.set(certificate, facts);
  }
  return facts;
}

function gather(certificate: Certificate): Facts {
  const decode = <T>(which: string, decoder: (value: Uint8Array) => T): T | undefined => {
    const found = extension(certificate, which);
    return found && decoder(found.value);
  };
  return {
    key: readPublicKey(certificate.spki),
    selfIssued: sameName(certificate.subject, certificate.issuer),
    basicConstraints: basicConstraintsOf(certificate),
    keyUsage: keyUsageOf(certificate),
    purposes: extendedKeyUsageOf(certificate),
    names: [...namesOfSubject(certificate.subject), ...subjectAltNamesOf(certificate)],
    nameConstraints: decode(oid.nameConstraints, decodeNameConstraints),
    policies: decode(oid.certificatePolicies, decodeCertificatePolicies)?.map((policy) => policy.oid),
    policyMappings: decode(oid.policyMappings, decodePolicyMappings) ?? [],
    policyConstraints: decode(oid.policyConstraints, decodePolicyConstraints) ?? {},
    inhibitAnyPolicy: decode(oid.inhibitAnyPolicy, decodeInhibitAnyPolicy),
    unknownCritical: certificate.extensions.find((one) => one.critical && !processed.has(one.oid))?.oid,
  };
}

/** RFC 5280 §4.2.1.10: the subject is a directory name, and its email addresses are email addresses. */
function namesOfSubject(subject: Name): GeneralName[] {
  if (subject.rdns.length === 0) return [];
  const emails = subject.rdns.flat().filter((attribute) => attribute.type === oid.emailAddress);
  return [
    { kind: 'directory', value: subject },
    ...emails.map((attribute) => ({ kind: 'email' as const, value: attribute.value })),
  ];
}
