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
import type { CmpSurroundings, Dialogue } from './dialogue.ts';
import { enrol, isEnrolment } from './enrolment.ts';
import { checkMessageTime } from './message-time.ts';
import { unwrap } from './nested.ts';
import { agrees, takes } from './operations.ts';
import type { CmpPath } from './path.ts';
import { poll } from './poll.ts';
import { isDefect, isOfRequest, isUnheard, Refusal, refusalStatus } from './refusal.ts';
import { rejectionOf } from './rejection.ts';
import { complete, noSeal, reply, type Seal, signatureSeal } from './reply.ts';
import { revoke } from './revocation.ts';
import { identify, type Sender, TurnedAway } from './sender.ts';
import { inform } from './support.ts';

/** Where a message came to, and from. */
export interface Arrival {
  readonly path: CmpPath;
  readonly address: string;
  /** It came inside TLS. */
  readonly secure: boolean;
  /** The registration authority inside whose message it came. */
  readonly relay: Requester | undefined;
}

/** Answers a message, whatever is in its body, with a message in DER. */
export async function respond(
  surroundings: CmpSurroundings,
  message: SealedPkiMessage,
  arrival: Arrival,
): Promise<Uint8Array> {
  let sender: Sender | undefined;
  // Header and protection are in order: what is wrong from then on is the body's fault.
  let isAboutBody = false;
  try {
    const name = transactionName(message);
    const { transaction, answer } = await surroundings.gateway.transactions.recall(name, message.der);
    if (transaction && answer) return await complete(surroundings.gateway, transaction, answer);
    const target = targetOf(message, arrival.path, transaction);
    sender = await identify(surroundings.gateway, surroundings.entropy, message, target, arrival);
    checkMessageTime(surroundings, message.header);
    checkNonces(message, transaction);
    const { operation } = arrival.path;
    if (!takes(operation, message.bodyType)) throw outOfPlace(message);
    isAboutBody = true;
    const body = parsePkiBody(message.bodyDer);
    if (!agrees(operation, body)) throw outOfPlace(message);
    return await dispatch(surroundings, { ...sender, ...arrival, message, name, transaction }, body);
  } catch (thrown) {
    const turnedAway = thrown instanceof TurnedAway ? thrown : undefined;
    const error = turnedAway ? turnedAway.cause : thrown;
    // Of two copies that come at once one is first: the other gets its answer.
    const repeated = isReplay(error) ? await answerTo(surroundings, message) : undefined;
    if (repeated) return repeated;
    if (isDefect(error)) surroundings.log.error('a CMP message could not be answered', error);
    const status = refusalStatus(error);
    if (isUnheard(error)) await tellOf(surroundings, arrival, sender, status);
    const seal = (sender ?? turnedAway)?.seal ?? (await sealForStrangers(surroundings, arrival.path.domain));
    const rejection = isAboutBody && isOfRequest(error) ? rejectionOf(message.bodyType, status) : undefined;
    return (await reply(surroundings, message, seal, rejection ?? { type: 'error', status })).message;
  }
}

const outOfPlace = ({ bodyType }: SealedPkiMessage): Refusal =>
  new Refusal('badRequest', `a body of type ${bodyType} does not belong to the operation in the path`);

const tellOf = (
  { gateway }: CmpSurroundings,
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

async function answerTo({ gateway }: CmpSurroundings, message: SealedPkiMessage) {
  const { transaction, answer } = await gateway.transactions.recall(transactionName(message), message.der);
  return transaction && answer && complete(gateway, transaction, answer);
}

const longestName = 64;
const leastNonce = 16;

/** Of the transactionID, upper-case hex. What can be said of a header without knowing its sender is said here. */
function transactionName({ header: { pvno, transactionID, senderNonce } }: SealedPkiMessage): string {
  if (pvno !== 2 && pvno !== 3) throw new Refusal('unsupportedVersion', 'pvno 2 and 3 are supported');
  if (!transactionID?.length || transactionID.length > longestName) {
    throw new Refusal('badDataFormat', `a transactionID of 1 to ${longestName} octets is needed`);
  }
  if (!senderNonce || senderNonce.length < leastNonce) {
    throw new Refusal('badSenderNonce', `a senderNonce of ${leastNonce} octets or more is needed`);
  }
  return hex(transactionID);
}

/** RFC 9483 §4.1.1 lets generalInfo name a profile too. What follows a request is about the profile of the request. */
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

const goesOn: ReadonlySet<string> = new Set(['certConf', 'pollReq', 'error']);

/** RFC 9483 §3.5: the first message brings no recipNonce, each further one what the last answer had for senderNonce. */
function checkNonces({ header, bodyType }: SealedPkiMessage, transaction: Transaction | undefined): void {
  const { recipNonce } = header;
  // A wrapping has nothing to do with where the transaction inside it stands.
  if (bodyType === 'nested') return;
  if (!goesOn.has(bodyType)) {
    if (transaction) throw new Refusal('transactionIdInUse', 'the transactionID has been used');
    if (recipNonce)
      throw new Refusal('badRecipientNonce', 'the first message of a transaction has no recipNonce');
  } else if (transaction && !(recipNonce && sameBytes(recipNonce, transaction.nonce))) {
    throw new Refusal('badRecipientNonce', 'recipNonce is not the senderNonce of the last answer');
  }
}

async function dispatch(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  body: PkiBody,
): Promise<Uint8Array> {
  if (isEnrolment(body)) return enrol(surroundings, dialogue, body);
  switch (body.type) {
    case 'rr':
      return revoke(surroundings, dialogue, body);
    case 'genm':
      return inform(surroundings, dialogue, body);
    case 'nested': {
      const { path, address, secure, requester: relay } = dialogue;
      const operation = path.operation === 'nested' ? undefined : path.operation;
      return unwrap(surroundings, dialogue, body.messages, (message) =>
        respond(surroundings, message, { path: { ...path, operation }, address, secure, relay }),
      );
    }
    case 'certConf':
      return confirm(surroundings, dialogue, body);
    case 'error':
      return abandon(surroundings, dialogue, body);
    case 'pollReq':
      return poll(surroundings, dialogue, body);
    default:
      throw new Refusal('badRequest', `a body of type ${body.type} is nothing that is answered here`);
  }
}

/** RFC 9483 §3.6.4: an error is protected too, where that can be: by the credential of the domain or of the default one. */
async function sealForStrangers({ gateway }: CmpSurroundings, domain: string | undefined): Promise<Seal> {
  const names = domain === undefined ? [undefined] : [domain, undefined];
  for (const name of names) {
    try {
      return signatureSeal(await gateway.protection(name));
    } catch {}
  }
  return noSeal;
}
