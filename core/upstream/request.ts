import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import {
  demandActive,
  type IssuanceRequest,
  type Issued,
  issuedCertificate,
  prepareIssuance,
} from '../issuance/issue.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { UpstreamPurpose, UpstreamRequest } from '../records/upstream-request.ts';
import { idOf } from '../storage/commit.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { advance } from './advance.ts';
import { issuerNamed } from './chain.ts';
import type { WithCircuits } from './circuits.ts';
import { ask, deferral, joinable, newRequest } from './request-record.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** A certificate that may have to come from an upstream CA. */
export interface UpstreamIssuanceRequest extends IssuanceRequest {
  readonly operation: 'enrol' | 'renew';
  /** The certificate to be renewed, DER. */
  readonly renews: Uint8Array | undefined;
  /** See `Order.message`. */
  readonly message?: Uint8Array | undefined;
  /** `requestDigest` of the request: a repeated request joins the first one. Undefined: requests are never joined. */
  readonly digest: string | undefined;
  readonly purpose?: UpstreamPurpose | undefined;
}

/** How long a certificate is handed out again for the same request, because the response may have been lost. Milliseconds. */
const handedOutFor = 3_600_000;

/**
 * Requests a certificate from an upstream CA. When the same request is made several times, at once or one after the other, the
 * upstream CA gets it once, and all of them get the same certificate. Faults: those of the upstream CA's refusal; unsupported,
 * badCsr and badAlgorithm for a request that the upstream CA cannot handle; unavailable while it is unreachable.
 */
export async function requestFromUpstream(
  context: Dependencies,
  configuration: Configuration,
  wanted: UpstreamIssuanceRequest,
): Promise<Issued | Deferral> {
  await demandUnfactored(wanted.subjectKey);
  const request = await ask(context, configuration, wanted.digest, () =>
    recordOf(context, configuration, wanted),
  );
  return resultOf(context, wanted, request);
}

/**
 * Returns the current result of an earlier request with this digest, or undefined. Faults: those of
 * `requestFromUpstream`.
 */
export async function resumeFromUpstream(
  context: Dependencies,
  configuration: Configuration,
  wanted: Pick<UpstreamIssuanceRequest, 'ca' | 'alongside'>,
  digest: string,
): Promise<Issued | Deferral | undefined> {
  const known = await joinable(context, digest);
  return known && resultOf(context, wanted, await advance(context, configuration, known));
}

const resultOf = async (
  context: Dependencies,
  wanted: Pick<UpstreamIssuanceRequest, 'ca' | 'alongside'>,
  request: UpstreamRequest,
): Promise<Issued | Deferral> =>
  request.state === 'issued' ? handOut(context, wanted, request) : deferral(context, request);

/** Hands the certificate to its requester, in one commit with `alongside`. Faults: conflict when it has been revoked meanwhile. */
async function handOut(
  { store, clock }: Dependencies,
  { ca, alongside }: Pick<UpstreamIssuanceRequest, 'ca' | 'alongside'>,
  { id: request, certificate: id, expiresAt, protocol }: UpstreamRequest,
): Promise<Issued> {
  const record = id === null ? undefined : await store.get('certificate', id);
  if (!record) throw new Fault('unavailable', 'the certificate was deleted');
  const { der } = record;
  const until = Math.min(expiresAt, clock.now() + handedOutFor);
  // An administrator who requests the same name again wants another certificate.
  const set = { expiresAt: until, ...(protocol === 'management' && { answersFor: null }) };
  const writes: Write[] = [
    { op: 'require', kind: 'certificate', id: record.id, where: { status: 'good' }, as: issuedCertificate },
    { op: 'update', kind: 'upstreamRequest', id: request, set },
  ];
  writes.push(...((await alongside?.(der)) ?? []));
  const ids = await store.commit(writes);
  // `accept` may have brought the chain up to date since the configuration was read.
  const issuer = await store.get('issuingCa', ca.record.id);
  const chain = issuer ? [issuer.certificate, ...issuer.chain] : ca.chain;
  return { id: record.id, certificate: der, chain, idOf: (handle) => idOf(handle, writes, ids) };
}

/** The record of a new request. Faults: those of `prepareIssuance` and of the issuer's own check. */
function recordOf(
  context: Dependencies,
  configuration: Configuration,
  wanted: UpstreamIssuanceRequest,
): Omit<UpstreamRequest, 'id'> {
  const { ca, request, operation, renews, message, digest, purpose } = wanted;
  const name = ca.record.issuer ?? '';
  demandActive(ca);
  if (!request) throw new Fault('unsupported', 'an upstream CA requires a certification request');
  const issuer = issuerNamed(context, name);
  const prepared = prepareIssuance(context, configuration, wanted);
  issuer.check?.({ prepared, operation, renews, message });
  const { device, domain, profile, profileName, protocol, actor, inventoryName = null } = wanted;
  const about = { device, domain, profile, profileName, protocol, actor, inventoryName };
  return newRequest(
    context,
    { ...about, issuer: name, ca: ca.record.id, digest, operation, renews, message, purpose },
    prepared,
    request,
  );
}
