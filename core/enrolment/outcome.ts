import type { VerifiedRequest } from '../x509/request.ts';

/** What a requester wants: a certificate for a new purpose, or the one it presented again. */
export interface Ask {
  readonly operation: 'enrol' | 'renew';
  readonly request: VerifiedRequest;
}

/** Pending is not an error: the same request asked again joins it. */
export type Outcome =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array /** Its issuer first, then upwards to the root, DER. */;
      readonly chain: readonly Uint8Array[];
    }
  | { readonly kind: 'pending'; readonly id: number /** Seconds. */; readonly retryAfter: number };
