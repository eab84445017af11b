import { openPkiMessage, type SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { sameBytes } from '#core/der/bytes.ts';
import type { CmpSurroundings, Dialogue } from './dialogue.ts';
import { Refusal } from './refusal.ts';
import { reply } from './reply.ts';

/** What answers each of the messages inside. */
type Respond = (message: SealedPkiMessage) => Promise<Uint8Array>;

/**
 * nested (RFC 9483 §5.2.2), from registration authorities alone: one message of the same transaction, to which protection
 * was added, is answered as if it had come by itself; several, or one of another transaction, are a batch, and so are
 * their answers. Each message inside stands for itself, with its own protection; a transaction that it opens, the authority may go on
 * with as well as the opener.
 */
export async function unwrap(
  surroundings: CmpSurroundings,
  { message, requester, seal }: Dialogue,
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
        'senderNonce is not that of the message inside (RFC 9483 §5.2.2.1)',
      );
    }
    return respond(only);
  }
  const answers: Uint8Array[] = [];
  // One after the other: a batch is no way to more than one's share.
  for (const each of inner) answers.push(await respond(each));
  return (await reply(surroundings, message, seal, { type: 'nested', messages: answers })).message;
}
