import {
  certificatePoliciesExtension,
  inhibitAnyPolicyExtension,
  type PolicyConstraints,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import { oid } from '#core/x509/oids.ts';
import { type Row, row, type Verdict } from './row.ts';
import { chainOf, type Step } from './steps.ts';

// PKITS 4.8 to 4.12, with any-policy as input.

const one = '2.16.840.1.101.3.2.1.48.1';
const two = '2.16.840.1.101.3.2.1.48.2';
const three = '2.16.840.1.101.3.2.1.48.3';
const any = oid.anyPolicy;

/** The policy extensions of a certificate. */
interface Saying {
  readonly has?: readonly string[];
  readonly maps?: readonly (readonly [string, string])[];
  readonly require?: number;
  readonly inhibitMapping?: number;
  readonly inhibitAny?: number;
  readonly self?: boolean;
}

function says({ has, maps, require, inhibitMapping, inhibitAny, self }: Saying): Step {
  const constraints: PolicyConstraints = {
    ...(require !== undefined && { requireExplicitPolicy: require }),
    ...(inhibitMapping !== undefined && { inhibitPolicyMapping: inhibitMapping }),
  };
  return {
    ...(self && { self }),
    with: [
      ...(has ? [certificatePoliciesExtension(has.map((policy) => ({ oid: policy })))] : []),
      ...(maps
        ? [
            policyMappingsExtension(
              maps.map(([issuerDomainPolicy, subjectDomainPolicy]) => ({
                issuerDomainPolicy,
                subjectDomainPolicy,
              })),
            ),
          ]
        : []),
      ...(Object.keys(constraints).length > 0 ? [policyConstraintsExtension(constraints)] : []),
      ...(inhibitAny === undefined ? [] : [inhibitAnyPolicyExtension(inhibitAny)]),
    ],
  };
}

const valid: Verdict = ['ok', 'ok'];
const refused: Verdict = ['policy', 'no explicit policy'];
const inconsistent: Verdict = ['malformed', 'invalid or inconsistent certificate policy extension'];

/** A test of PKITS: the policy extensions of the certificates below the anchor, the leaf last. */
const pkits = (test: string, verdict: Verdict, ...below: readonly Saying[]): Row =>
  row(test, chainOf({}, ...below.map(says)), verdict);

const asks = { require: 0 };
const own = { has: [one] };
const none: Saying = {};

export const rowsOfPkitsPolicies: readonly Row[] = [
  pkits('4.8.1 All Certificates Same Policy', valid, { ...own, ...asks }, own),
  pkits('4.8.2 All Certificates No Policies', valid, none, none),
  pkits('4.8.2 All Certificates No Policies, and one is asked for', refused, asks, none),
  pkits('4.8.3 Different Policies', valid, own, none, own),
  pkits('4.8.3 Different Policies, and one is asked for', refused, { ...own, ...asks }, none, own),
  pkits('4.8.4 Different Policies', refused, { ...own, ...asks }, { has: [two] }, own),
  pkits('4.8.5 Different Policies', refused, { ...own, ...asks }, own, { has: [two] }),
  pkits('4.8.6 Overlapping Policies', valid, { has: [one, two], ...asks }, { has: [one, three] }, own),
  pkits('4.8.7 Different Policies', refused, { has: [one, two], ...asks }, own, { has: [two] }),
  pkits('4.8.8 Different Policies', refused, { has: [one, two, three], ...asks }, own, own, { has: [three] }),
  pkits(
    '4.8.9 Different Policies',
    refused,
    { has: [one, two], ...asks },
    { has: [two] },
    { has: [three] },
    own,
  ),
  pkits('4.8.10 All Certificates Same Policies', valid, { has: [one, two], ...asks }, { has: [one, two] }),
  pkits('4.8.11 All Certificates AnyPolicy', valid, { has: [any], ...asks }, { has: [any] }),
  pkits('4.8.12 Different Policies', refused, { has: [three], ...asks }, own),
  pkits(
    '4.8.13 All Certificates Same Policies',
    valid,
    { has: [one, two, three], ...asks },
    { has: [one, two, three] },
  ),
  pkits('4.8.14 AnyPolicy', valid, { has: [any], ...asks }, own),

  pkits('4.9.1 Valid RequireExplicitPolicy', valid, { ...own, require: 10 }, own, own, own, none),
  pkits('4.9.2 Valid RequireExplicitPolicy', valid, { ...own, require: 5 }, own, own, own, none),
  pkits('4.9.3 Invalid RequireExplicitPolicy', refused, { ...own, require: 4 }, own, own, own, none),
  pkits('4.9.4 Valid RequireExplicitPolicy', valid, { ...own, require: 0 }, own, own, own, own),
  pkits(
    '4.9.5 Invalid RequireExplicitPolicy',
    refused,
    { ...own, require: 7 },
    { ...own, require: 2 },
    { ...own, require: 4 },
    own,
    none,
  ),
  pkits(
    '4.9.6 Valid Self-Issued requireExplicitPolicy',
    valid,
    { ...own, require: 2 },
    { ...own, self: true },
    none,
  ),
  pkits(
    '4.9.7 Invalid Self-Issued requireExplicitPolicy',
    refused,
    { ...own, require: 2 },
    { ...own, self: true },
    own,
    none,
  ),
  pkits(
    '4.9.8 Invalid Self-Issued requireExplicitPolicy',
    refused,
    { ...own, require: 2 },
    { ...own, self: true },
    own,
    { ...own, self: true },
    none,
  ),

  pkits('4.10.1 Valid Policy Mapping', valid, { ...own, maps: [[one, two]], ...asks }, { has: [two] }),
  pkits('4.10.2 Invalid Policy Mapping', refused, { ...own, maps: [[one, two]], ...asks }, own),
  pkits(
    '4.10.3 Valid Policy Mapping',
    valid,
    { ...own, maps: [[one, two]], ...asks },
    { has: [two], maps: [[two, three]] },
    { has: [three] },
  ),
  pkits(
    '4.10.4 Invalid Policy Mapping',
    refused,
    { ...own, maps: [[one, two]], ...asks },
    { has: [two], maps: [[two, three]] },
    own,
  ),
  pkits(
    '4.10.5 Valid Policy Mapping',
    valid,
    { has: [one, two], maps: [[one, three]], ...asks },
    { has: [three] },
  ),
  pkits('4.10.7 Invalid Mapping From anyPolicy', inconsistent, { ...own, maps: [[any, one]] }, own),
  pkits('4.10.8 Invalid Mapping To anyPolicy', inconsistent, { ...own, maps: [[one, any]] }, own),
  pkits(
    '4.10.9 Valid Policy Mapping',
    valid,
    {
      ...own,
      maps: [
        [one, two],
        [one, three],
      ],
      ...asks,
    },
    { has: [three] },
  ),
  pkits(
    '4.10.10 Invalid Policy Mapping',
    refused,
    { ...own, ...asks },
    { has: [one], maps: [[two, three]] },
    { has: [three] },
  ),
  pkits(
    '4.10.11 Valid Policy Mapping',
    valid,
    { has: [one, two], maps: [[one, two]], ...asks },
    { has: [two] },
  ),
  pkits(
    '4.10.13 Valid Policy Mapping',
    valid,
    { has: [one, any], maps: [[one, two]], ...asks },
    { has: [two] },
  ),
  pkits('4.10.14 Valid Policy Mapping', valid, { has: [one, any], maps: [[one, two]], ...asks }, own),

  pkits(
    '4.11.1 Invalid inhibitPolicyMapping',
    refused,
    { ...own, ...asks, inhibitMapping: 0 },
    { ...own, maps: [[one, two]] },
    { has: [two] },
  ),
  pkits(
    '4.11.2 Valid inhibitPolicyMapping',
    valid,
    { has: [one, two], ...asks, inhibitMapping: 1 },
    { has: [one, two], maps: [[one, three]] },
    { has: [three] },
  ),
  pkits(
    '4.11.3 Invalid inhibitPolicyMapping',
    refused,
    { has: [one, two], ...asks, inhibitMapping: 1 },
    { has: [one, two] },
    { has: [one, two], maps: [[one, three]] },
    { has: [three] },
  ),
  pkits(
    '4.11.4 Valid inhibitPolicyMapping',
    valid,
    { has: [one, two], ...asks, inhibitMapping: 1 },
    { has: [one, two] },
    { has: [one, two], maps: [[one, three]] },
    { has: [two] },
  ),
  pkits(
    '4.11.5 Invalid inhibitPolicyMapping',
    refused,
    { ...own, ...asks, inhibitMapping: 5 },
    { ...own, inhibitMapping: 1 },
    own,
    { ...own, maps: [[one, two]] },
    { has: [two] },
  ),
  pkits(
    '4.11.6 Invalid inhibitPolicyMapping',
    refused,
    { ...own, ...asks, inhibitMapping: 1 },
    { ...own, inhibitMapping: 5 },
    { ...own, maps: [[one, two]] },
    { has: [two] },
  ),
  pkits(
    '4.11.7 Valid Self-Issued inhibitPolicyMapping',
    valid,
    { ...own, ...asks, inhibitMapping: 1 },
    { ...own, self: true },
    { ...own, maps: [[one, two]] },
    { has: [two] },
  ),
  pkits(
    '4.11.8 Invalid Self-Issued inhibitPolicyMapping',
    refused,
    { ...own, ...asks, inhibitMapping: 1 },
    { ...own, self: true },
    own,
    { ...own, maps: [[one, two]] },
    { has: [two] },
  ),
  pkits(
    '4.11.10 Invalid Self-Issued inhibitPolicyMapping',
    refused,
    { ...own, ...asks, inhibitMapping: 0 },
    { ...own, self: true, maps: [[one, two]] },
    { has: [two] },
  ),

  pkits('4.12.1 Invalid inhibitAnyPolicy', refused, { ...own, ...asks, inhibitAny: 0 }, { has: [any] }),
  pkits('4.12.2 Valid inhibitAnyPolicy', valid, { ...own, ...asks, inhibitAny: 0 }, { has: [any, one] }),
  pkits('4.12.3 inhibitAnyPolicy', valid, { ...own, ...asks, inhibitAny: 1 }, { has: [any] }, own),
  pkits('4.12.4 Invalid inhibitAnyPolicy', refused, { ...own, ...asks, inhibitAny: 1 }, own, { has: [any] }),
  pkits(
    '4.12.5 Invalid inhibitAnyPolicy',
    refused,
    { ...own, ...asks, inhibitAny: 5 },
    { ...own, inhibitAny: 1 },
    { has: [any] },
    { has: [any] },
  ),
  pkits(
    '4.12.6 Invalid inhibitAnyPolicy',
    refused,
    { ...own, ...asks, inhibitAny: 1 },
    { ...own, inhibitAny: 5 },
    { has: [any] },
  ),
  pkits(
    '4.12.7 Valid Self-Issued inhibitAnyPolicy',
    valid,
    { ...own, ...asks, inhibitAny: 0 },
    { has: [any], self: true },
    own,
  ),
  pkits(
    '4.12.8 Invalid Self-Issued inhibitAnyPolicy',
    refused,
    { ...own, ...asks, inhibitAny: 0 },
    { has: [any], self: true },
    { has: [any] },
    own,
  ),
  pkits(
    '4.12.9 Valid Self-Issued inhibitAnyPolicy',
    valid,
    { ...own, ...asks, inhibitAny: 1 },
    { has: [any] },
    { has: [any], self: true },
    own,
  ),
  pkits(
    '4.12.10 Invalid Self-Issued inhibitAnyPolicy',
    refused,
    { ...own, ...asks, inhibitAny: 0 },
    { has: [any], self: true },
    { has: [any] },
  ),
];
