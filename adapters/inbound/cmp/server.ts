import { type PkiBody, parsePkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import type { SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { findValue } from '#adapters/wire/cmp/typed-value.ts';
import { hex, sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import type { Transaction } from '#core/records/transaction.ts';
import type { Target } from '#core/requester/evidence.ts';
import type { Requester } from '#core/requester/requester.ts';
import { abandon, confirm } from './confirmation.ts';
import { enrol, isEnrolment } from './enrolment.ts';
import type { CmpServices, MessageContext } from './message-context.ts';
import { checkMessageTime } from './message-time.ts';
import { unwrap } from './nested.ts';
import { acceptsBody, matchesInfoType } from './operations.ts';
import type { CmpPath } from './path.ts';
import { poll } from './poll.ts';
import { isDefect, isOfRequest, isUnknownToCore, Refusal, refusalStatus } from './refusal.ts';
import { complete, noSeal, reply, type Seal, signatureSeal } from './reply.ts';
import { revoke } from './revocation.ts';
import { identify, NotAdmitted, type Sender } from './sender.ts';
import { rejectionOf } from './status-responses.ts';
import { inform } from './support.ts';

/** How a message arrived. */
export interface Arrival {
  readonly path: CmpPath;
  readonly address: string;
  /** It arrived over TLS. */
  readonly secure: boolean;
  /** The registration authority whose nested message contained it. */
  readonly relay: Requester | undefined;
}

/** Returns the response (DER) to a message with any body. */
export async function respond(
  services: CmpServices,
  message: SealedPkiMessage,
  arrival: Arrival,
): Promise<Uint8Array> {
  let sender: Sender | undefined;
  // Set once header and protection are checked: later failures concern the body.
  let isAboutBody = false;
  try {
    const name = transactionName(message);
    const { transaction, answer } = await services.gateway.transactions.recall(name, message.der);
    if (transaction && answer) return await complete(services.gateway, transaction, answer);
    const target = targetOf(message, arrival.path, transaction);
    sender = await identify(services.gateway, services.entropy, message, target, arrival);
    checkMessageTime(services, message.header);
    checkNonces(message, transaction);
    const { operation } = arrival.path;
    if (!acceptsBody(operation, message.bodyType)) throw wrongOperation(message);
    isAboutBody = true;
    const body = parsePkiBody(message.bodyDer);
    if (!matchesInfoType(operation, body)) throw wrongOperation(message);
    return await dispatch(services, { ...sender, ...arrival, message, name, transaction }, body);
  } catch (thrown) {
    const notAdmitted = thrown instanceof NotAdmitted ? thrown : undefined;
    const error = notAdmitted ? notAdmitted.cause : thrown;
    // If two copies of a message arrive at once, the second one gets the response to the first.
    const repeated = isReplay(error) ? await storedResponse(services, message) : undefined;
    if (repeated) return repeated;
    if (isDefect(error)) services.log.error('a CMP message could not be processed', error);
    const status = refusalStatus(error);
    if (isUnknownToCore(error)) await recordRefusal(services, arrival, sender, status);
    const seal = (sender ?? notAdmitted)?.seal ?? (await sealForUnknownSender(services, arrival.path.domain));
    const rejection = isAboutBody && isOfRequest(error) ? rejectionOf(message.bodyType, status) : undefined;
    return (await reply(services, message, seal, rejection ?? { type: 'error', status })).message;
  }
}

const wrongOperation = ({ bodyType }: SealedPkiMessage): Refusal =>
  new Refusal('badRequest', `a body of type ${bodyType} does not belong to the operation in the path`);

const recordRefusal = (
  { gateway }: CmpServices,
  { path: { domain, profile }, address }: Arrival,
  sender: Sender | undefined,
  { failInfo = [], statusString = [] }: PkiStatusInfo,
): Promise<void> =>
  gateway.refused({
    target: { protocol: 'cmp', domain, profile },
    address,
    reason: `${failInfo.join()}: ${statusString[0]}`,
    requester: sender?.requester,
  });

const isReplay = (error: unknown): boolean => error instanceof Fault && error.code === 'replayed';

async function storedResponse({ gateway }: CmpServices, message: SealedPkiMessage) {
  const { transaction, answer } = await gateway.transactions.recall(transactionName(message), message.der);
  return transaction && answer && complete(gateway, transaction, answer);
}

const maxIdOctets = 64;
const minNonceOctets = 16;

/** Returns the transactionID in upper-case hex. Checks what can be checked in a header before its sender is authenticated. */
function transactionName({ header: { pvno, transactionID, senderNonce } }: SealedPkiMessage): string {
  if (pvno !== 2 && pvno !== 3) throw new Refusal('unsupportedVersion', 'pvno must be 2 or 3');
  if (!transactionID?.length || transactionID.length > maxIdOctets) {
    throw new Refusal('badDataFormat', `transactionID must have 1 to ${maxIdOctets} octets`);
  }
  if (!senderNonce || senderNonce.length < minNonceOctets) {
    throw new Refusal('badSenderNonce', `senderNonce must have at least ${minNonceOctets} octets`);
  }
  return hex(transactionID);
}

/**
 * Returns domain and profile of a message. generalInfo may name the profile too (RFC 9483 §4.1.1). A message that continues a
 * transaction concerns the profile of its request.
 */
function targetOf({ header }: SealedPkiMessage, path: CmpPath, transaction: Transaction | undefined): Target {
  const target = { protocol: 'cmp', domain: path.domain } as const;
  if (transaction) return { ...target, profile: transaction.profile ?? undefined };
  const named = findValue(header.generalInfo, infoTypes.certProfile);
  if (named && named.length > 1) throw new Refusal('badRequest', 'certProfile names several profiles');
  const profile = named?.[0] ?? path.profile;
  if (path.profile !== undefined && profile !== path.profile) {
    throw new Refusal('badRequest', 'certProfile and the path name different profiles');
  }
  return { ...target, profile };
}

const continuing: ReadonlySet<string> = new Set(['certConf', 'pollReq', 'error']);

/** Checks recipNonce: absent in the first message, then the senderNonce of the last response (RFC 9483 §3.5). */
function checkNonces({ header, bodyType }: SealedPkiMessage, transaction: Transaction | undefined): void {
  const { recipNonce } = header;
  // The nonces of a nested message are independent of the transactions inside it.
  if (bodyType === 'nested') return;
  if (!continuing.has(bodyType)) {
    if (transaction)
      throw new Refusal('transactionIdInUse', 'the transactionID is already in use: choose a new random one');
    if (recipNonce)
      throw new Refusal('badRecipientNonce', 'the first message of a transaction must not have a recipNonce');
  } else if (transaction && !(recipNonce && sameBytes(recipNonce, transaction.nonce))) {
    throw new Refusal('badRecipientNonce', 'recipNonce differs from the senderNonce of the last response');
  }
}

async function dispatch(services: CmpServices, context: MessageContext, body: PkiBody): Promise<Uint8Array> {
  if (isEnrolment(body)) return enrol(services, context, body);
  switch (body.type) {
    case 'rr':
      return revoke(services, context, body);
    case 'genm':
      return inform(services, context, body);
    case 'nested': {
      const { path, address, secure, requester: relay } = context;
      const operation = path.operation === 'nested' ? undefined : path.operation;
      return unwrap(services, context, body.messages, (message) =>
        respond(services, message, { path: { ...path, operation }, address, secure, relay }),
      );
    }
    case 'certConf':
      return confirm(services, context, body);
    case 'error':
      return abandon(services, context, body);
    case 'pollReq':
      return poll(services, context, body);
    default:
      throw new Refusal('badRequest', `a body of type ${body.type} is not supported`);
  }
}

/**
 * Returns the protection of an error for an unauthenticated sender (RFC 9483 §3.6.4): the credential of the domain, or of the
 * default domain, or none.
 */
async function sealForUnknownSender({ gateway }: CmpServices, domain: string | undefined): Promise<Seal> {
  const names = domain === undefined ? [undefined] : [domain, undefined];
  for (const name of names) {
    try {
      return signatureSeal(await gateway.protection(name));
    } catch {}
  }
  return noSeal;
}
