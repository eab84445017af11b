/** A name or an IP address (IPv6 without brackets), or `*.` and a name. */
export const isHostPattern = (text: string): boolean =>
  text.length <= 253 &&
  /^(?:(?:\*\.)?[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+)$/.test(text);

/**
 * Whether `hosts` has the host of a URL: a name or an address, or with `*.` before it all names below it. An empty list: all
 * hosts are allowed.
 */
export function isAllowedHost(hosts: readonly string[], url: string): boolean {
  if (hosts.length === 0) return true;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return hosts.some((allowed) => {
    const name = allowed.toLowerCase();
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  });
}
