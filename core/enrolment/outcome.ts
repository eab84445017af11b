/** A certification request as it came: its proof of possession is checked in the core. */
export interface EncodedRequest {
  readonly kind: 'pkcs10';
  /** DER. */
  readonly der: Uint8Array;
}

/** What a requester wants: a certificate for a new purpose, or the one it presented again. */
export interface Ask {
  readonly operation: 'enrol' | 'renew';
  readonly request: EncodedRequest;
}

/** Pending is not an error: the same request asked again joins it. */
export type Outcome =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array;
      /** Its issuer first, then upwards to the root, DER. */
      readonly chain: readonly Uint8Array[];
    }
  | { readonly kind: 'pending'; readonly id: number /** Seconds. */; readonly retryAfter: number };
