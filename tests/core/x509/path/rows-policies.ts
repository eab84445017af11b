import {
  certificatePoliciesExtension,
  inhibitAnyPolicyExtension,
  type PolicyConstraints,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import { oid } from '#core/x509/oids.ts';
import { certify, party } from './certify.ts';
import { device, four, middle, type Row, root, row, three, type Verdict } from './row.ts';

const gold = '1.3.6.1.4.1.99999.10';
const silver = '1.3.6.1.4.1.99999.11';
const bronze = '1.3.6.1.4.1.99999.12';
const any = oid.anyPolicy;

const policies = (...oids: string[]) => certificatePoliciesExtension(oids.map((one) => ({ oid: one })));
const ask = (requireExplicitPolicy: number, inhibitPolicyMapping?: number) =>
  policyConstraintsExtension({
    requireExplicitPolicy,
    ...(inhibitPolicyMapping !== undefined && { inhibitPolicyMapping }),
  } satisfies PolicyConstraints);
const map = (...pairs: [string, string][]) =>
  policyMappingsExtension(
    pairs.map(([issuerDomainPolicy, subjectDomainPolicy]) => ({ issuerDomainPolicy, subjectDomainPolicy })),
  );

const fine: Verdict = ['ok', 'ok'];
const refused: Verdict = ['policy', 'no explicit policy'];
const rollover = party('CN=Issuing CA,O=Plant');

export const rowsOfPolicies: readonly Row[] = [
  row('nobody asks for a policy', three({ leaf: { with: [policies(gold)] } }), fine),
  row(
    'a policy is asked for and held all the way',
    three({ middle: { with: [policies(gold), ask(0)] }, leaf: { with: [policies(gold)] } }),
    fine,
  ),
  row(
    'a policy is asked for and the leaf has none',
    three({ middle: { with: [policies(gold), ask(0)] } }),
    refused,
  ),
  row(
    'a policy is asked for and the leaf has another',
    three({ middle: { with: [policies(gold), ask(0)] }, leaf: { with: [policies(silver)] } }),
    refused,
  ),
  row(
    'a policy is asked for and the CA itself has none',
    three({ middle: { with: [ask(0)] }, leaf: { with: [policies(gold)] } }),
    refused,
  ),
  row(
    'a policy is asked for after one certificate',
    three({ middle: { with: [policies(gold), ask(1)] } }),
    refused,
  ),
  row(
    'a policy is asked for after two certificates, and there is one',
    three({ middle: { with: [policies(gold), ask(2)] } }),
    fine,
  ),
  row(
    'a policy is asked for and the CA in between has none',
    four({ middle: { with: [policies(gold), ask(0)] }, leaf: { with: [policies(gold)] } }),
    refused,
  ),
  row('the leaf asks for a policy itself', three({ leaf: { with: [ask(0)] } }), refused),
  row(
    'anyPolicy of a CA allows every policy',
    three({ middle: { with: [policies(any), ask(0)] }, leaf: { with: [policies(gold)] } }),
    fine,
  ),
  row(
    'anyPolicy of a leaf takes over those of the CA',
    three({ middle: { with: [policies(gold), ask(0)] }, leaf: { with: [policies(any)] } }),
    fine,
  ),
  row(
    'anyPolicy is inhibited',
    three({
      middle: { with: [policies(gold), ask(0), inhibitAnyPolicyExtension(0)] },
      leaf: { with: [policies(any)] },
    }),
    refused,
  ),
  row(
    'anyPolicy is inhibited only later',
    three({
      middle: { with: [policies(gold), ask(0), inhibitAnyPolicyExtension(1)] },
      leaf: { with: [policies(any)] },
    }),
    fine,
  ),
  row(
    'anyPolicy is inhibited and a policy is named beside it',
    three({
      middle: { with: [policies(gold), ask(0), inhibitAnyPolicyExtension(0)] },
      leaf: { with: [policies(any, gold)] },
    }),
    fine,
  ),
  row(
    'anyPolicy of the CA that inhibits it still counts',
    three({
      middle: { with: [policies(any), ask(0), inhibitAnyPolicyExtension(0)] },
      leaf: { with: [policies(gold)] },
    }),
    fine,
  ),
  row(
    'inhibition of anyPolicy spares a self-issued certificate',
    {
      leaf: certify(device, rollover, { with: [policies(gold)] }),
      intermediates: [
        certify(rollover, middle, { ca: true, with: [policies(any)] }),
        certify(middle, root, { ca: true, with: [policies(gold), ask(0), inhibitAnyPolicyExtension(0)] }),
      ],
      anchors: [certify(root, root, { ca: true })],
    },
    fine,
  ),
  row(
    'a policy is mapped to that of the leaf',
    three({
      middle: { with: [policies(gold), map([gold, silver]), ask(0)] },
      leaf: { with: [policies(silver)] },
    }),
    fine,
  ),
  row(
    'the mapped policy itself no longer counts',
    three({
      middle: { with: [policies(gold), map([gold, silver]), ask(0)] },
      leaf: { with: [policies(gold)] },
    }),
    refused,
  ),
  row(
    'a policy is mapped to two',
    three({
      middle: { with: [policies(gold), map([gold, silver], [gold, bronze]), ask(0)] },
      leaf: { with: [policies(bronze)] },
    }),
    fine,
  ),
  row(
    'a policy is mapped twice on the way',
    four({
      middle: { with: [policies(gold), map([gold, silver]), ask(0)] },
      lower: { with: [policies(silver), map([silver, bronze])] },
      leaf: { with: [policies(bronze)] },
    }),
    fine,
  ),
  row(
    'a policy of anyPolicy is mapped',
    three({
      middle: { with: [policies(any), map([gold, silver]), ask(0)] },
      leaf: { with: [policies(silver)] },
    }),
    fine,
  ),
  row(
    'mapping is inhibited',
    four({
      middle: { with: [policies(gold), ask(0, 0)] },
      lower: { with: [policies(gold), map([gold, silver])] },
      leaf: { with: [policies(silver)] },
    }),
    refused,
  ),
  row(
    'mapping is inhibited only later',
    four({
      middle: { with: [policies(gold), ask(0, 1)] },
      lower: { with: [policies(gold), map([gold, silver])] },
      leaf: { with: [policies(silver)] },
    }),
    fine,
  ),
  row(
    'a mapping from anyPolicy',
    three({ middle: { with: [policies(any), map([any, gold])] }, leaf: { with: [policies(gold)] } }),
    ['malformed', 'invalid or inconsistent certificate policy extension'],
  ),
  row('a policy occurs twice', three({ leaf: { with: [policies(gold, gold)] } }), [
    'malformed',
    'invalid or inconsistent certificate policy extension',
  ]),
  row('the anchor asks for a policy', three({ root: { with: [ask(0)] } }), [
    'policy',
    'ok',
    'RFC 5937 §2: the anchor states it; OpenSSL leaves anchors out of policies',
  ]),
  row(
    'policies of the anchor do not limit those below',
    three({
      root: { with: [policies(silver)] },
      middle: { with: [policies(gold), ask(0)] },
      leaf: { with: [policies(gold)] },
    }),
    fine,
  ),
  row(
    'critical policies',
    three({
      middle: { with: [{ ...policies(gold), critical: true }] },
      leaf: { with: [{ ...policies(gold), critical: true }] },
    }),
    fine,
  ),
  row('policy constraints that say nothing', three({ middle: { with: [policyConstraintsExtension({})] } }), [
    'malformed',
    'invalid or inconsistent certificate policy extension',
  ]),
];
