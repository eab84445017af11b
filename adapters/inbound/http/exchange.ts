/** The other end of a connection, as far as it is proven. */
export interface Peer {
  /** IP address, without a port: of the socket or, behind a trusted proxy, the one that the proxy forwarded. */
  readonly address: string;
  /** The request came over TLS. */
  readonly secure: boolean;
  /**
   * The client's certificate chain: DER, leaf first, as sent; empty without one. Possession of the
   * leaf's private key is proven (RFC 8446 §4.4.3, or vouched for by a trusted proxy, RFC 9440);
   * whether it is trusted, valid or even well-formed X.509 inside is not.
   */
  readonly certificates: readonly Uint8Array[];
  /**
   * What is unique to this TLS connection: tls-unique in TLS 1.2 (RFC 5929 §3), tls-exporter in TLS 1.3 (RFC 9266). Absent where
   * the client's TLS connection ends elsewhere, undefined where there is none.
   */
  channelBinding?(): Uint8Array | undefined;
}

/** A request, whole. */
export interface HttpRequest {
  /** Never 'HEAD': that is answered as GET, without the body. */
  readonly method: string;
  /** As sent, still percent-encoded and not normalised, without the query; begins with '/'. */
  readonly path: string;
  /** Without the '?'; '' when there is none. */
  readonly query: string;
  /** Names in lower case; repeated fields joined with ', '. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly peer: Peer;
}

export interface HttpResponse {
  readonly status: number;
  /** Content-Length, Connection and Date are the listener's. Frozen ones are written down once, not for each response: they are plain values. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array>;
}

/** One inbound adapter's part of the URL space. */
export interface Mount {
  /** '/.well-known/est', '/rest', '/': no trailing slash but in '/' itself. The longest prefix that ends at a segment boundary wins. */
  readonly prefix: string;
  /** Also served on the plain HTTP listener. */
  readonly plainHttp: boolean;
  /** The longest request body accepted, in octets. */
  readonly bodyLimit: number | ((path: string) => number);
  /**
   * Called for one request of a connection at a time, with the body received whole. A rejection is a
   * defect: it is reported and answered with `refuse(500)`.
   */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** What the listener itself refuses, in this protocol's form: 400, 408, 413, 431, 500. Pure and quick. */
  refuse(status: number, detail: string): HttpResponse;
}
