import type { Mount } from './exchange.ts';

export interface Target {
  readonly path: string;
  readonly query: string;
}

const originForm = /^\/[!"$->@-[\]-~]*(?:\?[!"$-~]*)?$/;
const encodedControl = /%(?:[01][0-9a-f]|7f)/i;
const host = "[A-Za-z0-9\\-._~!$&'()*+,;=%:[\\]]";
const absolute = new RegExp(`^https?://${host}+(?=[/?]|$)`, 'i');
const hostForm = new RegExp(`^${host}*$`);

/** What a Host field may be: host and port of a URI, as far as their characters go; who is meant plays no part here. */
export const isHost = (value: string): boolean => hostForm.test(value);

/**
 * The target of a request: origin-form, or absolute-form (RFC 9112 §3.2.2), of which path and query are left; nothing decoded, no
 * segment resolved. Undefined for control characters, plain or encoded, in the path, for spaces, non-ASCII octets, fragments and backslashes,
 * which others on the way may read as '/'.
 */
export function parseTarget(target: string): Target | undefined {
  const local = target.startsWith('/') ? target : withoutAuthority(target);
  if (!originForm.test(local)) return undefined;
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  if (path.includes('%') && encodedControl.test(path)) return undefined;
  return { path, query: mark < 0 ? '' : local.slice(mark + 1) };
}

function withoutAuthority(target: string): string {
  const authority = absolute.exec(target)?.[0];
  if (authority === undefined) return target;
  const rest = target.slice(authority.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
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
