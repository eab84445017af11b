import type { BodyType, PkiBody } from '#adapters/wire/cmp/body.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';

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
