import { BlockList, isIP } from 'node:net';
import { Fault } from '#core/fault.ts';

/**
 * Addresses to which nothing is ever sent: link-local addresses, including the metadata services of clouds, other
 * addresses of such services, and addresses that do not identify one machine.
 */
const refused = new BlockList();
for (const [net, prefix] of [
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
  // Metadata services: Alibaba Cloud, Azure.
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
] as const) {
  refused.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
  ['fe80::', 10],
  ['ff00::', 8],
  // Metadata services: AWS, Google Cloud.
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
  // IPv6 forms of the IPv4 addresses above: translated (RFC 6052, RFC 8215), 6to4, and IPv4-compatible.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['::', 96],
] as const) {
  refused.addSubnet(net, prefix, 'ipv6');
}

const loopback = '::1';

/** `address`: IPv4 or IPv6, without brackets. */
export function isRefused(address: string): boolean {
  const [bare = ''] = address.split('%');
  const family = isIP(bare);
  if (family === 0) return true;
  if (bare === loopback) return false;
  return refused.check(bare, family === 6 ? 'ipv6' : 'ipv4');
}

const longest = 1000;

/** Faults: malformed. */
export function destination(text: string): URL {
  const wrong = (detail: string) => new Fault('malformed', detail);
  if (text.length > longest || !URL.canParse(text)) throw wrong('this is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw wrong('the URL must begin with https: or http:');
  if (url.username !== '' || url.password !== '') throw wrong('the URL must not contain credentials');
  if (url.hash !== '' || text.includes('#')) throw wrong('the URL must not contain a fragment');
  const host = hostOf(url);
  if (host === '') throw wrong('this is not a URL');
  if (isIP(host) !== 0 && isRefused(host)) throw wrong('webhooks to this address are not allowed');
  return url;
}

export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
