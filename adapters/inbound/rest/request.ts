import { Fault } from '#core/fault.ts';
import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import { readJson } from '../http/json.ts';
import { pathSegments } from '../http/path-segments.ts';

/** Returns the text of the CSR in the body `{"csr": "…"}`. Throws Fault `malformed` for any other body. */
export function readEnrolmentBody(body: Uint8Array): string {
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('malformed', 'the body must be a JSON object');
  }
  for (const name in value) {
    if (name !== 'csr') throw new Fault('malformed', `unknown field ${JSON.stringify(name.slice(0, 64))}`);
  }
  if (!('csr' in value)) throw new Fault('malformed', 'csr is missing', { field: 'csr' });
  if (typeof value.csr !== 'string') throw new Fault('malformed', 'csr must be a string', { field: 'csr' });
  return value.csr;
}

export interface RestPath {
  readonly operation: EnrolmentRequest['operation'];
  readonly domain: string;
  readonly profile: string | undefined;
}

const operations = new Map<string | undefined, EnrolmentRequest['operation']>([
  ['enroll', 'enrol'],
  ['reenroll', 'renew'],
]);

/** Parses the path after `/rest`: `/<domain>[/<profile>]/enroll` or `…/reenroll`. Undefined for all other paths. */
export function parseRestPath(path: string): RestPath | undefined {
  const segments = pathSegments(path);
  if (!segments || segments.length > 3) return undefined;
  const operation = operations.get(segments.at(-1));
  const domain = segments.length > 1 ? segments[0] : undefined;
  if (operation === undefined || domain === undefined) return undefined;
  return { operation, domain, profile: segments.length === 3 ? segments[1] : undefined };
}
