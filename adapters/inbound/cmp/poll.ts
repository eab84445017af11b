import { parsePkiBody } from '#adapters/wire/cmp/body.ts';
import { openPkiMessage } from '#adapters/wire/cmp/message.ts';
import type { Handler } from './dialogue.ts';
import { isEnrolment, resumeEnrolment } from './enrolment.ts';
import { Refusal } from './refusal.ts';
import { resumeRevocation } from './revocation.ts';

/** pollReq (RFC 9483 §4.4): the request that is waiting is asked again. */
export const poll: Handler<'pollReq'> = async (surroundings, dialogue, { certReqIds }) => {
  const original = dialogue.transaction?.request;
  if (!original) throw new Refusal('badRequest', 'nothing of this transaction is being waited for');
  const opening = openPkiMessage(original);
  const body = parsePkiBody(opening.bodyDer);
  if (body.type === 'rr') return resumeRevocation(surroundings, dialogue, body, certReqIds);
  if (!isEnrolment(body)) throw new Error('a transaction waits for what nobody can wait for');
  return resumeEnrolment(surroundings, dialogue, opening, body, certReqIds);
};
