import { type Clearance, policyOn, requestApproval } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import type { PolicyContext } from '../configuration/policy-rule.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import { type Issued, issue, issuedCertificate, prepareIssuance } from '../issuance/issue.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { Approval } from '../records/approval.ts';
import type { ApprovalPolicy } from '../records/approval-policy.ts';
import type { KeyReference } from '../records/credential.ts';
import { requestDigest } from '../requester/request-identity.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { requestFromUpstream, resumeFromUpstream } from '../upstream/request.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import { type ApprovalOptions, approvalRequestFor } from './approval-request.ts';
import { type MadeKey, withExportedKey, withKeptKey } from './central-key.ts';
import { applyProfile, type IssuancePlan, identityOf, plannedOutcome } from './plan.ts';

/**
 * The stages that every certificate request goes through, whoever requests it: `plan` (by kind of requester), `evaluate`, `clear`,
 * `certify`. Each check is made in one of them.
 */
export interface PipelineDependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** A plan that its profile allows and no policy denies. */
export interface Evaluation<P extends IssuancePlan = IssuancePlan> {
  readonly plan: P;
  readonly outcome: ProfileOutcome;
  readonly policyContext: PolicyContext;
  /** The policy that demands an approval; undefined when none does. */
  readonly policy: ApprovalPolicy | undefined;
}

/**
 * Examines the key, applies the profile and looks up the approval policy. Faults: badAlgorithm (the key), those of
 * `plannedOutcome`, forbidden (a policy denies it).
 */
export async function evaluate<P extends IssuancePlan>(
  context: Pick<Ports, 'clock'> & WithSettings,
  plan: P,
): Promise<Evaluation<P>> {
  const examined = plan.proven.request && demandUnfactored(plan.proven.request.publicKey);
  if (examined) await examined;
  const outcome = plannedOutcome(context, plan);
  const { operation, protocol, domain, profile, device } = plan;
  const policyContext = { operation, protocol, domain, profile: profile.record, device };
  return { plan, outcome, policyContext, policy: policyOn(plan.configuration, policyContext) };
}

/** Requests the approval that the policy demands. Faults: those of `requestApproval`. */
export function clear(
  context: PipelineDependencies,
  { plan, policyContext, policy }: Evaluation,
  options: ApprovalOptions,
): Promise<Clearance> {
  const { configuration, ca, proven, requested, actor } = plan;
  return requestApproval(context, configuration, policy, policyContext, () =>
    approvalRequestFor({
      ...options,
      identity: identityOf(plan),
      actor,
      requested,
      ca,
      outcomeAt: (now) => applyProfile(context, plan, requested, now),
      rehearse(outcome) {
        const { request } = proven;
        if (!request) return;
        prepareIssuance(context, configuration, { ca, outcome, subjectKey: request.publicKey, request });
      },
    }),
  );
}

/** A request with its key, and what the profile makes of it. */
export interface Made {
  readonly request: VerifiedRequest;
  readonly outcome: ProfileOutcome;
  /** PKCS#8, DER, of a key that was made here and leaves with the response. */
  readonly privateKey?: Uint8Array | undefined;
  /** The key that was made here and stays in a key store. */
  readonly key?: KeyReference | undefined;
}

/** What differs between the kinds of requester when the certificate is issued. */
interface IssuanceOptions {
  readonly approval: Approval | undefined;
  /** The operation that an upstream CA is requested to perform. */
  readonly operation: 'enrol' | 'renew';
  /** See `Order.message`. */
  readonly message?: Uint8Array | undefined;
  readonly inventoryName?: string;
  /** Further writes of the commit that records the certificate (DER). */
  readonly alongside?:
    | ((certificate: Uint8Array, made: Made) => readonly Write[] | Promise<readonly Write[]>)
    | undefined;
}

