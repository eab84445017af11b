import { Fault } from '../fault.ts';
import type { GatewaySettings } from '../ports/settings.ts';
import { type CertificateTemplate, extendedKeyUsageOf, subjectAltNamesOf } from '../x509/certificate.ts';
import { formatGeneralName, type GeneralName, parseGeneralName } from '../x509/general-name.ts';
import { parseIpAddress } from '../x509/ip-address.ts';
import type { Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';

type ServerNames = GatewaySettings['serverNames'];
type Named = Pick<CertificateTemplate, 'subject' | 'extensions'>;

/**
 * Rejects a certificate that a TLS client could accept for a name of this service. Its holder could impersonate the service, and
 * clients would send it their secrets. Faults: forbidden.
 */
export function demandNoOwnName(names: ServerNames, certificate: Named): void {
  const fault = ownNameIn(names, certificate);
  if (fault) throw fault;
}

/** The Fault of `demandNoOwnName`; undefined for a certificate without a name of this service. */
export function ownNameIn(names: ServerNames, certificate: Named): Fault | undefined {
  const purposes = extendedKeyUsageOf(certificate);
  if (purposes && !purposes.some((purpose) => ofServers.has(purpose))) return undefined;
  const own = ownNames(names);
  const taken = (text: string) =>
    new Fault('forbidden', `${text} is a name of this Postern service, which cannot be issued to a device`);
  for (const name of subjectAltNamesOf(certificate)) {
    const isOwn =
      name.kind === 'dns' ? own.isHost(name.value) : name.kind === 'ip' && own.isAddress(name.value);
    if (isOwn) return taken(formatGeneralName(name));
  }
  // Some clients check the common name when there is no DNS name (RFC 6125 §6.4.4); of several, each may check another one.
  for (const host of commonNames(certificate.subject)) if (own.isHost(host)) return taken(host);
  return undefined;
}

/** OpenSSL also accepts the two "server gated crypto" purposes of the 1990s for a TLS server. */
const ofServers: ReadonlySet<string> = new Set([
  oid.serverAuth,
  oid.anyExtendedKeyUsage,
  '1.3.6.1.4.1.311.10.3.3',
  '2.16.840.1.113730.4.1',
]);

function* commonNames({ rdns }: Name): Generator<string> {
  for (const rdn of rdns) for (const { type, value } of rdn) if (type === oid.commonName) yield value;
}

interface OwnNames {
  /** `text`: a DNS name, a wildcard or an IP address. */
  isHost(text: string): boolean;
  isAddress(octets: Uint8Array): boolean;
}

const known = new WeakMap<ServerNames, OwnNames>();

function ownNames(names: ServerNames): OwnNames {
  let own = known.get(names);
  if (!own) {
    own = readNames(names);
    known.set(names, own);
  }
  return own;
}

/** Reads the names of this service, except loopback names: a client that uses them is on this machine. */
function readNames(names: ServerNames): OwnNames {
  const hosts: string[] = [];
  const addresses = new Set<string>();
  for (const name of serverNames({ serverNames: names })) {
    if (name.kind === 'ip' && !isLoopback(name.value)) addresses.add(addressKey(name.value));
    if (name.kind === 'dns' && foldHost(name.value) !== 'localhost') hosts.push(foldHost(name.value));
  }
  const isAddress = (octets: Uint8Array): boolean => addresses.has(addressKey(octets));
  return {
    isAddress,
    isHost(text) {
      const host = foldHost(text);
      const address = addressIn(host);
      return address ? isAddress(address) : hosts.some((own) => matches(host, own));
    },
  };
}

const foldHost = (text: string): string => text.trim().replace(/\.$/, '').toLowerCase();

/** Whether a name, perhaps with a wildcard anywhere in its first label (RFC 6125 §6.4.3), covers a host. */
function matches(name: string, host: string): boolean {
  if (name === host) return true;
  const dot = name.indexOf('.');
  const label = dot < 0 ? name : name.slice(0, dot);
  const star = label.indexOf('*');
  const first = host.split('.')[0]!;
  if (star < 0 || name.slice(label.length) !== host.slice(first.length)) return false;
  const [before, after] = [label.slice(0, star), label.slice(label.lastIndexOf('*') + 1)];
  return first.length >= before.length + after.length && first.startsWith(before) && first.endsWith(after);
}

function addressIn(host: string): Uint8Array | undefined {
  const text = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  // Other texts cannot be addresses; the check avoids an exception for ordinary names.
  if (!/^[\d.]+$|:/.test(text)) return undefined;
  try {
    return parseIpAddress(text);
  } catch {
    return undefined;
  }
}

const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
const compatible = new Array<number>(12).fill(0);

/** Returns one key for an IPv4 address and its IPv6 forms (RFC 4291 §2.5.5). A mask after the address is ignored. */
function addressKey(octets: Uint8Array): string {
  const address =
    octets.length === 8 || octets.length === 32 ? octets.subarray(0, octets.length / 2) : octets;
  const starts = (prefix: readonly number[]): boolean => prefix.every((octet, n) => address[n] === octet);
  const isV4 = address.length === 16 && (starts(mapped) || (starts(compatible) && !isLoopback(address)));
  return (isV4 ? address.subarray(12) : address).join('.');
}

function isLoopback(address: Uint8Array): boolean {
  if (address.length === 4) return address[0] === 127;
  return (
    address.every((octet, n) => octet === (n === 15 ? 1 : 0)) ||
    (mapped.every((octet, n) => address[n] === octet) && address[12] === 127)
  );
}

/** What this service is called, as alternative names of its TLS server certificate. */
export const serverNames = ({ serverNames }: Pick<GatewaySettings, 'serverNames'>): readonly GeneralName[] =>
  serverNames.map((name) => parseGeneralName(/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`));
