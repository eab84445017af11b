import { BlockList, isIP } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { Fault } from '#core/fault.ts';
import type { Peer } from './exchange.ts';

const maxCertificates = 10;
const maxChainOctets = 16 * 1024;

type Headers = Record<string, string | undefined>;

/** Returns an address in its one canonical form: IPv6 by RFC 5952 without a zone, IPv4-mapped IPv6 as IPv4; or undefined. */
function canonicalAddress(text: string): string | undefined {
  const version = isIP(text);
  if (version !== 6) return version === 4 ? text : undefined;
  // The URL parser writes RFC 5952; SocketAddress on Bun leaves the text as it is. Bun's URL parser rejects some addresses
  // that end in dotted decimal, such as `::ffff:1f:f:1f:1.2.3.4`, so it never gets that form.
  const hexadecimal = text.split('%')[0]!.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, inGroups);
  const address = new URL(`http://[${hexadecimal}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address);
  if (!mapped) return address;
  const [high, low] = [Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Writes four decimal octets as two groups of IPv6. */
const inGroups = (_: string, ...octets: string[]): string => {
  const [a, b, c, d] = octets.map(Number) as [number, number, number, number];
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};

/** The reverse proxies whose header fields identify the client. */
export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #none: boolean;

  /** `ranges`: addresses or CIDR ranges, IPv4 and IPv6. Throws Fault `malformed`, which names the invalid one. */
  constructor(ranges: readonly string[]) {
    this.#none = ranges.length === 0;
    for (const range of ranges) {
      const [, address = '', bits] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
      const version = isIP(address);
      const width = version === 4 ? 32 : 128;
      const prefix = bits === undefined ? width : Number(bits);
      if (version === 0 || prefix > width)
        throw new Fault('malformed', `"${range}" is not an IP address or CIDR range`);
      this.#list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
    }
  }

  has(address: string): boolean {
    return !this.#none && this.#list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}

/** The peer as the socket itself proves it. The chain is read once per connection, on first use. */
export class SocketPeer implements Peer {
  readonly address: string;
  readonly secure: boolean;
  readonly #socket: TLSSocket | undefined;
  #certificates: readonly Uint8Array[] | undefined;

  constructor(remoteAddress: string | undefined, socket?: TLSSocket) {
    this.address = canonicalAddress(remoteAddress ?? '') ?? '';
    this.secure = socket !== undefined;
    this.#socket = socket;
  }

  get certificates(): readonly Uint8Array[] {
    this.#certificates ??= this.#socket ? sentChain(this.#socket) : [];
    return this.#certificates;
  }

  channelBinding(): Uint8Array | undefined {
    return this.#socket && channelBindingOf(this.#socket);
  }
}

const exporterLabel = 'EXPORTER-Channel-Binding';
const noContext = Buffer.alloc(0);

function channelBindingOf(socket: TLSSocket): Uint8Array | undefined {
  if (socket.getProtocol() === 'TLSv1.3') return socket.exportKeyingMaterial(32, exporterLabel, noContext);
  // The first Finished message of the handshake: the client sends it, or the server when a session is resumed.
  return socket.isSessionReused() ? socket.getFinished() : socket.getPeerFinished();
}

/**
 * Returns the certificates of the handshake (or of the original handshake of a resumed session) in the order they were sent.
 * `issuerCertificate` is simply the next one sent, whether it is the issuer or not. More than ten are cut off.
 */
function sentChain(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = [];
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw && chain.length < maxCertificates) {
    chain.push(certificate.raw);
    const next: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    certificate = next === certificate ? undefined : next;
  }
  return chain;
}

/**
 * Returns the client that sent the request. A trusted proxy states the client's address in X-Forwarded-For and its certificates
 * in Client-Cert and Client-Cert-Chain (RFC 9440); the proxy's own certificate never counts as the client's. From any other peer
 * these fields are ignored. They are removed from `headers` in either case. Throws Fault `malformed` when a trusted proxy sends
 * an invalid one.
 */
export function peerOf(socket: SocketPeer, headers: Headers, proxies: TrustedProxies): Peer {
  const leaf = headers['client-cert'];
  const chain = headers['client-cert-chain'];
  const via = headers['x-forwarded-for'];
  if (leaf !== undefined) delete headers['client-cert'];
  if (chain !== undefined) delete headers['client-cert-chain'];
  if (via !== undefined) delete headers['x-forwarded-for'];
  if (!proxies.has(socket.address)) return socket;
  return {
    address: via === undefined ? socket.address : originalAddress(via, proxies),
    secure: socket.secure,
    certificates: forwardedChain(leaf, chain),
  };
}

/** Returns the right-most address that is not a trusted proxy: the client could have made up every address left of it. */
function originalAddress(via: string, proxies: TrustedProxies): string {
  let address = '';
  for (const hop of via.split(',').reverse()) {
    const canonical = canonicalAddress(withoutPort(hop.trim()));
    if (canonical === undefined) throw new Fault('malformed', 'X-Forwarded-For is not a list of addresses');
    address = canonical;
    if (!proxies.has(address)) break;
  }
  return address;
}

/** Some proxies append the client's port (`192.0.2.1:50123`, `[2001:db8::1]:50123`). */
const withoutPort = (hop: string): string =>
  /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^([\d.]+):\d{1,5}$/.exec(hop)?.[1] ?? hop;

/** Caddy sends an empty byte sequence for a client without a certificate. */
const noCertificate = /^[ \t]*::[ \t]*$/;

/** Reads the two fields of RFC 9440 §2: the leaf as an sf-binary item, the chain without it as an sf-list (RFC 8941 §3.3.5). */
function forwardedChain(leaf: string | undefined, chain: string | undefined): Uint8Array[] {
  if (leaf === undefined || noCertificate.test(leaf)) {
    if (chain !== undefined)
      throw new Fault('malformed', 'Client-Cert-Chain requires Client-Cert: send both');
    return [];
  }
  const items = chain === undefined ? [leaf] : [leaf, ...chain.split(',', maxCertificates)];
  if (items.length > maxCertificates)
    throw new Fault('malformed', 'Client-Cert-Chain contains too many certificates');
  const certificates = items.map(decodeBinary);
  const octets = certificates.reduce((sum, certificate) => sum + certificate.length, 0);
  if (octets > maxChainOctets) throw new Fault('malformed', 'Client-Cert-Chain is too long');
  return certificates;
}

function decodeBinary(item: string): Uint8Array {
  const text = /^[ \t]*:([A-Za-z0-9+/]+={0,2}):[ \t]*$/.exec(item)?.[1] ?? '';
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== text) {
    throw new Fault('malformed', 'Client-Cert is not a byte sequence in base64 between colons');
  }
  return bytes;
}
