import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import type { Prepared } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import { retried } from '../storage/commit.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import { advance, heldUntil, isOpen, step } from './advance.ts';
import type { WithCircuits } from './circuits.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** How long an upstream CA may take to decide. Milliseconds. */
const patience = 30 * 24 * 3_600_000;
/** Retry-After in seconds while a call to the upstream CA is under way, and the longest one. */
const soon = 5;
const latest = 3600;

type NewRequest = Omit<UpstreamRequest, 'id'>;

/**
 * Returns the request with this digest after advancing it as far as possible: an earlier one, or a new one that `wanted` returns.
 * Faults: those of `wanted`; unavailable while the upstream CA is unreachable.
 */
export const ask = (
  context: Dependencies,
  configuration: Configuration,
  digest: string | undefined,
  wanted: () => NewRequest | Promise<NewRequest>,
): Promise<UpstreamRequest> =>
  // The same request may be made concurrently.
  retried(async () => {
    const known = await joinable(context, digest);
    if (known) return advance(context, configuration, known);
    const values = await wanted();
    context.circuits.demand(values.issuer);
    const [id] = await context.store.commit([{ op: 'insert', kind: 'upstreamRequest', values }]);
    return step(context, configuration, { id: id!, ...values });
  });

/** Finds an earlier request with this digest that is not over, and whose certificate, if any, is not revoked. */
export async function joinable(
  { store, clock }: Pick<Ports, 'clock' | 'store'>,
  digest: string | undefined,
): Promise<UpstreamRequest | undefined> {
  const known =
    digest === undefined ? undefined : await store.find('upstreamRequest', { answersFor: digest });
  if (!known) return undefined;
  const { id, state, nextAt, expiresAt, certificate: issued } = known;
  const now = clock.now();
  if (state === 'failed' ? now < nextAt : now < expiresAt) {
    if (state !== 'issued') return known;
    const certificate = issued === null ? undefined : await store.get('certificate', issued);
    if (certificate?.status === 'good') return known;
  }
  const ending =
    isOpen(known) && ({ state: 'failed', reason: 'the upstream CA did not decide in time' } as const);
  const set = { answersFor: null, ...ending };
  await store.commit([
    { op: 'update', kind: 'upstreamRequest', id, where: { state, answersFor: digest! }, set },
  ]);
  return undefined;
}

/** Returns the deferral while there is no certificate. Faults: the reason why there will be none; unavailable. */
export function deferral(
  { clock }: Pick<Ports, 'clock'>,
  { id, state, attempts, reason, code, nextAt }: UpstreamRequest,
): Deferral {
  const seconds = Math.min(latest, Math.max(1, Math.ceil((nextAt - clock.now()) / 1000)));
  if (state === 'failed' || (state === 'asked' && attempts > 0)) {
    throw new Fault(code ?? 'unavailable', reason ?? 'the upstream CA did not issue the certificate', {
      retryAfter: seconds,
    });
  }
  return { kind: 'pending', id, retryAfter: state === 'asked' ? soon : seconds, upstream: true };
}

/** For whom, by which rules and under which digest a certificate is requested from an upstream CA. */
type About = Pick<
  UpstreamRequest,
  | 'issuer'
  | 'ca'
  | 'operation'
  | 'device'
  | 'domain'
  | 'profile'
  | 'profileName'
  | 'protocol'
  | 'actor'
  | 'inventoryName'
> & {
  readonly digest: string | undefined;
  readonly renews?: Uint8Array | undefined;
  readonly message?: Uint8Array | undefined;
  readonly purpose?: UpstreamRequest['purpose'] | undefined;
};

/** The record of a request before it is sent, held by the caller that creates it. */
export function newRequest(
  context: Pick<Ports, 'clock' | 'issuers'>,
  { digest, renews, message, purpose = null, ...about }: About,
  { template, tbs }: Prepared,
  { kind, der }: VerifiedRequest,
): NewRequest {
  const now = context.clock.now();
  return {
    ...about,
    createdAt: now,
    state: 'asked',
    answersFor: digest ?? null,
    subject: formatDistinguishedName(template.subject),
    wanted: tbs,
    requestKind: kind,
    request: der,
    renews: renews ?? null,
    message: message ?? null,
    purpose,
    handle: null,
    attempts: 0,
    nextAt: heldUntil(context, context.issuers.get(about.issuer)),
    expiresAt: now + patience,
    reason: null,
    code: null,
    refused: null,
    certificate: null,
  };
}
