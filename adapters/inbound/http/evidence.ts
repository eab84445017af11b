import { BlockList, isIP } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { Fault } from '#core/fault.ts';
import type { Peer } from './exchange.ts';

const maxCertificates = 10;
const maxChainOctets = 16 * 1024;

type Headers = Record<string, string | undefined>;

/** IPv6 in the form of RFC 5952, IPv4 also when it comes mapped into IPv6, no zone; undefined for anything else. */
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

/** Four octets in decimal as two groups of IPv6. */
const inGroups = (_: string, ...octets: string[]): string => {
  const [a, b, c, d] = octets.map(Number) as [number, number, number, number];
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
};

/** The reverse proxies whose word counts for who the client is. */
export class TrustedProxies {
  readonly #list = new BlockList();
  readonly #none: boolean;

  /** `ranges`: addresses or CIDR ranges, IPv4 and IPv6. Fault malformed names the one that is neither. */
  constructor(ranges: readonly string[]) {
    this.#none = ranges.length === 0;
    for (const range of ranges) {
      const [, address = '', bits] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(range) ?? [];
      const version = isIP(address);
      const width = version === 4 ? 32 : 128;
      const prefix = bits === undefined ? width : Number(bits);
      if (version === 0 || prefix > width) throw new Fault('malformed', `not an address range: ${range}`);
      this.#list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
    }
  }

  has(address: string): boolean {
    return !this.#none && this.#list.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}

/** What the socket itself proves. The chain is read on first use, once per connection. */
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
  // The first Finished message: the client's, or the server's when a session is resumed.
  return socket.isSessionReused() ? socket.getFinished() : socket.getPeerFinished();
}

/**
 * The certificates of the handshake, or of the one whose session it resumes, in the order they were sent.
 * `issuerCertificate` is the one sent next, whoever issued what; more than ten cannot be a path that anyone trusts.
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
 * Who sent this request. Behind a trusted proxy that is what the proxy says: the address by X-Forwarded-For, the
 * certificates by Client-Cert and Client-Cert-Chain (RFC 9440) alone. The proxy's own certificate never
 * stands for a client, or every client without one would come with the proxy's. From anyone else these fields are nothing. They
 * are taken out of `headers` in either case. Fault malformed when a trusted proxy sends one that cannot be read.
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

/** The right-most address that is no proxy of ours: what stands left of it is only the client's word. */
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

/** What Caddy sends for a client without a certificate: an empty byte sequence. */
const noCertificate = /^[ \t]*::[ \t]*$/;

/** RFC 9440 §2: an sf-binary item, and an sf-list of them that leaves out the leaf (RFC 8941 §3.3.5). */
function forwardedChain(leaf: string | undefined, chain: string | undefined): Uint8Array[] {
  if (leaf === undefined || noCertificate.test(leaf)) {
    if (chain !== undefined) throw new Fault('malformed', 'Client-Cert-Chain without Client-Cert');
    return [];
  }
  const items = chain === undefined ? [leaf] : [leaf, ...chain.split(',', maxCertificates)];
  if (items.length > maxCertificates)
    throw new Fault('malformed', 'Client-Cert-Chain: too many certificates');
  const certificates = items.map(decodeBinary);
  const octets = certificates.reduce((sum, certificate) => sum + certificate.length, 0);
  if (octets > maxChainOctets) throw new Fault('malformed', 'Client-Cert-Chain: too long');
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
