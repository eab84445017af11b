import { pathSegments } from '../http/path-segments.ts';
import { isOperation } from './operations.ts';

/** The labels in a path. */
export interface CmpPath {
  /** In lower case. */
  readonly operation: string | undefined;
  readonly domain: string | undefined;
  readonly profile: string | undefined;
}

/**
 * Parses the path after `/.well-known/cmp`: `[/<operation>]` or, to name a domain or a profile,
 * `/p/<domain>[~<profile>][/<operation>]`, `/p/<domain>/<profile>[/<operation>]` and `/p/~<profile>[/<operation>]`. After a domain,
 * the label of an operation is that operation; any other label is a profile. Undefined for all other paths.
 */
export function parseCmpPath(path: string): CmpPath | undefined {
  const segments = pathSegments(path);
  if (!segments) return undefined;
  const [first, named, ...more] = segments;
  const operation = (segment: string | undefined): string | undefined => segment?.toLowerCase();
  if (first !== 'p') {
    if (named !== undefined || !isOperation(operation(first))) return undefined;
    return { operation: operation(first), domain: undefined, profile: undefined };
  }
  if (named === undefined) return undefined;
  const tilde = named.indexOf('~');
  const domain = tilde < 0 ? named : named.slice(0, tilde);
  let profile = tilde < 0 ? undefined : named.slice(tilde + 1) || undefined;
  if (domain === '' && profile === undefined) return undefined;
  const [next] = more;
  if (profile === undefined && next !== undefined && !isOperation(operation(next))) profile = more.shift();
  if (more.length > 1 || !isOperation(operation(more[0]))) return undefined;
  return { operation: operation(more[0]), domain: defaultDomain.has(domain) ? undefined : domain, profile };
}

/** The path segments that name the default domain explicitly. */
const defaultDomain: ReadonlySet<string> = new Set(['', '.', '_']);
