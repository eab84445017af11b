import type { EnrolmentRequest } from '#core/issuance/enrolment-request.ts';
import { pathSegments } from '../http/path-segments.ts';

export interface RestPath {
  readonly operation: EnrolmentRequest['operation'];
  readonly domain: string;
  readonly profile: string | undefined;
}

const operations = new Map<string | undefined, EnrolmentRequest['operation']>([
  ['enroll', 'enrol'],
  ['reenroll', 'renew'],
]);

/** What follows `/rest`: `/<domain>[/<profile>]/enroll` or `…/reenroll`. Undefined for anything else. */
export function parseRestPath(path: string): RestPath | undefined {
  const segments = pathSegments(path);
  if (!segments || segments.length > 3) return undefined;
  const operation = operations.get(segments.at(-1));
  const domain = segments.length > 1 ? segments[0] : undefined;
  if (operation === undefined || domain === undefined) return undefined;
  return { operation, domain, profile: segments.length === 3 ? segments[1] : undefined };
}
