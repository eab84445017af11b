import { faultHeaders, faultText } from '#adapters/inbound/http/enrolment.ts';
import { encodeBase64Lines } from '#adapters/wire/base64.ts';
import { buildCertsOnly } from '#adapters/wire/pkcs7.ts';
import { type FaultCode, toFault } from '#core/fault.ts';
import type { EnrolmentRequest, EnrolmentResult } from '#core/issuance/enrolment-request.ts';
import type { HttpResponse } from '../http/exchange.ts';

/** The status for each code of a Fault. */
export const statuses = {
  malformed: 400,
  badCsr: 400,
  badProof: 400,
  badAlgorithm: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 403,
  replayed: 400,
  unsupported: 400,
  tooManyRequests: 429,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<FaultCode, number>;

const ascii = /^[ -~]*$/;

/**
 * Returns an error response: a status and a short text (RFC 7030 §4.2.3). The charset is named only where the text needs it, since
 * the default is ASCII (RFC 2046 §4.1.2).
 */
export function refusal(status: number, detail: string, headers: Record<string, string> = {}): HttpResponse {
  const type = ascii.test(detail) ? 'text/plain' : 'text/plain; charset=utf-8';
  return { status, headers: { 'content-type': type, ...headers }, body: `${detail}\n` };
}

/** Returns the response to whatever was thrown. Rethrows a defect, which the listener logs. */
export function renderFault(
  error: unknown,
  operation: EnrolmentRequest['operation'] | undefined,
): HttpResponse {
  const fault = toFault(error);
  if (fault.code === 'internal') throw error;
  const status = statuses[fault.code];
  return refusal(status, faultText(fault), faultHeaders(status, fault, operation));
}

// Bouncy Castle's EST client fails if a response has a body that it does not read. It does not read the body of the challenge, of
// "no CSR attributes" (RFC 7030 §4.5.2) and of "not yet" (§4.2.3), so these three responses have none.
/** Returns the response to a request without credentials. */
export function renderChallenge(error: unknown): HttpResponse {
  const refused = renderFault(error, 'enrol');
  return refused.status === 401 ? { ...refused, body: '' } : refused;
}

export const noAttributes: HttpResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain' },
  body: '',
};

/**
 * Returns the issued certificate alone (RFC 7030 §4.2.3), with its key if Postern generated it (§4.4.2), or 202 with Retry-After
 * while the request is pending.
 */
export function renderOutcome(outcome: EnrolmentResult): HttpResponse {
  if (outcome.kind === 'issued') {
    const { certificate, privateKey } = outcome;
    return privateKey ? withKey(privateKey, certificate) : certsOnly([certificate]);
  }
  return { status: 202, headers: { 'retry-after': String(outcome.retryAfter) }, body: '' };
}

const certsOnlyHeaders = Object.freeze({
  'content-type': 'application/pkcs7-mime; smime-type=certs-only',
  'content-transfer-encoding': 'base64',
});

/** Returns a certs-only response (RFC 7030 §4.1.3). */
export function certsOnly(certificates: readonly Uint8Array[]): HttpResponse {
  return {
    status: 200,
    headers: certsOnlyHeaders,
    body: encodeBase64Lines(buildCertsOnly(certificates)),
  };
}

/** Cannot occur in the parts: base64 has no hyphen (RFC 2046 §5.1.1). */
const boundary = 'postern-serverkeygen';
const multipart = Object.freeze({ 'content-type': `multipart/mixed; boundary=${boundary}` });

/** Returns the private key (PKCS#8 in DER) and the certificate (RFC 7030 §4.4.2). */
function withKey(privateKey: Uint8Array, certificate: Uint8Array): HttpResponse {
  const key = part('application/pkcs8', privateKey);
  const certificates = part(certsOnlyHeaders['content-type'], buildCertsOnly([certificate]));
  return { status: 200, headers: multipart, body: `${key}${certificates}--${boundary}--\r\n` };
}

const part = (type: string, content: Uint8Array): string =>
  `--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${encodeBase64Lines(content, '\r\n')}`;
