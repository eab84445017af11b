import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault, type FaultCode, toFault } from '../fault.ts';
import { restorePrepared } from '../issuance/prepare.ts';
import type { Issuer, IssuerAnswer, Order } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Changes } from '../ports/store.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '../x509/request.ts';
import { accept } from './accept.ts';
import { issuerNamed } from './chain.ts';
import type { WithCircuits } from './circuits.ts';
import { certifiedCa, fail, refuse, withdraw, wrongHolds } from './failure.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** The timeout of an issuer that names none, and the time after it until the request may be retried. Milliseconds. */
const usualTimeout = 60_000;
const margin = 5_000;
/** The pause after a failure doubles with each failure. The upstream CA may demand longer pauses. */
const shortestPause = 5_000;
const longestPause = 600_000;
const longestWait = 3_600_000;

/** Until when the caller that advances a request now is sure to have a response or to have failed. */
export const heldUntil = (context: Pick<Ports, 'clock'>, issuer: Issuer | undefined): number =>
  context.clock.now() + (issuer?.timeout ?? usualTimeout) + margin;

const lostResponse = 'the response of the upstream CA was lost, and the request cannot be repeated';

export const isOpen = ({ state }: UpstreamRequest): boolean =>
  state === 'asked' || state === 'pending' || state === 'received';

/**
 * Advances a request that is due, and returns its new record. Of all instances and calls that try at once, one succeeds. Failures of the
 * upstream CA are recorded, never thrown. Faults: unavailable of the store.
 */
export async function advance(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
): Promise<UpstreamRequest> {
  if (!isOpen(request) || request.nextAt > context.clock.now() || context.circuits.isOpen(request.issuer))
    return request;
  const nextAt = heldUntil(context, context.issuers.get(request.issuer));
  const { id, state, nextAt: due } = request;
  try {
    await context.store.commit([
      { op: 'update', kind: 'upstreamRequest', id, where: { state, nextAt: due }, set: { nextAt } },
    ]);
  } catch (error) {
    if (toFault(error).code !== 'conflict') throw error;
    return reread(context, request);
  }
  return step(context, configuration, { ...request, nextAt }, true);
}

/** Performs the next step of a request that the caller holds. `again`: another caller held it before. Otherwise like `advance`. */
export async function step(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  again = false,
): Promise<UpstreamRequest> {
  try {
    await ask(context, configuration, request, again);
  } catch (error) {
    const fault = toFault(error);
    // Another caller has ended the request concurrently and recorded its result.
    if (fault.code === 'conflict') return reread(context, request);
    if (fault.code === 'internal') {
      context.log.error('an upstream request failed', error, { request: request.id });
    }
    await scheduleRetry(context, request, fault);
  }
  const after = await reread(context, request);
  // A certificate that is recorded is confirmed at once.
  return request.state !== 'received' && after.state === 'received'
    ? advance(context, configuration, after)
    : after;
}

async function reread({ store }: Pick<Ports, 'store'>, request: UpstreamRequest): Promise<UpstreamRequest> {
  const record = await store.get('upstreamRequest', request.id);
  if (!record) throw new Fault('unavailable', 'the upstream request was deleted');
  return record;
}

async function ask(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  again: boolean,
): Promise<void> {
  const issuer = issuerNamed(context, request.issuer);
  if (request.state === 'received') return confirm(context, configuration, request, issuer);
  // An issuer that is not repeatable might issue a second certificate.
  const once = request.state === 'asked' && !issuer.repeatable;
  if (once && again) return fail(context, configuration, request, new Fault('unavailable', lostResponse), 0);
  const order = orderOf(request);
  let answer: IssuerAnswer;
  try {
    answer = await context.circuits.watch(request.issuer, () => call(request, issuer, order));
  } catch (error) {
    const fault = toFault(error);
    if (fault.code === 'internal') throw fault;
    // The requester is not to blame for a response that cannot be read.
    if (fault.code === 'malformed')
      return fail(
        context,
        configuration,
        request,
        new Fault('unavailable', fault.detail, { cause: fault }),
        wrongHolds,
      );
    if (fault.code !== 'unavailable') return refuse(context, configuration, request, fault);
    if (!once) throw fault;
    return fail(
      context,
      configuration,
      request,
      new Fault('unavailable', `${fault.detail}; the request is not repeated`),
      0,
    );
  }
  if (answer.kind === 'issued') {
    // The upstream CA may have taken long: its certificate is checked under the configuration at its arrival.
    const arrival = await context.configuration.current();
    return accept(context, arrival, request, issuer, order, answer);
  }
  await change(context, request, {
    state: 'pending',
    handle: answer.handle,
    attempts: 0,
    nextAt: context.clock.now() + Math.min(longestWait, Math.max(1, answer.retryAfter) * 1000),
    reason: null,
    code: null,
  });
}

