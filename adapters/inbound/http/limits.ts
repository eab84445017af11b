/** The limits of one listener for its clients. Times are in milliseconds and enforced to within about a second. */
export interface Limits {
  /** Simultaneous connections, including those still in the TLS handshake; further connections are closed at once. */
  readonly connections: number;
  /** From the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** From the first octet of a request (or the handshake) to the end of its header. */
  readonly headerMs: number;
  /** From the end of the header to the end of the body. */
  readonly bodyMs: number;
  /** Without a request, or without the client reading any of a response. */
  readonly idleMs: number;
  /** From the refusal of a request that is still arriving until its connection is closed. */
  readonly lingerMs: number;
  /** Octets of the request line and header together. */
  readonly headerOctets: number;
  readonly headerFields: number;
  /** Requests of one connection that wait for an earlier response; more are dropped, and the connection is closed. */
  readonly pipelined: number;
}

export const defaultLimits: Limits = {
  connections: 10_000,
  handshakeMs: 10_000,
  headerMs: 15_000,
  bodyMs: 30_000,
  idleMs: 60_000,
  lingerMs: 2_000,
  headerOctets: 16 * 1024,
  headerFields: 100,
  pipelined: 16,
};
