import { parsePkiBody } from '#adapters/wire/cmp/body.ts';
import { openPkiMessage, type SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import type { CmpSurroundings, Dialogue, Handler } from './dialogue.ts';
import { isEnrolment, resumeEnrolment } from './enrolment.ts';
import { noTransaction, Refusal } from './refusal.ts';
import { resumeRevocation } from './revocation.ts';
import { identify } from './sender.ts';

/** pollReq (RFC 9483 §4.4): the request that is waiting is asked again. */
export const poll: Handler<'pollReq'> = async (surroundings, dialogue, { certReqIds }) => {
  if (!dialogue.transaction) throw noTransaction();
  const original = dialogue.transaction.request;
  if (!original) throw new Refusal('badRequest', 'nothing of this transaction is being waited for');
  const opening = openPkiMessage(original);
  const body = parsePkiBody(opening.bodyDer);
  const asking = await onBehalf(surroundings, dialogue, opening);
  if (body.type === 'rr') return resumeRevocation(surroundings, asking, body, certReqIds);
  if (!isEnrolment(body)) throw new Error('a transaction waits for what nobody can wait for');
  return resumeEnrolment(surroundings, asking, opening, body, certReqIds);
};

/**
 * When the registration authority asks that passed the opening message on: the request is still that of its opener, who is admitted by
 * that message once more; secrets in the answer are for the opener alone. Answers are protected for whom they go to.
 */
async function onBehalf(
  { gateway, entropy }: CmpSurroundings,
  dialogue: Dialogue,
  opening: SealedPkiMessage,
): Promise<Dialogue> {
  const { transaction, requester: asker } = dialogue;
  if (!transaction || !gateway.transactions.isRelay(asker, transaction)) return dialogue;
  const { requester, recipient } = await identify(gateway, entropy, opening, asker.target, dialogue);
  return { ...dialogue, requester, recipient };
}
