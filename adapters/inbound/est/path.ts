import { pathSegments } from '../http/path-segments.ts';

/** An operation with the domain and profile that its path names. */
export interface EstPath {
  readonly operation: string;
  readonly domain: string | undefined;
  readonly profile: string | undefined;
}

/**
 * Parses the path after `/.well-known/est`: `[/<domain>][/<profile>]/<operation>`. A single label before the operation is the
 * domain, or the profile if it begins with a tilde. Of two labels the second is the profile, with or without a tilde. Any operation
 * is accepted. Undefined for all other paths.
 */
export function parseEstPath(path: string): EstPath | undefined {
  const segments = pathSegments(path);
  const operation = segments?.at(-1);
  if (!segments || operation === undefined || segments.length > 3) return undefined;
  const first = segments.length > 1 ? segments[0] : undefined;
  const second = segments.length > 2 ? segments[1] : undefined;
  if (first === undefined) return { operation, domain: undefined, profile: undefined };
  if (!first.startsWith('~')) {
    const profile = second?.startsWith('~') ? second.slice(1) : second;
    return profile === '' ? undefined : { operation, domain: first, profile };
  }
  if (second !== undefined || first === '~') return undefined;
  return { operation, domain: undefined, profile: first.slice(1) };
}
