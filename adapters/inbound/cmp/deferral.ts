import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import type { CmpServices, MessageContext } from './message-context.ts';
import { reply } from './reply.ts';

const reason = ({ id, upstream }: Deferral): string =>
  `request ${id} waits for ${upstream ? 'the upstream CA' : 'approval'}`;

/** Returns the status of a request that is not decided yet (RFC 9483 §4.4). */
export const waitingStatus = (deferral: Deferral): PkiStatusInfo => ({
  status: 'waiting',
  statusString: [reason(deferral)],
});

/** Returns the pollRep to a pollReq that arrives before the decision. */
export const pollResponse = (
  services: CmpServices,
  { message, seal }: MessageContext,
  certReqId: number,
  deferral: Deferral,
): Promise<ResponseMessage> =>
  reply(services, message, seal, {
    type: 'pollRep',
    polls: [{ certReqId, checkAfter: deferral.retryAfter, reason: [reason(deferral)] }],
  });
