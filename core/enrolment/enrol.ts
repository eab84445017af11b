import { clear, isUsed } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import { rehearse } from '../ca/issuance.ts';
import { audit, brief, type Context, recordRefusal } from '../context.ts';
import { sameBytes } from '../der/bytes.ts';
import { type Fault, toFault } from '../fault.ts';
import { demandAwaited, onboardedWrites } from '../onboarding/outcome.ts';
import type { Write } from '../ports/store.ts';
import type { ProfileRequest } from '../profiles/request.ts';
import { demandOpener, exchangeWrite, isNext, memory, refusedExchange } from '../transactions/record.ts';
import { order } from '../upstream/order.ts';
import { type Certificate, parseCertificate } from '../x509/certificate.ts';
import { sameName } from '../x509/name.ts';
import { requesterActor } from './admit.ts';
import { makeKey, type WantedKey } from './central-key.ts';
import { requestDigest, requesterKey } from './identity.ts';
import type { Ask, Issuance, IssuanceExchange, Outcome } from './outcome.ts';
import { petitionFor } from './petition.ts';
import { type Plan, planFor } from './plan.ts';
import type { Requester } from './requester.ts';

/** Do it. See `Gateway.enrol`. Refusals are audited, as far as the budget of who asks goes. */
export async function enrol(context: Context, requester: Requester, ask: Ask): Promise<Outcome> {
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
  context: Context,
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
async function certify(context: Context, requester: Requester, ask: Ask): Promise<Outcome> {
  const plan = await planFor(context, requester, ask);
  const { configuration, profile, ca, device, operation, requested, outcomeOf } = plan;
  const { domain, target } = requester;
  const { exchange } = ask;
  const actor = requesterActor(requester);
  const matter = { operation, protocol: target.protocol, domain, profile: profile.record, device };
  const clearing = clear(context, configuration, matter, () =>
    petitionFor({
      identity: identityOf(requester, plan),
      actor,
      request: ask.request,
      requested,
      ca,
      outcomeAt: (now) => outcomeOf(requested, now),
      rehearse(outcome) {
        const { request } = plan.proven;
        if (request)
          rehearse(context, configuration, { ca, outcome, subjectKey: request.publicKey, request });
      },
      goesOn: exchange?.follows !== undefined,
      remembers: exchange !== undefined,
    }),
  );
  const clearance = clearing instanceof Promise ? await clearing : clearing;
  if (clearance.kind === 'pending') return clearance;
  if (clearance.kind === 'given') {
    const { ca: issuer, der: certificate } = clearance.certificate;
    const { chain } = configuration.ca(issuer) ?? ca;
    const modified = !isAsRequested(requested, parseCertificate(certificate));
    return { kind: 'issued', certificate, chain, modified };
  }
  const { approval } = clearance;
  const { request, privateKey, outcome } = plan.proven.request
    ? { request: plan.proven.request, outcome: plan.planned, privateKey: undefined }
    : await withMadeKey(context, plan, plan.proven.wanted);
  const isLocal = ca.record.key !== null;
  const modified = isLocal && !isAsRequested(request, outcome);
  const issuanceOf = (certificate: Uint8Array, chain: readonly Uint8Array[]): Issuance => ({
    kind: 'issued',
    certificate,
    chain,
    modified: isLocal ? modified : !isAsRequested(request, parseCertificate(certificate)),
    privateKey,
  });
  const onboarded = plan.onboards ? await onboardedWrites(context, requester, device) : [];
  const alongside = async (der: Uint8Array): Promise<readonly Write[]> => [
    ...onboarded,
    ...(exchange ? await answered(context, requester, exchange, issuanceOf(der, ca.chain), isLocal) : []),
    ...(approval ? usedWrites(context, actor, approval, { ref: 0 }) : []),
  ];
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
      digest: isLocal ? undefined : requestDigest(identityOf(requester, plan)),
      alongside: onboarded.length > 0 || exchange || approval ? alongside : undefined,
    });
    return 'kind' in ordered ? ordered : issuanceOf(ordered.certificate, ordered.chain);
  } catch (error) {
    // Of two requests of a device that is to be onboarded the other one was first.
    if (toFault(error).code !== 'conflict') throw error;
    await demandAwaited(context, requester);
    const overtaken = approval && (await isUsed(context, approval)) && (await isNext(context, exchange));
    if (!overtaken) throw error;
  }
  // Who asks the same, at another instance, has come for it at this moment: the answer is as if this had come later.
  return certify(context, requester, ask);
}

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
async function withMadeKey(context: Context, { outcomeOf }: Plan, wanted: WantedKey) {
  const { request, privateKey } = await makeKey(context, wanted);
  return { request, outcome: outcomeOf(request, context.clock.now()), privateKey };
}

/**
 * The exchange as it is recorded with the certificate. That is the first write of its commit. What `lasts` is the chain: that of a CA
 * upstream may be another one when the answer is given again, so it is kept with it.
 */
async function answered(
  context: Context,
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
    certificate: { ref: 0 },
  } as const;
  const recorded = lasts ? answer : { ...answer, kept: undefined };
  return [exchangeWrite(context, requester, exchange, recorded, progress)];
}

/** Whether nothing that was asked for is missing or other. */
function isAsRequested(
  request: ProfileRequest,
  outcome: Pick<Certificate, 'subject' | 'extensions'>,
): boolean {
  return (
    sameName(request.subject, outcome.subject) &&
    request.extensions.every((wanted) =>
      outcome.extensions.some(({ oid, value }) => oid === wanted.oid && sameBytes(value, wanted.value)),
    )
  );
}
