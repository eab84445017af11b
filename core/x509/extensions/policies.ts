import { der } from '../../der/builder.ts';
import { type DerReader, readDer } from '../../der/reader.ts';
import { context, tag } from '../../der/tag.ts';
import { Fault } from '../../fault.ts';
import type { Extension } from '../extension.ts';
import { oid } from '../oids.ts';

const mostPolicies = 64;
const mostSkipped = 2 ** 32;

/** RFC 5280 §4.2.1.4. */
export interface CertificatePolicy {
  readonly oid: string;
  /** URIs of certification practice statements. */
  readonly cps?: readonly string[];
}

export function certificatePoliciesExtension(
  policies: readonly CertificatePolicy[],
  critical = false,
): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      for (const policy of policies) {
        s.sequence((p) => {
          p.oid(policy.oid);
          if (!policy.cps?.length) return;
          p.sequence((qualifiers) => {
            for (const uri of policy.cps!) {
              qualifiers.sequence((q) => q.oid(oid.cpsQualifier).string(uri, tag.ia5String));
            }
          });
        });
      }
    }),
  );
  return { oid: oid.certificatePolicies, critical, value };
}

/**
 * Decodes certificatePolicies. Each policy may occur once. Qualifiers other than CPS URIs are ignored. Faults:
 * malformed.
 */
export function decodeCertificatePolicies(value: Uint8Array): CertificatePolicy[] {
  const policies = readDer(value, (reader) => readAll(reader, readPolicy));
  if (new Set(policies.map((policy) => policy.oid)).size !== policies.length) {
    throw new Fault('malformed', 'a certificate policy occurs twice');
  }
  return policies;
}

function readPolicy(reader: DerReader): CertificatePolicy {
  const policy = reader.oid();
  if (reader.empty) return { oid: policy };
  const cps = readAll(reader, (qualifier) => {
    const isCps = qualifier.oid() === oid.cpsQualifier;
    if (isCps) return qualifier.asciiString();
    qualifier.element();
    return undefined;
  });
  return { oid: policy, cps: cps.filter((uri) => uri !== undefined) };
}

/** Reads a SEQUENCE of 1 to 64 SEQUENCEs. */
function readAll<T>(reader: DerReader, read: (item: DerReader) => T): T[] {
  const sequence = reader.sequence();
  const items: T[] = [];
  do {
    const item = sequence.sequence();
    items.push(read(item));
    item.finish();
    if (items.length > mostPolicies) throw new Fault('malformed', 'too many certificate policies');
  } while (!sequence.empty);
  return items;
}

/** RFC 5280 §4.2.1.5: OIDs. */
export interface PolicyMapping {
  readonly issuerDomainPolicy: string;
  readonly subjectDomainPolicy: string;
}

export function policyMappingsExtension(mappings: readonly PolicyMapping[]): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      for (const { issuerDomainPolicy, subjectDomainPolicy } of mappings) {
        s.sequence((m) => m.oid(issuerDomainPolicy).oid(subjectDomainPolicy));
      }
    }),
  );
  return { oid: oid.policyMappings, critical: true, value };
}

/** Faults: malformed, also for mappings from or to anyPolicy. */
export function decodePolicyMappings(value: Uint8Array): PolicyMapping[] {
  const mappings = readDer(value, (reader) =>
    readAll(reader, (mapping) => ({
      issuerDomainPolicy: mapping.oid(),
      subjectDomainPolicy: mapping.oid(),
    })),
  );
  for (const { issuerDomainPolicy, subjectDomainPolicy } of mappings) {
    if (issuerDomainPolicy === oid.anyPolicy || subjectDomainPolicy === oid.anyPolicy) {
      throw new Fault('malformed', 'anyPolicy must not be mapped');
    }
  }
  return mappings;
}

/** RFC 5280 §4.2.1.11: the number of certificates after which each constraint applies. */
export interface PolicyConstraints {
  readonly requireExplicitPolicy?: number;
  readonly inhibitPolicyMapping?: number;
}

export function policyConstraintsExtension(constraints: PolicyConstraints): Extension {
  const { requireExplicitPolicy, inhibitPolicyMapping } = constraints;
  const value = der((b) =>
    b.sequence((s) => {
      if (requireExplicitPolicy !== undefined) s.integer(requireExplicitPolicy, context(0));
      if (inhibitPolicyMapping !== undefined) s.integer(inhibitPolicyMapping, context(1));
    }),
  );
  return { oid: oid.policyConstraints, critical: true, value };
}

/** Faults: malformed. */
export function decodePolicyConstraints(value: Uint8Array): PolicyConstraints {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    if (sequence.empty) throw new Fault('malformed', 'empty policy constraints');
    const decoded = {
      ...(sequence.peek() === context(0) && {
        requireExplicitPolicy: sequence.smallInteger(mostSkipped, context(0)),
      }),
      ...(sequence.peek() === context(1) && {
        inhibitPolicyMapping: sequence.smallInteger(mostSkipped, context(1)),
      }),
    };
    sequence.finish();
    return decoded;
  });
}

/** RFC 5280 §4.2.1.14. */
export function inhibitAnyPolicyExtension(skipCertificates: number): Extension {
  return { oid: oid.inhibitAnyPolicy, critical: true, value: der((b) => b.integer(skipCertificates)) };
}

/** Faults: malformed. */
export function decodeInhibitAnyPolicy(value: Uint8Array): number {
  return readDer(value, (reader) => reader.smallInteger(mostSkipped));
}
