import { openPkiMessage, type SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { sameBytes } from '#core/der/bytes.ts';
import type { CmpServices, MessageContext } from './message-context.ts';
import { Refusal } from './refusal.ts';
import { reply } from './reply.ts';

/** Returns the response to one inner message. */
type Respond = (message: SealedPkiMessage) => Promise<Uint8Array>;

/**
 * Handles nested messages (RFC 9483 §5.2.2), which only registration authorities may send. One inner message of the same
 * transaction, to which protection was added, gets the response it would get alone. Several inner messages, or one of
 * another transaction, are a batch, and the responses are nested too. Each inner message is authenticated by its own protection.
 * A transaction that it opens can be continued by its sender and by the registration authority.
 */
export async function unwrap(
  services: CmpServices,
  { message, requester, seal }: MessageContext,
  messages: readonly Uint8Array[],
  respond: Respond,
): Promise<Uint8Array> {
  if (requester.credential !== 'registrationAuthority') {
    throw new Refusal('notAuthorized', 'nested messages are accepted from registration authorities only');
  }
  const inner = messages.map(openPkiMessage);
  const [only] = inner;
  const { transactionID } = message.header;
  const isOfSame = only?.header.transactionID && sameBytes(only.header.transactionID, transactionID!);
  if (only && inner.length === 1 && isOfSame) {
    const { senderNonce } = only.header;
    if (!senderNonce || !sameBytes(senderNonce, message.header.senderNonce!)) {
      throw new Refusal(
        'badSenderNonce',
        'senderNonce differs from that of the inner message (RFC 9483 §5.2.2.1)',
      );
    }
    return respond(only);
  }
  const responses: Uint8Array[] = [];
  // One after the other: a batch must not take more than its share of the gateway.
  for (const each of inner) responses.push(await respond(each));
  return (await reply(services, message, seal, { type: 'nested', messages: responses })).message;
}
