import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import {
  type ApprovalOperation,
  type ApprovalPolicy,
  type ApprovalProtocol,
  approvalDecisions,
  usualPolicy,
} from '../records/approval-policy.ts';
import type { CertificateProfile, Domain } from '../records/domain.ts';

/** The request, as approval policies see it. */
export interface PolicyContext {
  readonly operation: ApprovalOperation;
  readonly protocol: ApprovalProtocol;
  readonly domain: Pick<Domain, 'id' | 'uniqueName'>;
  /** Undefined for the revocation of a certificate whose profile was deleted. */
  readonly profile: Pick<CertificateProfile, 'id' | 'uniqueName'> | undefined;
  readonly device: { readonly id: number; readonly commonName: string } | undefined;
}

export interface LoadedPolicy {
  readonly record: ApprovalPolicy;
  /** Returns whether the policy applies to a device with this common name. */
  matchesDevice(commonName: string): boolean;
}

/**
 * Returns the first matching policy, or undefined if the request needs no approval. `policies` in order, see `inOrder`.
 */
export function ruleFor(
  policies: readonly LoadedPolicy[],
  policyContext: PolicyContext,
): ApprovalPolicy | undefined {
  for (const policy of policies) if (matches(policy, policyContext)) return policy.record;
  return undefined;
}

function matches({ record, matchesDevice }: LoadedPolicy, policyContext: PolicyContext): boolean {
  const { isActive, protocols, operations, domain, profile, device, devicePattern } = record;
  return (
    isActive &&
    (protocols.length === 0 || protocols.includes(policyContext.protocol)) &&
    (operations.length === 0 || operations.includes(policyContext.operation)) &&
    (domain === null || domain === policyContext.domain.id) &&
    (profile === null || profile === policyContext.profile?.id) &&
    (device === null || device === policyContext.device?.id) &&
    (devicePattern === null ||
      (policyContext.device !== undefined && matchesDevice(policyContext.device.commonName)))
  );
}

export const inOrder = (a: LoadedPolicy, b: LoadedPolicy): number =>
  a.record.priority - b.record.priority || a.record.id - b.record.id;

/** Loads a policy. Faults: malformed. */
export function loadPolicy({ patterns }: Pick<Ports, 'patterns'>, record: ApprovalPolicy): LoadedPolicy {
  const { devicePattern, decision, protocols, operations } = record;
  if (!isListOfText(protocols)) throw new Fault('malformed', 'the list of its protocols is damaged');
  if (!isListOfText(operations)) throw new Fault('malformed', 'the list of its operations is damaged');
  if (!approvalDecisions.includes(decision)) throw new Fault('malformed', 'the decision is unknown');
  return {
    record,
    matchesDevice: devicePattern === null ? () => true : patterns.compile(devicePattern),
  };
}

/**
 * Replaces a policy that cannot be loaded, so that nothing is issued that it would have prevented: it matches as widely
 * as its readable part permits, and an unreadable decision counts as a denial. Returns undefined for a policy that
 * approves automatically.
 */
export function strictestReading(
  { patterns }: Pick<Ports, 'patterns'>,
  record: Partial<ApprovalPolicy> & Pick<ApprovalPolicy, 'id' | 'uniqueName'>,
): LoadedPolicy | undefined {
  const { protocols = [], operations = [], decision = 'deny' } = record;
  if (decision === 'automatic') return undefined;
  const widest: ApprovalPolicy = {
    ...usualPolicy,
    createdAt: 0,
    ...record,
    protocols: isListOfText(protocols) ? protocols : [],
    operations: isListOfText(operations) ? operations : [],
    decision: approvalDecisions.includes(decision) ? decision : 'deny',
  };
  try {
    return loadPolicy({ patterns }, widest);
  } catch {
    return { record: { ...widest, devicePattern: null }, matchesDevice: () => true };
  }
}

export const isListOfText = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
