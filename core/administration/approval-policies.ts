import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { atField, Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { type ApprovalPolicy, usualPolicy } from '../records/approval-policy.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'patterns' | 'store'>, WithConfiguration {}

/** Absent fields and null do not narrow the policy. */
export type ApprovalPolicyInput = Pick<ApprovalPolicy, 'uniqueName' | 'decision'> &
  Partial<Omit<ApprovalPolicy, 'id' | 'createdAt'>>;

export function approvalPolicies(
  context: Dependencies,
): Resource<'approvalPolicy', ApprovalPolicyInput, ApprovalPolicy> {
  const check = async ({ profile, devicePattern }: Partial<ApprovalPolicyInput>): Promise<void> => {
    if (profile != null && !(await context.store.get('profile', profile))) {
      throw new Fault('malformed', 'there is no such certificate profile', { field: 'certProfile' });
    }
    if (devicePattern == null) return;
    try {
      context.patterns.compile(devicePattern);
    } catch (error) {
      throw atField(error, 'devicePattern');
    }
  };
  return resource<'approvalPolicy', ApprovalPolicyInput, ApprovalPolicy>(context, {
    kind: 'approvalPolicy',
    reads: 'approvals.read',
    writes: 'policies.write',
    view: (record) => record,
    summary: ({ uniqueName, decision }) => ({ uniqueName, decision }),
    async create(input) {
      await check(input);
      const values = { ...usualPolicy, ...input, createdAt: context.clock.now() };
      return { values };
    },
    async update({ id }, changes) {
      await check(changes);
      return updateWrites('approvalPolicy', id, changes);
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'approvalPolicy', id }],
  });
}