function call({ state, handle }: UpstreamRequest, issuer: Issuer, order: Order): Promise<IssuerAnswer> {
  if (state === 'asked') return issuer.issue(order);
  if (!issuer.poll) throw new Fault('unsupported', 'the upstream CA does not support polling');
  return issuer.poll(handle ?? '', order);
}

function orderOf(record: UpstreamRequest): Order {
  const { createdAt, wanted, requestKind, request, operation, renews, message } = record;
  // The proof of possession was checked on arrival, including whether a registration authority may vouch for it.
  const verified =
    requestKind === 'pkcs10' ? verifyPkcs10(request) : verifyCertReqMsg(request, { raVerified: true });
  return {
    prepared: restorePrepared(wanted, verified),
    operation,
    createdAt,
    renews: renews ?? undefined,
    message: message ?? undefined,
  };
}

async function confirm(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  issuer: Issuer,
): Promise<void> {
  const { handle, certificate: id } = request;
  const record = id === null ? undefined : await context.store.get('certificate', id);
  const certificate = record?.der ?? (await certifiedCa(context, request))?.certificate;
  try {
    if (certificate)
      await context.circuits.watch(request.issuer, () => sendConfirmation(issuer, handle ?? '', certificate));
  } catch (error) {
    const fault = toFault(error);
    if (!refusals.has(fault.code)) throw fault;
    // RFC 9810 §5.3.18: the CA may revoke a certificate that is not confirmed.
    context.log.error('an upstream CA rejected a confirmation; its certificate is revoked', fault, {
      issuer: request.issuer,
      request: request.id,
    });
    const detail = `the certificate could not be confirmed: ${fault.detail}`;
    return withdraw(context, configuration, request, new Fault('unavailable', detail, { cause: fault }));
  }
  await change(context, request, { state: 'issued', handle: null, attempts: 0, reason: null, code: null });
}

/** Faults by which an upstream CA rejects a confirmation. After any other Fault it is unknown what the CA decided. */
const refusals: ReadonlySet<FaultCode> = new Set(['forbidden', 'badCsr', 'badAlgorithm', 'unsupported']);

async function sendConfirmation(issuer: Issuer, handle: string, certificate: Uint8Array): Promise<void> {
  if (!issuer.confirm) throw new Fault('unsupported', 'the upstream CA does not support confirmations');
  await issuer.confirm(handle, certificate, true);
}

/** Schedules a retry, later after each failure. */
async function scheduleRetry(
  context: Pick<Ports, 'clock' | 'store'>,
  request: UpstreamRequest,
  fault: Fault,
): Promise<void> {
  const attempts = request.attempts + 1;
  const pause = Math.min(longestPause, shortestPause * 2 ** Math.min(attempts - 1, 10));
  const demanded = Math.min(longestWait, (fault.retryAfter ?? 0) * 1000);
  await change(context, request, {
    attempts,
    nextAt: context.clock.now() + Math.max(pause, demanded),
    reason: fault.code === 'internal' ? 'internal error' : fault.detail,
    code: fault.code,
  });
}

async function change(
  { store }: Pick<Ports, 'store'>,
  { id, state, nextAt }: UpstreamRequest,
  set: Changes<'upstreamRequest'>,
): Promise<void> {
  await store
    .commit([{ op: 'update', kind: 'upstreamRequest', id, where: { state, nextAt }, set }])
    .catch((error: unknown) => {
      // Another caller is advancing the request.
      if (toFault(error).code !== 'conflict') throw error;
    });
}
