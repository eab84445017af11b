import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import { type Commission, type Issued, issue, issuedCertificate } from '../issuance/issue.ts';
import type { Deferral } from '../issuance/outcome.ts';
import { prepare } from '../issuance/prepare.ts';
import { newSerial } from '../issuance/serial.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { UpstreamPurpose, UpstreamRequest } from '../records/upstream-request.ts';
import type { LevelRules } from '../security/levels.ts';
import { idOf } from '../storage/commit.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { takeOn } from './advance.ts';
import { ask, deferral, joinable, newRequest } from './ask.ts';
import { issuerNamed } from './chain.ts';
import type { WithCircuits } from './circuits.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** A certificate that may have to come from an upstream CA. */
export interface UpstreamCommission extends Commission {
  readonly operation: 'enrol' | 'renew';
  /** The certificate to be renewed, DER. */
  readonly renews: Uint8Array | undefined;
  /** See `Order.message`. */
  readonly message?: Uint8Array | undefined;
  /** `requestDigest` of what is asked: the same asked again joins. Undefined: it is never the same. */
  readonly digest: string | undefined;
  readonly purpose?: UpstreamPurpose;
}

/** A certificate that has been handed out is so again for the same request: its answer may have been lost. */
const handedOutFor = 3_600_000;

/**
 * A certificate by a CA, whether its key is here or upstream. Of the same request asked several times at once or one after the
 * other, an upstream hears once, and all get the same certificate. Faults: those of `issue`; those of the upstream's refusal;
 * unsupported, badCsr and badAlgorithm for what it cannot be asked; unavailable while it is out of reach.
 */
export const order = (context: Dependencies, commission: UpstreamCommission): Promise<Issued | Deferral> =>
  commission.ca.record.key ? issue(context, commission) : orderUpstream(context, commission);

async function orderUpstream(
  context: Dependencies,
  commission: UpstreamCommission,
): Promise<Issued | Deferral> {
  await demandUnfactored(commission.subjectKey);
  const { security } = await context.configuration.current();
  const request = await ask(context, commission.digest, () => wantedOf(context, commission, security));
  return outcomeOf(context, commission, request);
}

/** What has been ordered before, under this digest, as far as it has come now; undefined when nothing has. As `order` else. */
export async function resume(
  context: Dependencies,
  commission: Pick<UpstreamCommission, 'ca' | 'alongside'>,
  digest: string,
): Promise<Issued | Deferral | undefined> {
  const known = await joinable(context, digest);
  return known && outcomeOf(context, commission, await takeOn(context, known));
}

const outcomeOf = async (
  context: Dependencies,
  commission: Pick<UpstreamCommission, 'ca' | 'alongside'>,
  request: UpstreamRequest,
): Promise<Issued | Deferral> =>
  request.state === 'issued' ? handOut(context, commission, request) : deferral(context, request);

/** To whoever asked for it, with all that goes along with that, in one commit. Faults: conflict when it has been revoked meanwhile. */
async function handOut(
  context: Dependencies,
  { ca, alongside }: Pick<UpstreamCommission, 'ca' | 'alongside'>,
  { id: request, certificate: id, expiresAt, protocol }: UpstreamRequest,
): Promise<Issued> {
  const { store, clock, configuration } = context;
  const record = id === null ? undefined : await store.get('certificate', id);
  if (!record) throw new Fault('unavailable', 'the certificate is gone');
  const { der } = record;
  const until = Math.min(expiresAt, clock.now() + handedOutFor);
  // Whoever asks for another one by the same name means another one.
  const set = { expiresAt: until, ...(protocol === 'management' && { answersFor: null }) };
  const writes: Write[] = [
    { op: 'require', kind: 'certificate', id: record.id, where: { status: 'good' }, as: issuedCertificate },
    { op: 'update', kind: 'upstreamRequest', id: request, set },
  ];
  writes.push(...((await alongside?.(der)) ?? []));
  const ids = await store.commit(writes);
  const chain = (await configuration.current()).ca(ca.record.id)?.chain ?? ca.chain;
  return { id: record.id, certificate: der, chain, idOf: (handle) => idOf(handle, writes, ids) };
}

/** Faults: those of `prepare` and of the issuer's own check. */
function wantedOf(
  context: Dependencies,
  commission: UpstreamCommission,
  security: LevelRules,
): Omit<UpstreamRequest, 'id'> {
  const { ca, outcome, subjectKey, operation, renews, message, digest, purpose } = commission;
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
    above: ca.above,
    security,
    ownNames: commission.forService ? undefined : context.settings.serverNames,
  });
  issuer.check?.({ prepared, operation, renews, message });
  const { device, domain, profile, profileName, protocol, actor, inventoryName = null } = commission;
  const about = { device, domain, profile, profileName, protocol, actor, inventoryName };
  return newRequest(
    context,
    { ...about, issuer: name, ca: ca.record.id, digest, operation, renews, message, purpose },
    prepared,
    request,
  );
}