/** The certificate with the key that it was issued for; `made` is undefined for one that was requested earlier. */
export type Certified =
  | { readonly kind: 'issued'; readonly issued: Issued; readonly made: Made | undefined }
  | Deferral;

/** Makes the key where one is wanted, and has the CA issue the certificate. Faults: those of `issue` and `requestFromUpstream`. */
export async function certify(
  context: PipelineDependencies,
  { plan, outcome }: Evaluation,
  options: IssuanceOptions,
): Promise<Certified> {
  const { ca, proven, keepsKey } = plan;
  if (proven.request) return issueOrRequest(context, plan, { request: proven.request, outcome }, options);
  const use = ({ request, ...key }: MadeKey): Promise<Certified> => {
    const made = applyProfile(context, plan, request, context.clock.now());
    return issueOrRequest(context, plan, { request, outcome: made, ...key }, options);
  };
  if (!keepsKey) return withExportedKey(context, proven.wanted, use);
  if (!ca.record.key) {
    const earlier = await requestedEarlier(context, plan, options);
    if (earlier) return earlier;
  }
  return withKeptKey(context, proven.wanted, use);
}

/** The one place where the key's location decides: a CA with its key here issues, any other is an upstream CA. */
async function issueOrRequest(
  context: PipelineDependencies,
  plan: IssuancePlan,
  made: Made,
  options: IssuanceOptions,
): Promise<Certified> {
  const { configuration, ca, domain, profile, device, protocol, actor } = plan;
  const request = {
    ca,
    outcome: made.outcome,
    subjectKey: made.request.publicKey,
    request: made.request,
    device: device?.id ?? null,
    domain: domain.id,
    profile: profile.record.id,
    profileName: profile.record.uniqueName,
    protocol,
    actor,
    inventoryName: options.inventoryName,
    alongside: companions(context, plan, options, made),
  };
  if (ca.record.key) {
    return { kind: 'issued', issued: await issue(context, configuration, request), made };
  }
  const result = await requestFromUpstream(context, configuration, {
    ...request,
    operation: options.operation,
    renews: plan.renewed?.certificate.der,
    message: options.message,
    digest: requestDigest(identityOf(plan)),
    purpose: made.key && { kind: 'key', key: made.key },
  });
  return 'kind' in result ? result : { kind: 'issued', issued: result, made };
}

/** The certificate that the same request obtained from the upstream CA before, with the key that was made then. */
async function requestedEarlier(
  context: PipelineDependencies,
  plan: IssuancePlan,
  options: IssuanceOptions,
): Promise<Certified | undefined> {
  const { configuration, ca } = plan;
  const alongside = companions(context, plan, options, undefined);
  const digest = requestDigest(identityOf(plan));
  const result = await resumeFromUpstream(context, configuration, { ca, alongside }, digest);
  if (!result) return undefined;
  return 'kind' in result ? result : { kind: 'issued', issued: result, made: undefined };
}

/** Returns the writes for the commit that records the certificate; undefined if there are none. */
function companions(
  context: Pick<Ports, 'clock'>,
  { ca, actor }: IssuancePlan,
  { approval, alongside }: IssuanceOptions,
  made: Made | undefined,
): ((certificate: Uint8Array) => Promise<readonly Write[]>) | undefined {
  // With an upstream CA, `accept` records the key together with the certificate.
  const key = ca.record.key ? made?.key : undefined;
  if (!key && !alongside && !approval) return undefined;
  return async (certificate) => [
    ...(key ? [heldKey(context, key)] : []),
    ...(alongside && made ? await alongside(certificate, made) : []),
    ...(approval ? usedWrites(context, actor, approval, issuedCertificate) : []),
  ];
}

/** The key is kept until it is collected together with its certificate. */
const heldKey = ({ clock }: Pick<Ports, 'clock'>, key: KeyReference): Write => ({
  op: 'insert',
  kind: 'certificateKey',
  values: { createdAt: clock.now(), certificate: issuedCertificate, key },
});
