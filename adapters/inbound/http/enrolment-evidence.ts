import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { readBasicCredentials } from './basic-credentials.ts';
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
