import type { BodyType, PkiBody } from '#adapters/wire/cmp/body.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import type { ResponseMessage } from '#core/transactions/exchange.ts';
import type { CmpServices, MessageContext } from './message-context.ts';
import { reply } from './reply.ts';

/** The body type of the response to each certificate request. */
export const responses = { ir: 'ip', cr: 'cp', kur: 'kup', p10cr: 'cp' } as const;

/** The certReqId for PKCS#10, which has none of its own (RFC 9483 §4.1.4). */
export const ofPkcs10 = -1;

/** The certReqId of the only request in a message (RFC 9483 §4.1.1). */
const ofOnlyRequest = 0;

const isEnrolment = (type: BodyType): type is keyof typeof responses => Object.hasOwn(responses, type);

/**
 * Returns the response body that rejects a request of this type (RFC 9483 §3.6.2); undefined if only an error message can
 * reject it.
 */
export function rejectionOf(type: BodyType, status: PkiStatusInfo): PkiBody | undefined {
  if (type === 'rr') return { type: 'rp', statuses: [status], revCerts: [], crls: [] };
  if (!isEnrolment(type)) return undefined;
  const certReqId = type === 'p10cr' ? ofPkcs10 : ofOnlyRequest;
  return { type: responses[type], caPubs: [], responses: [{ certReqId, status }] };
}

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
