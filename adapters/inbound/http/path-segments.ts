const longestSegment = 256;
/** Control characters, and both slashes: a segment that holds one is no name, and must never become two. */
const forbidden = /[\u0000-\u001f\u007f-\u009f/\\]/;
const rawForm = /^[\x21-\x7e]*$/;

/**
 * The percent-decoded segments (RFC 3986 §3.3) of a path as sent, or of what follows a prefix of it: '' or
 * '/a/b', one slash more at the end tolerated. Undefined when one is empty, badly encoded, too long or not a name.
 */
export function pathSegments(path: string): readonly string[] | undefined {
  if (path === '' || path === '/') return [];
  return path === last?.path ? last.segments : readSegments(path);
}

/** Devices ask for the same few paths, mostly one. */
let last: { readonly path: string; readonly segments: readonly string[] } | undefined;

function readSegments(path: string): readonly string[] | undefined {
  if (!path.startsWith('/') || !rawForm.test(path)) return undefined;
  const segments: string[] = [];
  for (const raw of path.slice(1, path.endsWith('/') ? -1 : undefined).split('/')) {
    const segment = decode(raw);
    if (
      segment === undefined ||
      segment === '' ||
      segment.length > longestSegment ||
      forbidden.test(segment)
    ) {
      return undefined;
    }
    segments.push(segment);
  }
  last = { path, segments };
  return segments;
}

/** Undefined on a stray '%' and on octets that are not UTF-8. */
function decode(raw: string): string | undefined {
  if (!raw.includes('%')) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}
