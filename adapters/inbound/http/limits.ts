/** What one listener grants its peers. Times in milliseconds; they are kept to within about a second. */
export interface Limits {
  /** Connections at a time, those that have not finished their handshake included; more are cut. */
  readonly connections: number;
  /** From the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** From the first octet of a request (or the handshake) to the end of its header. */
  readonly headerMs: number;
  /** From the end of the header to the end of the body. */
  readonly bodyMs: number;
  /** Without a request, or without the peer taking anything of a response. */
  readonly idleMs: number;
  /** From the refusal of a request that is still coming in until its connection is cut. */
  readonly lingerMs: number;
  /** Octets of the request line and header together. */
  readonly headerOctets: number;
  readonly headerFields: number;
  /** Requests of one connection that wait for the response to another one; more are dropped, and the connection ends. */
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
