import type { Fault } from '#core/fault.ts';
import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { basicChallenge, readBasicCredentials } from './basic-credentials.ts';
import type { HttpRequest } from './exchange.ts';

/**
 * Returns the evidence by which EST and REST authenticate a client. For enrolment: Basic credentials if present, otherwise the
 * certificate of the TLS handshake. For renewal: only that certificate, because it identifies what is renewed. Throws Fault
 * `unauthenticated` for an Authorization field that is not Basic.
 */
export function enrolmentEvidence(request: HttpRequest, operation: EnrolmentRequest['operation']): Evidence {
  const { address, certificates } = request.peer;
  const { authorization } = request.headers;
  if (operation === 'enrol' && authorization !== undefined) {
    const { username, password } = readBasicCredentials(authorization);
    return { kind: 'password', username, password, address };
  }
  return certificates.length > 0 ? { kind: 'certificate', certificates, address } : { kind: 'none', address };
}

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
