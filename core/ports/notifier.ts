/** One attempt to tell somebody of something. */
export interface Message {
  readonly url: string;
  /** Its name: the same at every attempt. No full stop in it. */
  readonly id: string;
  /** Of the attempt, ms since 1970. */
  readonly at: number;
  /** JSON. */
  readonly body: string;
  /** Signs it. */
  readonly secret: Uint8Array;
  /** Who may vouch for the receiver's TLS certificate, DER; undefined: whoever the system trusts. */
  readonly anchors?: readonly Uint8Array[];
}

export interface Attempt {
  readonly delivered: boolean;
  /** The HTTP status, where there was an answer. */
  readonly status: number | null;
  /** Why it was not delivered; nothing of what the receiver said. */
  readonly detail: string | null;
}

/** Tells other systems, signed after the Standard Webhooks specification (HMAC-SHA256, `v1`). */
export interface Notifier {
  /** Faults: malformed (no field) when nothing is ever sent to such a URL. Asks nobody. */
  check(url: string): void;
  /**
   * Posts it once, within 10 seconds. Only 2xx counts as delivered; redirects are not followed, the answer's body is not read
   * beyond 1 kB. Never sends to link-local or metadata addresses, also when a name stands for one. Does not reject.
   */
  post(message: Message, signal: AbortSignal): Promise<Attempt>;
}
