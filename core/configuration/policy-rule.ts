import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ApprovalOperation, ApprovalPolicy, ApprovalProtocol } from '../records/approval-policy.ts';
import type { Domain } from '../records/domain.ts';
import type { CertificateProfile } from '../records/profile.ts';

/** What is asked for, as policies see it. */
export interface Matter {
  readonly operation: ApprovalOperation;
  readonly protocol: ApprovalProtocol;
  readonly domain: Pick<Domain, 'id' | 'uniqueName'>;
  /** Undefined for a revocation of a certificate whose profile is gone. */
  readonly profile: Pick<CertificateProfile, 'id' | 'uniqueName'> | undefined;
  readonly device: { readonly id: number; readonly commonName: string } | undefined;
}

export interface LoadedPolicy {
  readonly record: ApprovalPolicy;
  /** Whether a device's common name is one that it is about. */
  matchesDevice(commonName: string): boolean;
}

/** The policy that decides: the first that matches. `policies` in order, see `inOrder`. Undefined: nobody has to be asked. */
export function ruleFor(policies: readonly LoadedPolicy[], matter: Matter): ApprovalPolicy | undefined {
  for (const policy of policies) if (matches(policy, matter)) return policy.record;
  return undefined;
}

function matches({ record, matchesDevice }: LoadedPolicy, matter: Matter): boolean {
  const { isActive, protocols, operations, domain, profile, device, devicePattern } = record;
  return (
    isActive &&
    (protocols.length === 0 || protocols.includes(matter.protocol)) &&
    (operations.length === 0 || operations.includes(matter.operation)) &&
    (domain === null || domain === matter.domain.id) &&
    (profile === null || profile === matter.profile?.id) &&
    (device === null || device === matter.device?.id) &&
    (devicePattern === null || (matter.device !== undefined && matchesDevice(matter.device.commonName)))
  );
}

export const inOrder = (a: LoadedPolicy, b: LoadedPolicy): number =>
  a.record.priority - b.record.priority || a.record.id - b.record.id;

/** Ready to be asked. One whose pattern is not understood is not passed over, unless it would let everything pass. */
export function loadPolicy(context: Pick<Ports, 'patterns' | 'log'>, record: ApprovalPolicy): LoadedPolicy {
  const { devicePattern, decision, uniqueName } = record;
  if (devicePattern === null) return { record, matchesDevice: () => true };
  try {
    return { record, matchesDevice: context.patterns.compile(devicePattern) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    context.log.error('the pattern of an approval policy cannot be used', error, { policy: uniqueName });
    return { record, matchesDevice: () => decision !== 'automatic' };
  }
}
