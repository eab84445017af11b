import { policyOn, requestApproval } from '../approvals/clearance.ts';
import { usedWrites } from '../approvals/transitions.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import type { WithRefusalBudget } from '../audit/refusal-budget.ts';
import type { Crls } from '../ca/crls.ts';
import { deactivationWrites, type Revocation, revocationWrites } from '../ca/revocation.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault, toFault } from '../fault.ts';
import type { CertificateReference, Deferral } from '../issuance/enrolment-request.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { requesterActor } from '../requester/admit.ts';
import { requesterKey } from '../requester/request-identity.ts';
import type { CredentialKind, Requester } from '../requester/requester.ts';
import type { Exchange, ExchangeWithResponse } from '../transactions/exchange.ts';
import { demandOpener, exchangeWrite, refusedExchange, responseRetention } from '../transactions/record.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstream } from '../upstream/revocation.ts';
import { parseCertificate } from '../x509/certificate.ts';
import type { CertTemplate } from '../x509/crmf.ts';
import { isDescribedBy } from '../x509/described.ts';
import { revocationApprovalRequest } from './approval-request.ts';
import { findReferred } from './renewed.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithRefusalBudget {}

/** The revocation, hold or release of one certificate. */
export interface RevocationEntry extends Revocation {
  readonly certificate: CertificateReference;
  /** Further properties that the request names; the certificate must have them. */
  readonly described?: CertTemplate | undefined;
}

/** For each entry in order: undefined when it was done, or the reason why it was not. */
export type RevocationResults = readonly (Fault | undefined)[];

export interface RevocationRequest {
  readonly entries: readonly RevocationEntry[];
  /** The response is stored in one commit with the revocations. */
  readonly exchange: ExchangeWithResponse<RevocationResults>;
}

/** The writes for an entry that passed all checks. */
interface RevocationPlan {
  readonly record: StoredCertificate;
  readonly writes: readonly Write[];
}

/**
 * Revokes certificates for an admitted requester; see `Gateway.revoke`. Every entry is audited, rejected ones as far as the
 * requester's budget allows. While one entry is pending approval, none is done and nothing of the exchange is stored.
 */
export async function revoke(
  context: Dependencies,
  crls: Crls,
  requester: Requester,
  { entries, exchange }: RevocationRequest,
): Promise<Deferral | undefined> {
  demandOpener(requester, exchange);
  const { configuration } = requester;
  const actor = requesterActor(requester);
  const plans: (RevocationPlan | Fault)[] = [];
  const named = new Set<number>();
  let deferral: Deferral | undefined;
  for (const entry of entries) {
    try {
      const plan = await planEntry(context, requester, entry, exchange);
      if (named.has(plan.record.id))
        throw new Fault('conflict', 'the request names the same certificate twice');
      named.add(plan.record.id);
      if ('kind' in plan) deferral = latest(deferral, plan);
      else plans.push(plan);
    } catch (error) {
      plans.push(refused(error));
    }
  }
  if (deferral) return deferral;
  const writes: Write[] = [];
  const results: (Fault | undefined)[] = [];
  const revoked = new Set<StoredCertificate>();
  for (const [n, plan] of plans.entries()) {
    const entry = entries[n]!;
    try {
      if (plan instanceof Fault) throw plan;
      await revokeUpstream(context, configuration, plan.record, entry.reason);
      writes.push(...plan.writes);
      revoked.add(plan.record);
      results.push(undefined);
    } catch (error) {
      const fault = refused(error);
      results.push(fault);
      await recordFailure(context, requester, entry, fault);
    }
  }
  const answer = await exchange.answer(results);
  const certificate = revoked.values().next().value?.id ?? null;
  const progress = { state: 'done', lasts: responseRetention, certificate } as const;
  try {
    await context.store.commit([...writes, exchangeWrite(context, requester, exchange, answer, progress)]);
  } catch (error) {
    throw refusedExchange(error, exchange);
  }
  if (revoked.size === 0) return undefined;
  context.configuration.expire();
  await crls.generateAfterRevocation(
    [...revoked].map(({ ca }) => ca),
    actor,
  );
  return undefined;
}

