import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { readBasicCredentials } from './basic-credentials.ts';
import type { HttpRequest } from './exchange.ts';

/**
 * What EST and REST take for evidence. To enrol: Basic credentials when there are any, else the certificate of the
 * TLS handshake. To renew: that certificate alone, as it says what is renewed. Faults: unauthenticated
 * (an Authorization field that is not Basic).
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
