import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { Context } from '../audit/record.ts';
import type { LoadedPolicy } from '../configuration/policy-rule.ts';
import { atField, Fault } from '../fault.ts';
import type { ApprovalPolicy } from '../records/approval-policy.ts';

/** What is left out, or null, does not narrow the policy. */
export type ApprovalPolicyInput = Pick<ApprovalPolicy, 'uniqueName' | 'decision'> &
  Partial<Omit<ApprovalPolicy, 'id' | 'createdAt'>>;

const usual = {
  priority: 100,
  isActive: true,
  protocols: [],
  operations: [],
  domain: null,
  profile: null,
  device: null,
  devicePattern: null,
  approvers: 1,
  expiresIn: 7 * 86_400,
} as const;

export function approvalPolicies(
  context: Context,
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
      const values = { ...usual, ...input, createdAt: context.clock.now() };
      return { writes: [{ op: 'insert', kind: 'approvalPolicy', values }] };
    },
    async update({ id }, changes) {
      await check(changes);
      return updateWrites('approvalPolicy', id, changes);
    },
    remove: async ({ id }) => [{ op: 'delete', kind: 'approvalPolicy', id }],
  });
}

/** Ready to be asked. One whose pattern is not understood is not passed over, unless it would let everything pass. */
export function loadPolicy(context: Pick<Context, 'patterns' | 'log'>, record: ApprovalPolicy): LoadedPolicy {
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