/** Returns the Fault as the result of its entry, or throws it when the gateway is the cause. */
function refused(error: unknown): Fault {
  const fault = toFault(error);
  if (fault.code === 'internal' || fault.code === 'unavailable') throw error;
  return fault;
}

const latest = (one: Deferral | undefined, other: Deferral): Deferral =>
  one && (one.lasts ?? 0) >= (other.lasts ?? 0) ? one : other;

async function planEntry(
  context: Dependencies,
  requester: Requester,
  entry: RevocationEntry,
  exchange: Exchange,
): Promise<RevocationPlan | (Deferral & Pick<RevocationPlan, 'record'>)> {
  if (entry.invalidityDate !== undefined && entry.invalidityDate > context.clock.now()) {
    throw new Fault('malformed', 'invalidityDate is in the future');
  }
  const { configuration } = requester;
  const record = await revocable(context, requester, entry);
  const actor = requesterActor(requester);
  const writes = [...revocationWrites(context, configuration, actor, record, entry)];
  if (entry.reason !== 'removeFromCRL') {
    writes.push(...deactivationWrites(context, configuration, actor, record));
  }
  const device = record.device === null ? undefined : await context.store.get('device', record.device);
  const profile = record.profile === null ? undefined : configuration.profile(record.profile)?.record;
  const policyContext = {
    operation: 'revocation',
    protocol: requester.target.protocol,
    domain: requester.domain,
    profile,
    device,
  } as const;
  const policy = policyOn(configuration, policyContext);
  const clearance = await requestApproval(context, configuration, policy, policyContext, () =>
    revocationApprovalRequest({
      requester: requesterKey(requester),
      actor,
      policyContext,
      record,
      entry,
      exchange,
    }),
  );
  if (clearance.kind === 'pending') return { ...clearance, record };
  if (clearance.kind === 'cleared' && clearance.approval) {
    writes.push(...usedWrites(context, actor, clearance.approval, record.id));
  }
  return { record, writes };
}

/** Faults: notFound, also for a certificate of another domain or with other properties than described; forbidden. */
async function revocable(
  context: Pick<Ports, 'store'>,
  requester: Requester,
  { certificate, described }: RevocationEntry,
): Promise<StoredCertificate> {
  const record = await findReferred(context.store, requester.configuration, certificate);
  if (!record || record.domain !== requester.domain.id) {
    throw new Fault('notFound', 'there is no such certificate');
  }
  if (!mayRevoke[requester.credential](requester, record)) {
    throw new Fault('forbidden', 'these credentials do not permit revoking this certificate');
  }
  if (described && !isDescribedBy(parseCertificate(record.der), described)) {
    throw new Fault(
      'notFound',
      'the certificate with this issuer and serial number does not match its description in the request',
    );
  }
  return record;
}

const isOfSameDevice = ({ device }: Requester, record: StoredCertificate): boolean =>
  device !== undefined && record.device === device.id;

/** What each kind of credential may revoke, over every protocol. A shared secret may revoke nothing (RFC 9483 §4.2). */
const mayRevoke: Record<CredentialKind, (requester: Requester, record: StoredCertificate) => boolean> = {
  password: () => false,
  idevid: () => false,
  domainCredential: isOfSameDevice,
  issuedCertificate: ({ presented }, record) => presented?.record.id === record.id,
  registrationAuthority: () => true,
};

async function recordFailure(
  context: Dependencies,
  requester: Requester,
  { certificate: { serialNumber }, reason }: RevocationEntry,
  { code, detail }: Fault,
): Promise<void> {
  const unrecorded = context.refusals.take(requesterKey(requester));
  if (unrecorded === undefined) return;
  await recordRefusal(
    context,
    audit(context, requesterActor(requester), {
      action: 'certificate.revoke',
      object: `domain:${requester.domain.uniqueName}`,
      outcome: 'refused',
      detail: {
        protocol: requester.target.protocol,
        serialNumber: shorten(serialNumber),
        reason,
        code,
        why: shorten(detail),
        ...(unrecorded > 0 && { unrecorded }),
      },
    }),
  );
}
