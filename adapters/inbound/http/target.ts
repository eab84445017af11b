import type { Mount } from './exchange.ts';

export interface Target {
  readonly path: string;
  readonly query: string;
}

const originForm = /^\/[!"$->@-[\]-~]*(?:\?[!"$-~]*)?$/;
const encodedControl = /%(?:[01][0-9a-f]|7f)/i;

/**
 * The target of a request: origin-form (RFC 9112 §3.2.1) and no other, nothing decoded, no segment resolved.
 * Undefined for control characters, plain or encoded, in the path, for spaces, non-ASCII octets, fragments and backslashes,
 * which others on the way may read as '/'.
 */
export function parseTarget(target: string): Target | undefined {
  if (!originForm.test(target)) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  if (path.includes('%') && encodedControl.test(path)) return undefined;
  return { path, query: mark < 0 ? '' : target.slice(mark + 1) };
}

/** Longest prefix first. Throws when a prefix is not one, or taken twice: that is a defect of the caller's. */
export function orderMounts(mounts: readonly Mount[]): Mount[] {
  const prefixes = new Set<string>();
  for (const { prefix } of mounts) {
    if (!/^\/(?:.*[^/])?$/.test(prefix) || prefixes.has(prefix)) throw new Error(`mount prefix ${prefix}`);
    prefixes.add(prefix);
  }
  return mounts.toSorted((a, b) => b.prefix.length - a.prefix.length);
}

/** The first of these mounts, ordered by `orderMounts`, whose prefix ends in `path` at a segment boundary. */
export function findMount(mounts: readonly Mount[], path: string): Mount | undefined {
  for (const mount of mounts) {
    const { prefix } = mount;
    if (prefix === '/') return mount;
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'))
      return mount;
  }
  return undefined;
}
