import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import type { CmpSurroundings, Dialogue } from './dialogue.ts';
import { reply } from './reply.ts';

const reason = ({ id, upstream }: Deferral): string =>
  `request ${id} waits for ${upstream ? 'the upstream CA' : 'approval'}`;

/** To a request that cannot be answered yet (RFC 9483 §4.4). */
export const waiting = (deferral: Deferral): PkiStatusInfo => ({
  status: 'waiting',
  statusString: [reason(deferral)],
});

/** To a pollReq that comes too early. */
export const wait = (
  surroundings: CmpSurroundings,
  { message, seal }: Dialogue,
  certReqId: number,
  deferral: Deferral,
): Promise<ResponseMessage> =>
  reply(surroundings, message, seal, {
    type: 'pollRep',
    polls: [{ certReqId, checkAfter: deferral.retryAfter, reason: [reason(deferral)] }],
  });
