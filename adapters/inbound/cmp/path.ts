import { pathSegments } from '../http/path-segments.ts';
import { isOperation } from './operations.ts';

/** What a path names. */
export interface CmpPath {
  /** In lower case. */
  readonly operation: string | undefined;
  readonly domain: string | undefined;
  readonly profile: string | undefined;
}

/**
 * What follows `/.well-known/cmp`: `[/<operation>]` or, for a domain and a profile other than the usual ones,
 * `/p/<domain>[~<profile>][/<operation>]`, `/p/<domain>/<profile>[/<operation>]` and `/p/~<profile>[/<operation>]`. After a domain an
 * operation's word is the operation, anything else a profile. Undefined when the path has none of these forms.
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
  return { operation: operation(more[0]), domain: usual.has(domain) ? undefined : domain, profile };
}

/** The path segment that names the default domain explicitly. */
const usual: ReadonlySet<string> = new Set(['', '.', '_']);
