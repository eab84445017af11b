import { faultHeaders, faultText } from '#adapters/inbound/http/enrolment.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { type FaultCode, toFault } from '#core/fault.ts';
import type { EnrolmentRequest, EnrolmentResult } from '#core/issuance/enrolment-request.ts';
import type { HttpResponse } from '../http/exchange.ts';

/** The status and the error code for each code of a Fault. */
export const errors = {
  malformed: [400, 'invalid_request'],
  badCsr: [400, 'invalid_csr'],
  badProof: [400, 'invalid_csr'],
  badAlgorithm: [400, 'invalid_csr'],
  unauthenticated: [401, 'invalid_credentials'],
  forbidden: [403, 'forbidden'],
  notFound: [404, 'not_found'],
  conflict: [403, 'forbidden'],
  replayed: [400, 'invalid_request'],
  unsupported: [400, 'invalid_request'],
  tooManyRequests: [429, 'too_many_requests'],
  unavailable: [503, 'unavailable'],
  internal: [500, 'server_error'],
} as const satisfies Record<FaultCode, readonly [status: number, error: string]>;

/** The error codes of refusals without a Fault, before the gateway is called. */
const refusals = new Map([
  [400, 'invalid_request'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'too_large'],
  [415, 'unsupported_media_type'],
  [417, 'invalid_request'],
  [431, 'too_large'],
  [501, 'not_implemented'],
]);

export function refusal(status: number, detail: string, headers: Record<string, string> = {}): HttpResponse {
  return failure(status, refusals.get(status) ?? 'server_error', detail, headers);
}

/** Returns the response to whatever was thrown. Rethrows a defect, which the listener logs. */
export function renderFault(error: unknown, operation: EnrolmentRequest['operation']): HttpResponse {
  const fault = toFault(error);
  if (fault.code === 'internal') throw error;
  const [status, name] = errors[fault.code];
  return failure(status, name, faultText(fault), faultHeaders(status, fault, operation));
}

export function renderOutcome(outcome: EnrolmentResult): HttpResponse {
  if (outcome.kind === 'issued') return json(200, issued(outcome.certificate, outcome.chain));
  const { id, retryAfter, upstream } = outcome;
  const detail = `the request is pending with ${upstream ? 'the upstream CA' : 'the approvers'}: send it again later`;
  return json(202, JSON.stringify({ status: 'pending', detail, id }), { 'retry-after': String(retryAfter) });
}

const issued = (certificate: Uint8Array, chain: readonly Uint8Array[]): string =>
  `{"certificate":${jsonPem(certificate)},"certificate_chain":${chainText(chain)}}`;

/** The JSON of each chain: all responses of a domain share one array, which is encoded once. */
const encoded = new WeakMap<readonly Uint8Array[], string>();

function chainText(chain: readonly Uint8Array[]): string {
  let text = encoded.get(chain);
  if (text === undefined) {
    text = `[${chain.map(jsonPem).join(',')}]`;
    encoded.set(chain, text);
  }
  return text;
}

/** Returns PEM as a JSON string. Line ends are the only characters in PEM that JSON escapes. */
const jsonPem = (certificate: Uint8Array): string => `"${encodePem('CERTIFICATE', certificate, '\\n')}"`;

function failure(
  status: number,
  error: string,
  detail: string,
  headers?: Record<string, string>,
): HttpResponse {
  return json(status, JSON.stringify({ error, detail }), headers);
}

const jsonHeaders = Object.freeze({ 'content-type': 'application/json' });

function json(status: number, body: string, headers?: Record<string, string>): HttpResponse {
  return { status, headers: headers ? { ...jsonHeaders, ...headers } : jsonHeaders, body };
}
