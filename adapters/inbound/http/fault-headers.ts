import type { Fault } from '#core/fault.ts';
import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import { basicChallenge } from './basic-credentials.ts';

/** Seconds until the client may retry, for a Fault without `retryAfter`. */
const usualRetryAfter = 60;

/** Returns the text of a Fault for devices: its detail and its hint. */
export const faultText = ({ detail, hint }: Fault): string =>
  hint === undefined ? detail : `${detail}; ${hint}`;

/**
 * The header fields of a refusal by EST or REST: how to authenticate, when to retry. A renewal takes only client
 * certificates, so its 401 does not ask for a password; HTTP has no challenge for a certificate.
 */
export function faultHeaders(
  status: number,
  { retryAfter }: Fault,
  operation: EnrolmentRequest['operation'] | undefined,
): Record<string, string> {
  if (status === 401) return operation === 'renew' ? {} : { 'www-authenticate': basicChallenge };
  if (status === 429 || status === 503) return { 'retry-after': String(retryAfter ?? usualRetryAfter) };
  return {};
}
