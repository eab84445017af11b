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

/** Whether the value of a Host field has only characters allowed in host and port of a URI. */
export const isHost = (value: string): boolean => hostForm.test(value);

/**
 * Returns path and query of a request target in origin-form or absolute-form (RFC 9112 §3.2.2), without decoding or resolving
 * anything. Undefined for control characters in the path (plain or percent-encoded), spaces, non-ASCII octets, fragments,
 * and backslashes, which some proxies read as '/'.
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

/** Orders mounts by prefix, longest first. Throws an Error for an invalid or repeated prefix, which is a defect of the caller. */
export function orderMounts(mounts: readonly Mount[]): Mount[] {
  const prefixes = new Set<string>();
  for (const { prefix } of mounts) {
    if (!/^\/(?:.*[^/])?$/.test(prefix) || prefixes.has(prefix))
      throw new Error(`the mount prefix ${prefix} is invalid or used twice`);
    prefixes.add(prefix);
  }
  return mounts.toSorted((a, b) => b.prefix.length - a.prefix.length);
}

/** Returns the first of `mounts` (ordered by `orderMounts`) whose prefix matches `path` up to a segment boundary. */
export function findMount(mounts: readonly Mount[], path: string): Mount | undefined {
  for (const mount of mounts) {
    const { prefix } = mount;
    if (prefix === '/') return mount;
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'))
      return mount;
  }
  return undefined;
}
