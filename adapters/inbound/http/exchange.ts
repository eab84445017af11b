/** The other end of a connection, as far as its identity is proven. */
export interface Peer {
  /** IP address, without a port: of the socket or, behind a trusted proxy, the one that the proxy forwarded. */
  readonly address: string;
  /** The request came over TLS. */
  readonly secure: boolean;
  /**
   * The client's certificate chain: DER, leaf first, as sent; empty when the client sent none. Possession of the leaf's private
   * key is proven by the handshake (RFC 8446 §4.4.3) or by a trusted proxy (RFC 9440). Nothing else is checked: the
   * certificates may be untrusted, expired or malformed.
   */
  readonly certificates: readonly Uint8Array[];
  /**
   * Returns the channel binding of the TLS connection: tls-unique in TLS 1.2 (RFC 5929 §3), tls-exporter in TLS 1.3 (RFC 9266);
   * undefined on plain HTTP. Absent behind a proxy that terminates TLS.
   */
  channelBinding?(): Uint8Array | undefined;
}

/** A complete request. */
export interface HttpRequest {
  /** Never 'HEAD': the listener turns HEAD into GET and sends the response without its body. */
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
  /** The listener adds Content-Length, Connection and Date. It formats a frozen object once, not for each response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string | AsyncIterable<Uint8Array>;
}

/** One inbound adapter's part of the URL space. */
export interface Mount {
  /** '/.well-known/est', '/rest' or '/', without a trailing slash. The longest prefix that ends at a segment boundary wins. */
  readonly prefix: string;
  /** Also served on the plain HTTP listener. */
  readonly plainHttp: boolean;
  /** The longest request body accepted, in octets. */
  readonly bodyLimit: number | ((path: string) => number);
  /**
   * Handles one complete request. The requests of a connection are handled one after the other. A rejected promise is a defect:
   * it is logged, and the client receives `refuse(500)`.
   */
  handle(request: HttpRequest): Promise<HttpResponse>;
  /** Formats a refusal by the listener itself as this protocol does: 400, 408, 413, 431, 500. Pure and quick. */
  refuse(status: number, detail: string): HttpResponse;
}
