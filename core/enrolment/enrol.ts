import { askFor, isUsed, type Petition, policyOn } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import { audit, brief, recordRefusal } from '../audit/record.ts';
import type { WithRefusalBudget } from '../audit/refusal-budget.ts';
import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { type Fault, toFault } from '../fault.ts';
import { issuedCertificate, rehearse } from '../issuance/issue.ts';
import type { Ask, Issuance, IssuanceExchange, Outcome } from '../issuance/outcome.ts';
import { demandSame, onboardedWith, onboardedWrites } from '../onboarding/onboarded.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { Approval } from '../records/approval.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { requesterActor } from '../requester/admit.ts';
import { requestDigest, requesterKey } from '../requester/request-identity.ts';
import type { Requester } from '../requester/requester.ts';
import { demandOpener, exchangeWrite, isNext, memory, refusedExchange } from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { order } from '../upstream/order.ts';
import { type Certificate, extension, parseCertificate } from '../x509/certificate.ts';
import { sameName } from '../x509/name.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import { petitionFor } from './approval-request.ts';
import { makeKey, type WantedKey } from './central-key.ts';
import { outcomeAt, type Plan, planFor, plannedOutcome } from './plan.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithRefusalBudget,
    WithSettings {}

/** Do it. See `Gateway.enrol`. Refusals are audited, as far as the budget of who asks goes. */
export async function enrol(context: Dependencies, requester: Requester, ask: Ask): Promise<Outcome> {
  try {
    if (ask.exchange) demandOpener(requester, ask.exchange);
    return await certify(context, requester, ask);
  } catch (thrown) {
    const error = ask.exchange ? refusedExchange(thrown, ask.exchange) : thrown;
    await recordFailure(context, requester, ask, toFault(error));
    throw error;
  }
}

async function recordFailure(
  context: Dependencies,
  requester: Requester,
  { operation }: Ask,
  { code, detail }: Fault,
): Promise<void> {
  const unrecorded = context.refusals.take(requesterKey(requester));
  if (unrecorded === undefined) return;
  const ours = code === 'internal' || code === 'unavailable';
  const said = { protocol: requester.target.protocol, code, reason: brief(detail) };
  await recordRefusal(
    context,
    audit(context, requesterActor(requester), {
      action: operation === 'renew' ? 'enrolment.renew' : 'enrolment.enrol',
      object: `domain:${requester.domain.uniqueName}`,
      outcome: ours ? 'failed' : 'refused',
      detail: { ...said, ...(unrecorded > 0 && { unrecorded }) },
    }),
  );
}

/** What is asked → what comes of it, once it is cleared. */
async function certify(context: Dependencies, requester: Requester, ask: Ask): Promise<Outcome> {
  const plan = await planFor(context, requester, ask);
  const planned = plannedOutcome(context, requester, plan);
  const { configuration, profile, ca, device, operation, given, proven, requested } = plan;
  const { domain, target } = requester;
  const { exchange } = ask;
  const actor = requesterActor(requester);
  const matter = { operation, protocol: target.protocol, domain, profile: profile.record, device };
  const policy = policyOn(configuration, matter);
  if (given) {
    demandSame(given, requester, profile, requested, planned, exchange);
    return recorded(context, requester, exchange, given, givenAgain(plan, given));
  }
  let approval: Approval | undefined;
  if (policy) {
    const clearance = await askFor(context, policy, matter, petitionOf(context, requester, ask, plan, actor));
    if (clearance.kind === 'pending') return clearance;
    if (clearance.kind === 'given') {
      await context.store.confirm?.();
      return givenAgain(plan, clearance.certificate);
    }
    approval = clearance.approval;
  }
  const made = proven.request
    ? { request: proven.request, outcome: planned, privateKey: undefined }
    : await withMadeKey(context, requester, plan, proven.wanted);
  const { request, outcome } = made;
  const onboarded = plan.onboards ? await onboardedWrites(context, requester, device, exchange) : none;
  try {
    const ordered = await order(context, {
      ca,
      outcome,
      subjectKey: request.publicKey,
      request,
      device: device?.id ?? null,
      domain: domain.id,
      profile: profile.record.id,
      profileName: profile.record.uniqueName,
      protocol: target.protocol,
      actor,
      operation: ask.operation,
      renews: plan.renewed?.certificate.der,
      message: ask.message,
      digest: ca.record.key ? undefined : requestDigest(identityOf(requester, plan)),
      alongside:
        onboarded.length > 0 || exchange || approval
          ? companions(context, requester, ca, made, { onboarded, exchange, approval })
          : undefined,
    });
    return 'kind' in ordered ? ordered : issuanceOf(ca, made, ordered.certificate, ordered.chain);
  } catch (error) {
    if (toFault(error).code !== 'conflict') throw error;
    // Of two requests of a device that is to be onboarded the other one was first.
    const overtaken =
      (await onboardedWith(context, requester)) || (approval && (await isUsed(context, approval)));
    if (!overtaken || !(await isNext(context, exchange))) throw error;
  }
  // Who asks the same, at another instance, has come for it at this moment: the answer is as if this had come later.
  return certify(context, requester, ask);
}

