/** One delivery attempt of a webhook message. */
export interface Message {
  readonly url: string;
  /** The message id, the same at every attempt. It contains no full stop. */
  readonly id: string;
  /** The time of the attempt, ms since 1970. */
  readonly at: number;
  /** JSON. */
  readonly body: string;
  /** The key that signs the message. */
  readonly secret: Uint8Array;
  /** Trust anchors for the receiver's TLS certificate, DER; undefined: the system's trust store. */
  readonly anchors?: readonly Uint8Array[];
}

export interface Attempt {
  readonly delivered: boolean;
  /** The HTTP status, if there was a response. */
  readonly status: number | null;
  /** Why the delivery failed; contains nothing that the receiver sent. */
  readonly detail: string | null;
}

/** Delivers webhook messages, signed as the Standard Webhooks specification describes (HMAC-SHA256, `v1`). */
export interface Notifier {
  /** Rejects URLs to which nothing is ever sent. Makes no network call. Faults: malformed (no field). */
  check(url: string): void;
  /**
   * Posts the message once, within 10 seconds. Only a 2xx status counts as delivered. Does not follow redirects, reads
   * at most 1 kB of the response body and never connects to link-local or metadata addresses, even if a host name
   * resolves to one. Never rejects.
   */
  post(message: Message, signal: AbortSignal): Promise<Attempt>;
}
