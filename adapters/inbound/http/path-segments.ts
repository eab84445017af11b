const longestSegment = 256;
/** Control characters and both slashes: a decoded segment with a slash could be taken for two segments. */
const forbidden = /[\u0000-\u001f\u007f-\u009f/\\]/;
const rawForm = /^[\x21-\x7e]*$/;

/**
 * Returns the percent-decoded segments (RFC 3986 §3.3) of a path as sent, or of the rest of it after a prefix: '' or '/a/b'. One
 * trailing slash is tolerated. Undefined when a segment is empty, badly encoded, too long or holds a forbidden character.
 */
export function pathSegments(path: string): readonly string[] | undefined {
  if (path === '' || path === '/') return [];
  return path === last?.path ? last.segments : readSegments(path);
}

/** The last path read: devices request the same few paths, mostly one. */
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
