import type { BodyType, PkiBody } from '#adapters/wire/cmp/body.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';

/** What answers a message that asks for a certificate. */
export const responses = { ir: 'ip', cr: 'cp', kur: 'kup', p10cr: 'cp' } as const;

/** RFC 9483 §4.1.4: the certReqId of PKCS#10, which has no number of its own. */
export const ofPkcs10 = -1;

/** RFC 9483 §4.1.1: the certReqId of the one request in a message. */
const ofOnlyRequest = 0;

const isEnrolment = (type: BodyType): type is keyof typeof responses => Object.hasOwn(responses, type);

/**
 * What is wrong with the body of a request, in the body that answers such a request (RFC 9483 §3.6.2); undefined for a message of which
 * an error message alone can speak.
 */
export function rejectionOf(type: BodyType, status: PkiStatusInfo): PkiBody | undefined {
  if (type === 'rr') return { type: 'rp', statuses: [status], revCerts: [], crls: [] };
  if (!isEnrolment(type)) return undefined;
  const certReqId = type === 'p10cr' ? ofPkcs10 : ofOnlyRequest;
  return { type: responses[type], caPubs: [], responses: [{ certReqId, status }] };
}
