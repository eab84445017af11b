import type { Ask } from '#core/enrolment/outcome.ts';
import { pathSegments } from '../http/path-segments.ts';

export interface RestPath {
  readonly operation: Ask['operation'];
  readonly domain: string;
  readonly profile: string | undefined;
}

const operations = new Map<string | undefined, Ask['operation']>([
  ['enroll', 'enrol'],
  ['reenroll', 'renew'],
]);

/** What follows `/rest`: `/<domain>[/<profile>]/enroll` or `…/reenroll`. Undefined for anything else. */
export function parseRestPath(path: string): RestPath | undefined {
  const segments = pathSegments(path);
  const operation = operations.get(segments?.pop());
  const [domain, profile, ...more] = segments ?? [];
  if (operation === undefined || domain === undefined || more.length > 0) return undefined;
  return { operation, domain, profile };
}
