import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { Deferral } from '#core/enrolment/outcome.ts';
import type { Answer } from '#core/transactions/transaction.ts';
import type { CmpSurroundings, Dialogue } from './dialogue.ts';
import { reply } from './reply.ts';

/** To a request that cannot be answered yet (RFC 9483 §4.4). */
export const waiting = ({ id }: Deferral): PkiStatusInfo => ({
  status: 'waiting',
  statusString: [`request ${id} waits for approval`],
});

/** To a pollReq that comes too early. */
export const wait = (
  surroundings: CmpSurroundings,
  { message, seal }: Dialogue,
  certReqId: number,
  { id, retryAfter }: Deferral,
): Promise<Answer> =>
  reply(surroundings, message, seal, {
    type: 'pollRep',
    polls: [{ certReqId, checkAfter: retryAfter, reason: [`request ${id} waits for approval`] }],
  });
