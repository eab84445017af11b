import { type Commission, type Issued, issue } from '../ca/issuance.ts';
import { prepare } from '../ca/prepared.ts';
import { newSerial } from '../ca/serial.ts';
import type { Context } from '../context.ts';
import type { Deferral } from '../enrolment/outcome.ts';
import { Fault } from '../fault.ts';
import type { Write } from '../ports/store.ts';
import { retried } from '../retry.ts';
import type { LevelRules } from '../security/levels.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { issuerNamed } from './chain.ts';
import { heldUntil, isOpen, step, takeOn } from './take-on.ts';
import type { UpstreamPurpose, UpstreamRequest } from './upstream-request.ts';

/** A certificate that may have to come from an upstream CA. */
export interface UpstreamCommission extends Commission {
  readonly operation: 'enrol' | 'renew';
  /** The certificate to be renewed, DER. */
  readonly renews: Uint8Array | undefined;
  /** `requestDigest` of what is asked: the same asked again joins. Undefined: it is never the same. */
  readonly digest: string | undefined;
  readonly purpose?: UpstreamPurpose;
}

/** For so long an upstream is given to decide. Milliseconds. */
const patience = 30 * 24 * 3_600_000;
/** A certificate that has been handed out is so again for the same request: its answer may have been lost. */
const handedOutFor = 3_600_000;
/** Seconds to come back in while the upstream is being asked, and at the most. */
const soon = 5;
const latest = 3600;

/**
 * A certificate by a CA, whether its key is here or upstream. Of the same request asked several times at once or one after the
 * other, an upstream hears once, and all get the same certificate. Faults: those of `issue`; those of the upstream's refusal;
 * unsupported, badCsr and badAlgorithm for what it cannot be asked; unavailable while it is out of reach.
 */
export async function order(context: Context, commission: UpstreamCommission): Promise<Issued | Deferral> {
  if (commission.ca.record.key) return issue(context, commission);
  const request = await ordered(context, commission);
  switch (request.state) {
    case 'issued':
      return handOut(context, commission, request);
    case 'failed':
      throw new Fault(request.code ?? 'unavailable', request.reason ?? 'the upstream CA did not issue it', {
        retryAfter: secondsUntil(context, request.nextAt),
      });
    case 'asked':
      if (request.attempts === 0) return { kind: 'pending', id: request.id, retryAfter: soon };
      throw new Fault('unavailable', request.reason ?? 'the upstream CA is out of reach', {
        retryAfter: secondsUntil(context, request.nextAt),
      });
    default:
      return { kind: 'pending', id: request.id, retryAfter: secondsUntil(context, request.nextAt) };
  }
}

/** To whoever asked for it, with all that goes along with that, in one commit. Faults: conflict when it has been revoked meanwhile. */
async function handOut(
  context: Context,
  { ca, alongside: more }: UpstreamCommission,
  { id: request, certificate: id, expiresAt }: UpstreamRequest,
): Promise<Issued> {
  const { store, clock, configuration } = context;
  const record = id === null ? undefined : await store.get('certificate', id);
  if (!record) throw new Fault('unavailable', 'the certificate is gone');
  const { der } = record;
  const until = Math.min(expiresAt, clock.now() + handedOutFor);
  const writes: Write[] = [
    // Nothing changes; it has to be so.
    { op: 'update', kind: 'certificate', id: record.id, where: { status: 'good' }, set: { status: 'good' } },
    { op: 'update', kind: 'upstreamRequest', id: request, set: { expiresAt: until } },
  ];
  const [, , ...alongside] = await store.commit([...writes, ...((await more?.(der, writes.length)) ?? [])]);
  const chain = (await configuration.current()).ca(ca.record.id)?.chain ?? ca.chain;
  return { id: record.id, certificate: der, chain, alongside };
}

const secondsUntil = ({ clock }: Context, time: number): number =>
  Math.min(latest, Math.max(1, Math.ceil((time - clock.now()) / 1000)));

/** The request as it stands, after it has been taken on as far as it goes now. */
const ordered = (context: Context, commission: UpstreamCommission): Promise<UpstreamRequest> =>
  // Somebody who asks the same may come in between.
  retried(async () => {
    const known = await joinable(context, commission.digest);
    if (known) return takeOn(context, known);
    const wanted = wantedOf(context, commission, (await context.configuration.current()).security);
    context.circuits.demand(wanted.issuer);
    const [id] = await context.store.commit([{ op: 'insert', kind: 'upstreamRequest', values: wanted }]);
    return step(context, { id: id!, ...wanted });
  });

/** What was asked before and is not over: not forgotten, nor is its certificate revoked. */
async function joinable(context: Context, digest: string | undefined): Promise<UpstreamRequest | undefined> {
  if (digest === undefined) return undefined;
  const { store, clock } = context;
  const known = await store.find('upstreamRequest', { answersFor: digest });
  if (!known) return undefined;
  const now = clock.now();
  if (isOpen(known) && now < known.expiresAt) return known;
  if (known.state === 'failed' && now < known.nextAt) return known;
  if (known.state === 'issued' && now < known.expiresAt) {
    const certificate =
      known.certificate === null ? undefined : await store.get('certificate', known.certificate);
    if (certificate?.status === 'good') return known;
  }
  const { id, state } = known;
  const set = {
    answersFor: null,
    ...(isOpen(known) && ({ state: 'failed', reason: 'nobody decided' } as const)),
  };
  await store.commit([
    { op: 'update', kind: 'upstreamRequest', id, where: { state, answersFor: digest }, set },
  ]);
  return undefined;
}

/** Faults: those of `prepare` and of the issuer's own check. */
function wantedOf(
  context: Context,
  commission: UpstreamCommission,
  security: LevelRules,
): Omit<UpstreamRequest, 'id'> {
  const { ca, outcome, subjectKey, operation, renews, digest, purpose } = commission;
  const name = ca.record.issuer ?? '';
  if (!ca.record.isActive) throw new Fault('unavailable', 'the issuing CA is not active');
  const request = commission.request;
  if (!request) throw new Fault('unsupported', 'an upstream CA certifies what a request asks for');
  const issuer = issuerNamed(context, name);
  const prepared = prepare({
    outcome,
    subjectKey,
    request,
    serial: newSerial(context.clock, context.entropy),
    issuerName: ca.certificate.subject,
    issuerKey: readPublicKey(ca.certificate.spki).type,
    issuer: ca.certificate,
    security,
  });
  issuer.check?.({ prepared, operation, ...(renews && { renews }) });
  const now = context.clock.now();
  const { device, domain, profile, profileName, protocol, actor, inventoryName } = commission;
  return {
    createdAt: now,
    issuer: name,
    state: 'asked',
    answersFor: digest ?? null,
    operation,
    ca: ca.record.id,
    subject: formatDistinguishedName(outcome.subject),
    wanted: prepared.tbs,
    requestKind: request.kind,
    request: request.der,
    renews: renews ?? null,
    device,
    domain,
    profile,
    profileName,
    protocol,
    actor,
    inventoryName: inventoryName ?? null,
    purpose: purpose ?? null,
    handle: null,
    attempts: 0,
    nextAt: heldUntil(context, issuer),
    expiresAt: now + patience,
    reason: null,
    code: null,
    refused: null,
    certificate: null,
  };
}
