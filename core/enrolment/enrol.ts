import { isUsed } from '../approvals/clearance.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import type { WithRefusalBudget } from '../audit/refusal-budget.ts';
import { sameBytes } from '../der/bytes.ts';
import { type Fault, toFault } from '../fault.ts';
import type {
  EnrolmentRequest,
  EnrolmentResult,
  Issuance,
  IssuanceExchange,
} from '../issuance/enrolment-request.ts';
import { issuedCertificate } from '../issuance/issue.ts';
import { demandSameCertificate, onboardedWrites, onboardingCertificate } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { requesterActor } from '../requester/admit.ts';
import { requesterKey } from '../requester/request-identity.ts';
import type { Requester } from '../requester/requester.ts';
import {
  demandOpener,
  exchangeWrite,
  isNext,
  refusedExchange,
  responseRetention,
} from '../transactions/record.ts';
import { type Certificate, extension, parseCertificate } from '../x509/certificate.ts';
import { sameName } from '../x509/name.ts';
import { certify, clear, evaluate, type Made, type PipelineDependencies } from './pipeline.ts';
import { planForRequester, type RequesterPlan } from './plan-for-requester.ts';

interface Dependencies extends PipelineDependencies, WithRefusalBudget {}

/**
 * Issues a certificate to an admitted requester; see `Gateway.enrol`. Refusals are audited as far as the requester's budget
 * allows.
 */
export async function enrol(
  context: Dependencies,
  requester: Requester,
  ask: EnrolmentRequest,
): Promise<EnrolmentResult> {
  try {
    if (ask.exchange) demandOpener(requester, ask.exchange);
    return await planAndIssue(context, requester, ask);
  } catch (thrown) {
    const error = ask.exchange ? refusedExchange(thrown, ask.exchange) : thrown;
    await recordFailure(context, requester, ask, toFault(error));
    throw error;
  }
}

async function recordFailure(
  context: Dependencies,
  requester: Requester,
  { operation }: EnrolmentRequest,
  { code, detail }: Fault,
): Promise<void> {
  const unrecorded = context.refusals.take(requesterKey(requester));
  if (unrecorded === undefined) return;
  const isOurs = code === 'internal' || code === 'unavailable';
  const facts = { protocol: requester.target.protocol, code, reason: shorten(detail) };
  await recordRefusal(
    context,
    audit(context, requesterActor(requester), {
      action: operation === 'renew' ? 'enrolment.renew' : 'enrolment.enrol',
      object: `domain:${requester.domain.uniqueName}`,
      outcome: isOurs ? 'failed' : 'refused',
      detail: { ...facts, ...(unrecorded > 0 && { unrecorded }) },
    }),
  );
}

async function planAndIssue(
  context: Dependencies,
  requester: Requester,
  ask: EnrolmentRequest,
): Promise<EnrolmentResult> {
  const plan = await planForRequester(context, requester, ask);
  const evaluation = await evaluate(context, plan);
  const { given } = plan;
  const { exchange } = ask;
  if (given) {
    demandSameCertificate(given, requester, plan.profile, plan.requested, evaluation.outcome, exchange);
    return recordRepeated(context, requester, exchange, given, repeatedIssuance(plan, given));
  }
  const clearance = await clear(context, evaluation, {
    request: ask.request,
    continues: exchange?.follows !== undefined,
    remembers: exchange !== undefined,
  });
  if (clearance.kind === 'pending') return clearance;
  if (clearance.kind === 'alreadyIssued') {
    await context.store.confirm?.();
    return repeatedIssuance(plan, clearance.certificate);
  }
  const { approval } = clearance;
  try {
    const certified = await certify(context, evaluation, {
      approval,
      operation: ask.operation,
      message: ask.message,
      alongside:
        plan.onboards || exchange
          ? (der, made) => companions(context, requester, plan, exchange, der, made)
          : undefined,
    });
    if (certified.kind === 'pending') return certified;
    const { issued, made } = certified;
    return issuanceOf(plan, made, issued.certificate, issued.chain);
  } catch (error) {
    if (toFault(error).code !== 'conflict') throw error;
    // Another request of the same device onboarded it, or used the approval, in the meantime.
    const overtaken =
      (await onboardingCertificate(context, requester)) || (approval && (await isUsed(context, approval)));
    if (!overtaken || !(await isNext(context, exchange))) throw error;
  }
  // Another instance handled the same request concurrently. Retry so that this request observes its result.
  return planAndIssue(context, requester, ask);
}

