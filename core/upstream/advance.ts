import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault, type FaultCode, toFault } from '../fault.ts';
import { recall } from '../issuance/prepare.ts';
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

/** What a call takes that says nothing itself, and what is left on top of it before another try. Milliseconds. */
const usualTimeout = 60_000;
const margin = 5_000;
/** Of the pause after a failure; it doubles. Longer ones the upstream may ask for. */
const shortestPause = 5_000;
const longestPause = 600_000;
const longestWait = 3_600_000;

/** Until when whoever takes a request on now has an answer, or none will come. */
export const heldUntil = (context: Pick<Ports, 'clock'>, issuer: Issuer | undefined): number =>
  context.clock.now() + (issuer?.timeout ?? usualTimeout) + margin;

const unknownAnswer = 'the response of the upstream CA was lost, and the request cannot be repeated';

export const isOpen = ({ state }: UpstreamRequest): boolean =>
  state === 'asked' || state === 'pending' || state === 'received';

/**
 * Takes a request on that is due: of all instances and calls that try at once, one. What it is like after that. Whatever the
 * upstream does is in the record, never thrown. Faults: unavailable of the store.
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

/** The next step of a request that the caller holds; `again`: somebody else has held it before. As `advance` else. */
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
    // Whoever ended it in between has said what becomes of it.
    if (fault.code === 'conflict') return reread(context, request);
    if (fault.code === 'internal') {
      context.log.error('an upstream request failed', error, { request: request.id });
    }
    await setBack(context, request, fault);
  }
  const after = await reread(context, request);
  // What is recorded is confirmed at once.
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
  // Asked once more, it might make a second certificate.
  const once = request.state === 'asked' && !issuer.repeatable;
  if (once && again) return fail(context, configuration, request, new Fault('unavailable', unknownAnswer), 0);
  const order = orderOf(request);
  let answer: IssuerAnswer;
  try {
    answer = await context.circuits.watch(request.issuer, () => call(request, issuer, order));
  } catch (error) {
    const fault = toFault(error);
    if (fault.code === 'internal') throw fault;
    // An answer that cannot be read is not the fault of whoever asked.
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
  if (answer.kind === 'issued') return accept(context, configuration, request, issuer, order, answer);
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
  // Proof of possession was demanded of it when it came; an RA's word for it was taken then, or not.
  const verified =
    requestKind === 'pkcs10' ? verifyPkcs10(request) : verifyCertReqMsg(request, { raVerified: true });
  return {
    prepared: recall(wanted, verified),
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
      await context.circuits.watch(request.issuer, () => tell(issuer, handle ?? '', certificate));
  } catch (error) {
    const fault = toFault(error);
    if (!refusals.has(fault.code)) throw fault;
    // RFC 9810 §5.3.18: what is not confirmed its CA may revoke.
    context.log.error('an upstream CA rejected a confirmation; its certificate is revoked', fault, {
      issuer: request.issuer,
      request: request.id,
    });
    const detail = `the certificate could not be confirmed: ${fault.detail}`;
    return withdraw(context, configuration, request, new Fault('unavailable', detail, { cause: fault }));
  }
  await change(context, request, { state: 'issued', handle: null, attempts: 0, reason: null, code: null });
}

/** What is no answer, or cannot be read, says nothing of what the upstream made of it. */
const refusals: ReadonlySet<FaultCode> = new Set(['forbidden', 'badCsr', 'badAlgorithm', 'unsupported']);

async function tell(issuer: Issuer, handle: string, certificate: Uint8Array): Promise<void> {
  if (!issuer.confirm) throw new Fault('unsupported', 'the upstream CA does not support confirmations');
  await issuer.confirm(handle, certificate, true);
}

/** Tried again later, and later each time. */
async function setBack(
  context: Pick<Ports, 'clock' | 'store'>,
  request: UpstreamRequest,
  fault: Fault,
): Promise<void> {
  const attempts = request.attempts + 1;
  const pause = Math.min(longestPause, shortestPause * 2 ** Math.min(attempts - 1, 10));
  const wished = Math.min(longestWait, (fault.retryAfter ?? 0) * 1000);
  await change(context, request, {
    attempts,
    nextAt: context.clock.now() + Math.max(pause, wished),
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
      // Another one has taken it on.
      if (toFault(error).code !== 'conflict') throw error;
    });
}
