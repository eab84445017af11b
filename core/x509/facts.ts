import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import {
  basicConstraintsOf,
  type Certificate,
  decoded,
  extendedKeyUsageOf,
  keyUsageOf,
  type OutlinedCertificate,
  parseCertificate,
  subjectAltNamesOf,
} from './certificate.ts';
import type { Extension } from './extension.ts';
import { decodeNameConstraints, type NameConstraints } from './extensions/name-constraints.ts';
import {
  decodeCertificatePolicies,
  decodeInhibitAnyPolicy,
  decodePolicyConstraints,
  decodePolicyMappings,
  type PolicyConstraints,
  type PolicyMapping,
} from './extensions/policies.ts';
import type { BasicConstraints, KeyUsage } from './extensions/usage.ts';
import type { GeneralName } from './general-name.ts';
import { formatDistinguishedName, type Name, sameName } from './name.ts';
import { oid } from './oids.ts';
import { type PublicKey, readPublicKey } from './public-key.ts';

/** The decoded parts of a certificate that path validation and lint use. */
export interface Facts {
  readonly key: PublicKey;
  readonly selfIssued: boolean;
  readonly basicConstraints: BasicConstraints | undefined;
  readonly keyUsage: readonly KeyUsage[] | undefined;
  readonly purposes: readonly string[] | undefined;
  readonly altNames: readonly GeneralName[];
  /** All names that name constraints apply to: the subject and the alternative names. */
  readonly names: readonly GeneralName[];
  readonly nameConstraints: NameConstraints | undefined;
  /** OIDs. */
  readonly policies: readonly string[] | undefined;
  readonly policyMappings: readonly PolicyMapping[];
  readonly policyConstraints: PolicyConstraints;
  readonly inhibitAnyPolicy: number | undefined;
  /** The OID of a critical extension that Postern does not process. */
  readonly unknownCritical: string | undefined;
}

/** The extensions that validation processes, or leaves to the revocation check of the caller. */
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

const known = new WeakMap<OutlinedCertificate, Facts>();

/** Like `readFacts`, but decodes each certificate once. */
export function factsOf(certificate: OutlinedCertificate): Facts {
  let facts = known.get(certificate);
  if (!facts) {
    facts = readFacts(certificate);
    known.set(certificate, facts);
  }
  return facts;
}

/**
 * Decodes the facts of a certificate. `key`: its public key if it has been read already. Faults: malformed if an
 * extension cannot be read; malformed and badAlgorithm of `readPublicKey`.
 */
export function readFacts(certificate: OutlinedCertificate, key = readPublicKey(certificate.spki)): Facts {
  const altNames = subjectAltNamesOf(certificate);
  return {
    key,
    selfIssued: sameName(certificate.subject, certificate.issuer),
    basicConstraints: basicConstraintsOf(certificate),
    keyUsage: keyUsageOf(certificate),
    purposes: extendedKeyUsageOf(certificate),
    altNames,
    names: constrainedNames(certificate.subject, altNames),
    nameConstraints: decoded(certificate, oid.nameConstraints, decodeNameConstraints),
    policies: decoded(certificate, oid.certificatePolicies, decodeCertificatePolicies)?.map(
      (policy) => policy.oid,
    ),
    policyMappings: decoded(certificate, oid.policyMappings, decodePolicyMappings) ?? noMappings,
    policyConstraints: decoded(certificate, oid.policyConstraints, decodePolicyConstraints) ?? unconstrained,
    inhibitAnyPolicy: decoded(certificate, oid.inhibitAnyPolicy, decodeInhibitAnyPolicy),
    unknownCritical: unknownCritical(certificate.extensions),
  };
}

const noMappings: readonly PolicyMapping[] = [];
const unconstrained: PolicyConstraints = {};

function constrainedNames(subject: Name, altNames: readonly GeneralName[]): readonly GeneralName[] {
  const names: GeneralName[] = [];
  // RFC 5280 §4.2.1.10: constraints on directory names apply to the subject, those on email addresses to its
  // emailAddress attributes.
  if (subject.rdns.length > 0) names.push({ kind: 'directory', value: subject });
  for (const rdn of subject.rdns) {
    for (const { type, value } of rdn) if (type === oid.emailAddress) names.push({ kind: 'email', value });
  }
  for (const name of altNames) {
    names.push(name);
    // RFC 9598 §6: constraints on email addresses also apply to internationalised addresses.
    if (name.kind === 'otherName' && name.type === oid.smtpUtf8Mailbox)
      names.push({ kind: 'email', value: readDer(name.value, (reader) => reader.utf8String()) });
  }
  return names;
}

function unknownCritical(extensions: readonly Extension[]): string | undefined {
  for (const { critical, oid: type } of extensions) if (critical && !processed.has(type)) return type;
  return undefined;
}

/** Decodes a certificate and checks that its names can be formatted and compared. Faults: malformed. */
export function readCertificate(der: Uint8Array): Certificate {
  const certificate = parseCertificate(der);
  formatDistinguishedName(certificate.subject);
  formatDistinguishedName(certificate.issuer);
  return certificate;
}

/**
 * Returns the result of `read`. Called before a record is stored, to prove that it can be loaded again: every failure
 * is reported as an error of the input. Faults: malformed with `field`.
 */
export function proven<T>(field: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const detail = cause instanceof Fault && cause.code !== 'internal' ? cause.detail : 'this cannot be read';
    throw new Fault('malformed', detail, { field, cause });
  }
}