function repeatedIssuance(
  { configuration, ca, requested }: RequesterPlan,
  given: StoredCertificate,
): Issuance {
  const { der: certificate } = given;
  const { chain } = configuration.ca(given.ca) ?? ca;
  const modified = !isAsRequested(requested, parseCertificate(certificate));
  return { kind: 'issued', certificate, chain, modified };
}

/** Records the repeated response in its exchange. Faults: conflict when the certificate was revoked in the meantime. */
async function recordRepeated(
  context: Pick<Ports, 'clock' | 'store'>,
  requester: Requester,
  exchange: IssuanceExchange | undefined,
  { id }: StoredCertificate,
  issuance: Issuance,
): Promise<Issuance> {
  if (!exchange) {
    await context.store.confirm?.();
    return issuance;
  }
  await context.store.commit([
    { op: 'require', kind: 'certificate', id, where: { status: 'good' }, as: issuedCertificate },
    ...(await exchangeWrites(context, requester, exchange, issuance, false)),
  ]);
  return issuance;
}

/** The response to the requester. Only the certificate tells what an upstream CA made of the request. */
function issuanceOf(
  { ca, requested }: RequesterPlan,
  made: Made | undefined,
  certificate: Uint8Array,
  chain: readonly Uint8Array[],
): Issuance {
  const contents = ca.record.key && made ? made.outcome : parseCertificate(certificate);
  const modified = !isAsRequested(made?.request ?? requested, contents);
  return { kind: 'issued', certificate, chain, modified, privateKey: made?.privateKey };
}

/** Returns the writes for the commit that records the certificate. */
async function companions(
  context: Pick<Ports, 'clock' | 'store'>,
  requester: Requester,
  plan: RequesterPlan,
  exchange: IssuanceExchange | undefined,
  der: Uint8Array,
  made: Made,
): Promise<readonly Write[]> {
  const { ca, device } = plan;
  const onboarded = plan.onboards ? await onboardedWrites(context, requester, device, exchange) : [];
  if (!exchange) return onboarded;
  const issuance = issuanceOf(plan, made, der, ca.chain);
  return [
    ...onboarded,
    ...(await exchangeWrites(context, requester, exchange, issuance, ca.record.key !== null)),
  ];
}

/**
 * The write that records the exchange with its response. `chainLasts`: the chain can be added again when the response is repeated.
 * The chain of an upstream CA may have changed by then, so it is stored with the response.
 */
async function exchangeWrites(
  context: Pick<Ports, 'clock'>,
  requester: Requester,
  exchange: IssuanceExchange,
  issuance: Issuance,
  chainLasts: boolean,
): Promise<readonly Write[]> {
  const { confirmWithin } = exchange;
  const answer = await exchange.answer(issuance);
  const progress = {
    state: confirmWithin === undefined ? 'done' : 'waiting',
    lasts: confirmWithin ?? responseRetention,
    certificate: issuedCertificate,
  } as const;
  const stored = chainLasts ? answer : { ...answer, kept: undefined };
  return [exchangeWrite(context, requester, exchange, stored, progress)];
}

/** Whether the certificate contains everything that was requested, unchanged. */
function isAsRequested(
  request: ProfileRequest,
  outcome: Pick<Certificate, 'subject' | 'extensions'>,
): boolean {
  if (!sameName(request.subject, outcome.subject)) return false;
  for (const { oid, value } of request.extensions) {
    const given = extension(outcome, oid);
    if (!given || !sameBytes(given.value, value)) return false;
  }
  return true;
}
