import { parsePkiBody } from '#adapters/wire/cmp/body.ts';
import { openPkiMessage, type SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { isEnrolment, resumeEnrolment } from './enrolment.ts';
import type { CmpServices, Handler, MessageContext } from './message-context.ts';
import { noTransaction, Refusal } from './refusal.ts';
import { resumeRevocation } from './revocation.ts';
import { identify } from './sender.ts';

/** Handles pollReq (RFC 9483 §4.4) by repeating the pending request. */
export const poll: Handler<'pollReq'> = async (services, context, { certReqIds }) => {
  if (!context.transaction) throw noTransaction();
  const original = context.transaction.request;
  if (!original) throw new Refusal('badRequest', 'no request of this transaction is pending');
  const opening = openPkiMessage(original);
  const body = parsePkiBody(opening.bodyDer);
  const asOpener = await onBehalfOfOpener(services, context, opening);
  if (body.type === 'rr') return resumeRevocation(services, asOpener, body, certReqIds);
  if (!isEnrolment(body)) throw new Error(`a transaction cannot be pending with a body of type ${body.type}`);
  return resumeEnrolment(services, asOpener, opening, body, certReqIds);
};

/**
 * Returns the context in which the pending request is repeated. If the registration authority polls that forwarded the opening
 * message, the requester is still the sender of that message, which is authenticated again, and secrets in the response
 * are encrypted to that sender. The response is protected for the registration authority.
 */
async function onBehalfOfOpener(
  { gateway, entropy }: CmpServices,
  context: MessageContext,
  opening: SealedPkiMessage,
): Promise<MessageContext> {
  const { transaction, requester: poller } = context;
  if (!transaction || !gateway.transactions.isRelay(poller, transaction)) return context;
  const { requester, recipient } = await identify(gateway, entropy, opening, poller.target, context);
  return { ...context, requester, recipient };
}
