import { hasExpired } from '../../der/time.ts';
import type { Certificate } from '../certificate.ts';
import type { NameConstraints } from '../extensions/name-constraints.ts';
import { type Facts, factsOf } from '../facts.ts';
import { oid } from '../oids.ts';
import { type Budget, cost } from './budget.ts';
import { describe, type PathFailure, Refusal } from './failure.ts';
import { checkNames } from './name-constraints.ts';
import { anyPolicyValid, assertPolicies, authorisedPolicies, mapPolicies } from './policies.ts';

export interface Conditions {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** OID of an extended key usage. */
  readonly purpose?: string | undefined;
  readonly isRevoked?: ((certificate: Certificate, issuer: Certificate) => boolean) | undefined;
}

const refusal = (reason: PathFailure, certificate: Certificate, what: string): Refusal =>
  new Refusal(reason, `${describe(certificate)} ${what}`);

/**
 * Validates a path (RFC 5280 §6.1, initial policy set any-policy) whose signatures are valid and whose names chain. The
 * constraints of the anchor itself apply too (RFC 5937 §2), because a certificate is trusted only within the limits
 * that it states. Returns the policies under which the path is valid. Throws a Refusal.
 */
export function validate(
  path: readonly Certificate[],
  conditions: Conditions,
  budget: Budget,
): readonly string[] {
  budget.steps(cost.validatedCertificate * path.length);
  const above = new State(path.length - 1, budget);
  for (let i = path.length - 1; i >= 0; i--) {
    const certificate = path[i]!;
    const facts = factsOf(certificate);
    const issuer = path[i + 1];
    checkItself(certificate, facts, conditions);
    if (issuer) {
      checkIssued(certificate, issuer, conditions);
      above.admit(certificate, facts, i === 0);
    }
    if (i > 0) {
      checkMayIssue(certificate, facts);
      above.descend(certificate, facts, issuer === undefined);
    }
  }
  return above.finish(path[0]!);
}

/** Checks the requirements for every certificate, including the anchor. */
function checkItself(certificate: Certificate, facts: Facts, { time, purpose }: Conditions): void {
  // The validity period includes both ends (§4.1.2.5). The negated comparison also rejects NaN, here and in hasExpired.
  if (!(time >= certificate.notBefore)) {
    throw refusal('notYetValid', certificate, `is valid only from ${date(certificate.notBefore)}`);
  }
  if (hasExpired(certificate.notAfter, time)) {
    throw refusal('expired', certificate, `expired at ${date(certificate.notAfter)}`);
  }
  if (facts.unknownCritical) {
    throw refusal(
      'unknownCriticalExtension',
      certificate,
      `has the critical extension ${facts.unknownCritical}`,
    );
  }
  // The purposes of a CA apply to the certificates below it, as in OpenSSL, Go and NSS. §4.2.1.12 leaves this open.
  const fits =
    !purpose ||
    !facts.purposes ||
    facts.purposes.some((one) => one === purpose || one === oid.anyExtendedKeyUsage);
  if (!fits) throw refusal('purpose', certificate, `is not for the purpose ${purpose}`);
}

const date = (milliseconds: number): string => new Date(milliseconds).toISOString();

function checkIssued(certificate: Certificate, issuer: Certificate, { isRevoked }: Conditions): void {
  // §4.1.2.4: CAs without a name could not be distinguished.
  if (certificate.issuer.rdns.length === 0) throw refusal('malformed', certificate, 'names no issuer');
  // §4.1.2.2: a serial number that is not positive is an error of the CA, so the device is not rejected for it.
  if (isRevoked?.(certificate, issuer)) throw refusal('revoked', certificate, 'is revoked');
}

/** Checks that a CA may issue certificates (§6.1.4 (k) and (n)). */
function checkMayIssue(certificate: Certificate, { basicConstraints, keyUsage }: Facts): void {
  if (!basicConstraints?.ca) throw refusal('notACa', certificate, 'is not the certificate of a CA');
  if (keyUsage && !keyUsage.includes('keyCertSign')) {
    throw refusal('keyUsage', certificate, 'has a key usage that does not allow signing certificates');
  }
}

/** The state variables of §6.1.2: requirements that certificates impose on those below them. */
class State {
  readonly #budget: Budget;
  readonly #nameConstraints: NameConstraints[] = [];
  #pathLength = Number.POSITIVE_INFINITY;
  #policies = anyPolicyValid;
  /** The number of certificates after which each requirement applies. */
  #explicitPolicy: number;
  #policyMapping: number;
  #inhibitAnyPolicy: number;

  /** `length`: n, the number of certificates below the anchor. */
  constructor(length: number, budget: Budget) {
    this.#budget = budget;
    this.#explicitPolicy = length + 1;
    this.#policyMapping = length + 1;
    this.#inhibitAnyPolicy = length + 1;
  }

  /** Checks a certificate (§6.1.3 (b) to (f), and for the leaf §6.1.5 (a) and (b)). */
  admit(certificate: Certificate, facts: Facts, leaf: boolean): void {
    const exempt = facts.selfIssued && !leaf;
    if (!exempt) checkNames(facts.names, this.#nameConstraints, this.#budget);
    const anyPolicy = this.#inhibitAnyPolicy > 0 || exempt;
    this.#policies = assertPolicies(this.#policies, facts.policies, anyPolicy, this.#budget);
    this.#requirePolicy(certificate);
    if (leaf && facts.policyConstraints.requireExplicitPolicy === 0) this.#explicitPolicy = 0;
    else if (leaf) this.#explicitPolicy = decrement(this.#explicitPolicy);
  }

  /** Prepares for the certificate below a CA (§6.1.4). Policies and mappings of an anchor are ignored. */
  descend(certificate: Certificate, facts: Facts, anchor: boolean): void {
    const { basicConstraints, nameConstraints, policyConstraints } = facts;
    if (!anchor && facts.policyMappings.length > 0) {
      const allowed = this.#policyMapping > 0;
      this.#policies = mapPolicies(this.#policies, facts.policyMappings, allowed, this.#budget);
    }
    if (nameConstraints) this.#nameConstraints.push(nameConstraints);
    if (!anchor && !facts.selfIssued) {
      this.#explicitPolicy = decrement(this.#explicitPolicy);
      this.#policyMapping = decrement(this.#policyMapping);
      this.#inhibitAnyPolicy = decrement(this.#inhibitAnyPolicy);
      if (this.#pathLength <= 0)
        throw refusal('pathTooLong', certificate, 'is one CA more than the path lengths above it allow');
      this.#pathLength--;
    }
    this.#explicitPolicy = lower(this.#explicitPolicy, policyConstraints.requireExplicitPolicy);
    this.#policyMapping = lower(this.#policyMapping, policyConstraints.inhibitPolicyMapping);
    this.#inhibitAnyPolicy = lower(this.#inhibitAnyPolicy, facts.inhibitAnyPolicy);
    this.#pathLength = lower(this.#pathLength, basicConstraints?.pathLength);
  }

  /** Returns the policies of the path (§6.1.5 (g)). */
  finish(leaf: Certificate): readonly string[] {
    this.#requirePolicy(leaf);
    return authorisedPolicies(this.#policies);
  }

  #requirePolicy(certificate: Certificate): void {
    if (this.#explicitPolicy > 0 || this.#policies.size > 0) return;
    throw refusal(
      'policy',
      certificate,
      'has no policy that the CAs above allow, although one of them requires a policy',
    );
  }
}

const decrement = (count: number): number => Math.max(0, count - 1);
const lower = (count: number, limit: number | undefined): number => Math.min(count, limit ?? count);