const none: readonly Write[] = [];

/** The wish for what is planned. */
function petitionOf(
  context: Dependencies,
  requester: Requester,
  ask: Ask,
  plan: Plan,
  actor: Actor,
): Petition {
  const { configuration, ca, requested, proven } = plan;
  return petitionFor({
    identity: identityOf(requester, plan),
    actor,
    request: ask.request,
    requested,
    ca,
    outcomeAt: (now) => outcomeAt(context, requester, plan, requested, now),
    rehearse(outcome) {
      const { request } = proven;
      if (request) rehearse(context, configuration, { ca, outcome, subjectKey: request.publicKey, request });
    },
    goesOn: ask.exchange?.follows !== undefined,
    remembers: ask.exchange !== undefined,
  });
}

function givenAgain({ configuration, ca, requested }: Plan, given: StoredCertificate): Issuance {
  const { der: certificate } = given;
  const { chain } = configuration.ca(given.ca) ?? ca;
  const modified = !isAsRequested(requested, parseCertificate(certificate));
  return { kind: 'issued', certificate, chain, modified };
}

/** What is given again, in the exchange that it is asked for in. Faults: conflict, when it has been revoked meanwhile. */
async function recorded(
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
    ...(await answered(context, requester, exchange, issuance, false)),
  ]);
  return issuance;
}

/** A request with its key, and what the profile makes of it. */
interface Made {
  readonly request: VerifiedRequest;
  readonly outcome: ProfileOutcome;
  /** If it was made here. */
  readonly privateKey: Uint8Array | undefined;
}

/** An upstream CA has a mind of its own. */
function issuanceOf(
  ca: LoadedCa,
  { request, outcome, privateKey }: Made,
  certificate: Uint8Array,
  chain: readonly Uint8Array[],
): Issuance {
  const modified = !isAsRequested(request, ca.record.key ? outcome : parseCertificate(certificate));
  return { kind: 'issued', certificate, chain, modified, privateKey };
}

interface Company {
  readonly onboarded: readonly Write[];
  readonly exchange: IssuanceExchange | undefined;
  readonly approval: Approval | undefined;
}

/** What has to be in one commit with the certificate. */
const companions =
  (
    context: Pick<Ports, 'clock'>,
    requester: Requester,
    ca: LoadedCa,
    made: Made,
    { onboarded, exchange, approval }: Company,
  ) =>
  async (der: Uint8Array): Promise<readonly Write[]> => [
    ...onboarded,
    ...(exchange
      ? await answered(
          context,
          requester,
          exchange,
          issuanceOf(ca, made, der, ca.chain),
          ca.record.key !== null,
        )
      : []),
    ...(approval ? usedWrites(context, requesterActor(requester), approval, issuedCertificate) : []),
  ];

function identityOf(requester: Requester, { operation, profile, renewed, requested }: Plan) {
  const { subject, extensions, publicKey } = requested;
  return {
    requester: requesterKey(requester),
    protocol: requester.target.protocol,
    operation,
    domain: requester.domain.id,
    profile: profile.record.id,
    renews: operation === 'renewal' ? (renewed?.record.id ?? null) : null,
    subject,
    extensions,
    key: publicKey.spki.length > 0 ? publicKey : publicKey.type,
  };
}

/** The request with its key, which is not made before it is known that there will be a certificate for it. */
async function withMadeKey(
  context: Dependencies,
  requester: Requester,
  plan: Plan,
  wanted: WantedKey,
): Promise<Made> {
  const { request, privateKey } = await makeKey(context, wanted);
  const outcome = outcomeAt(context, requester, plan, request, context.clock.now());
  return { request, outcome, privateKey };
}

/**
 * The exchange as it is recorded with the certificate. What `lasts` is the chain: that of a CA
 * upstream may be another one when the answer is given again, so it is kept with it.
 */
async function answered(
  context: Pick<Ports, 'clock'>,
  requester: Requester,
  exchange: IssuanceExchange,
  issuance: Issuance,
  lasts: boolean,
): Promise<readonly Write[]> {
  const { confirmWithin } = exchange;
  const answer = await exchange.answer(issuance);
  const progress = {
    state: confirmWithin === undefined ? 'done' : 'waiting',
    lasts: confirmWithin ?? memory,
    certificate: issuedCertificate,
  } as const;
  const recorded = lasts ? answer : { ...answer, kept: undefined };
  return [exchangeWrite(context, requester, exchange, recorded, progress)];
}

/** Whether nothing that was asked for is missing or other. */
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
