import { expect, test } from 'bun:test';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import {
  inOrder,
  type LoadedPolicy,
  loadPolicy,
  type PolicyContext,
  ruleFor,
  strictestReading,
} from '#core/configuration/policy-rule.ts';
import type { ApprovalPolicy } from '#core/records/approval-policy.ts';

/** The rule as the configuration loads it. */
function loaded(policy: ApprovalPolicy): readonly LoadedPolicy[] {
  try {
    return [loadPolicy({ patterns }, policy)];
  } catch {
    return [strictestReading({ patterns }, policy)].filter((one) => one !== undefined);
  }
}

const policy = (values: Partial<ApprovalPolicy>): ApprovalPolicy => ({
  id: 1,
  createdAt: 0,
  uniqueName: 'a policy',
  priority: 100,
  isActive: true,
  protocols: [],
  operations: [],
  domain: null,
  profile: null,
  device: null,
  devicePattern: null,
  decision: 'manual',
  approvers: 1,
  expiresIn: 60,
  ...values,
});

const matter: PolicyContext = {
  operation: 'issuance',
  protocol: 'est',
  domain: { id: 1, uniqueName: 'default' },
  profile: { id: 2, uniqueName: 'tls_server' },
  device: { id: 3, commonName: 'pump-7' },
};

const decides = (
  policies: readonly ApprovalPolicy[],
  about: Partial<PolicyContext> = {},
): number | undefined => ruleFor(policies.flatMap(loaded).sort(inOrder), { ...matter, ...about })?.id;

const rows: [
  what: string,
  values: Partial<ApprovalPolicy>,
  about: Partial<PolicyContext>,
  matches: boolean,
][] = [
  ['one that says nothing', {}, {}, true],
  ['one that rests', { isActive: false }, {}, false],
  ['its protocol', { protocols: ['rest', 'est'] }, {}, true],
  ['another protocol', { protocols: ['cmp'] }, {}, false],
  ['its operation', { operations: ['issuance'] }, {}, true],
  ['another operation', { operations: ['renewal', 'revocation'] }, {}, false],
  ['its domain', { domain: 1 }, {}, true],
  ['another domain', { domain: 2 }, {}, false],
  ['its profile', { profile: 2 }, {}, true],
  ['another profile', { profile: 1 }, {}, false],
  ['a profile, and what has none', { profile: 2 }, { profile: undefined }, false],
  ['its device', { device: 3 }, {}, true],
  ['another device', { device: 4 }, {}, false],
  ['a device, and what is for none', { device: 3 }, { device: undefined }, false],
  ['a pattern', { devicePattern: 'pump-\\d+' }, {}, true],
  ['a pattern for a part of the name', { devicePattern: 'pump' }, {}, false],
  ['a pattern, and what is for no device', { devicePattern: '.*' }, { device: undefined }, false],
  ['all of it', { protocols: ['est'], domain: 1, profile: 2, device: 3, devicePattern: 'pump-7' }, {}, true],
  [
    'all of it but one',
    { protocols: ['est'], domain: 1, profile: 2, device: 3, devicePattern: 'x' },
    {},
    false,
  ],
  ['a broken pattern that would demand something', { devicePattern: '(' }, {}, true],
  ['a broken pattern that would let pass', { devicePattern: '(', decision: 'automatic' }, {}, false],
];

test.each(rows)('%s: %j, %j: %p', (_, values, about, matches) => {
  expect(decides([policy(values)], about)).toBe(matches ? 1 : undefined);
});

test('of the matching rules, the one with the lowest number applies, then the oldest', () => {
  const policies = [
    policy({ id: 5, priority: 10 }),
    policy({ id: 4, priority: 10 }),
    policy({ id: 3, priority: 20 }),
    policy({ id: 2, priority: 5, protocols: ['cmp'] }),
    policy({ id: 1, priority: 1, isActive: false }),
  ];
  expect(decides(policies)).toBe(4);
  expect(decides(policies, { protocol: 'cmp' })).toBe(2);
  expect(decides([])).toBeUndefined();
});
