import type { PolicyMapping } from '../extensions/policies.ts';
import { oid } from '../oids.ts';
import type { Budget } from './budget.ts';

/**
 * The valid policies at one depth of a path: each policy that the next certificate may assert, with the policies of the
 * anchor's domain that it represents. This replaces the valid_policy_tree of RFC 5280 §6.1.2, whose nodes can grow
 * exponentially (RFC 9618 §4): a node is identified by its expected policy, its ancestors by their domain policy. Empty
 * is the NULL tree.
 */
export type ValidPolicies = ReadonlyMap<string, ReadonlySet<string>>;

export const anyPolicyValid: ValidPolicies = new Map([[oid.anyPolicy, new Set([oid.anyPolicy])]]);
const noneValid: ValidPolicies = new Map();

/** Keeps the asserted policies of a certificate that were valid (RFC 5280 §6.1.3 (d) and (e)). */
export function assertPolicies(
  valid: ValidPolicies,
  asserted: readonly string[] | undefined,
  anyPolicyAllowed: boolean,
  budget: Budget,
): ValidPolicies {
  if (!asserted || valid.size === 0) return noneValid;
  budget.steps(asserted.length + valid.size);
  const next = new Map<string, ReadonlySet<string>>();
  for (const policy of asserted) {
    if (policy === oid.anyPolicy) continue;
    const origins = valid.get(policy);
    if (origins) next.set(policy, origins);
    else if (valid.has(oid.anyPolicy)) next.set(policy, new Set([policy]));
  }
  if (anyPolicyAllowed && asserted.includes(oid.anyPolicy)) {
    for (const [policy, origins] of valid) if (!next.has(policy)) next.set(policy, origins);
  }
  return next;
}

/** Applies the policy mappings of a CA (RFC 5280 §6.1.4 (b)). */
export function mapPolicies(
  valid: ValidPolicies,
  mappings: readonly PolicyMapping[],
  allowed: boolean,
  budget: Budget,
): ValidPolicies {
  budget.steps(mappings.length + valid.size);
  const mapped = new Map<string, Set<string>>();
  const add = (policy: string, origins: ReadonlySet<string>): void => {
    const others = mapped.get(policy);
    budget.steps(origins.size + (others?.size ?? 0));
    mapped.set(policy, others ? others.union(origins) : new Set(origins));
  };
  const issuerDomain = new Set(mappings.map((mapping) => mapping.issuerDomainPolicy));
  for (const [policy, origins] of valid) if (!issuerDomain.has(policy)) add(policy, origins);
  if (!allowed) return mapped;
  for (const { issuerDomainPolicy, subjectDomainPolicy } of mappings) {
    const origins = valid.get(issuerDomainPolicy);
    if (origins) add(subjectDomainPolicy, origins);
    else if (valid.has(oid.anyPolicy)) add(subjectDomainPolicy, new Set([issuerDomainPolicy]));
  }
  return mapped;
}

/** Returns the policies of the anchor's domain under which the path is valid. */
export function authorisedPolicies(valid: ValidPolicies): readonly string[] {
  const origins = new Set<string>();
  for (const each of valid.values()) for (const policy of each) origins.add(policy);
  return [...origins].sort();
}
