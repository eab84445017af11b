import type { FaultCode } from '../fault.ts';
import type { Actor } from './audit-event.ts';
import type { KeyReference } from './credential.ts';

/**
 * `asked`: the order has been or is about to be sent, and the response is not known. `pending`: the upstream CA has not
 * decided yet. `received`: the certificate is recorded, and the upstream CA waits for the confirmation. `issued` and
 * `failed` are final.
 */
export type UpstreamRequestState = 'asked' | 'pending' | 'received' | 'issued' | 'failed';

/** The states of an order that is not final. */
export const openUpstreamStates = [
  'asked',
  'pending',
  'received',
] as const satisfies readonly UpstreamRequestState[];

/** An order to an upstream CA. It is stored before it is sent, so that every response finds its order. */
export interface UpstreamRequest {
  readonly id: number;
  readonly createdAt: number;
  /** The upstream's name in the configuration. */
  readonly issuer: string;
  readonly state: UpstreamRequestState;
  /**
   * The digest of the request (`requestDigest`) as long as this order is the current one for the request, else null.
   * Unique: a repeated request joins the existing order.
   */
  readonly answersFor: string | null;
  readonly operation: 'enrol' | 'renew';
  /** The CA under which the certificate is recorded; null if the upstream CA certifies one of our own CAs. */
  readonly ca: number | null;
  /** RFC 4514, the requested subject. */
  readonly subject: string;
  /** TBSCertificate, DER: see `Order.prepared`. */
  readonly wanted: Uint8Array;
  readonly requestKind: 'pkcs10' | 'crmf';
  readonly request: Uint8Array;
  readonly renews: Uint8Array | null;
  /** See `Order.message`. */
  readonly message: Uint8Array | null;
  /** For whom and by what rules, as in `IssuanceRequest`. */
  readonly device: number | null;
  readonly domain: number | null;
  readonly profile: number | null;
  readonly profileName: string;
  readonly protocol: string;
  readonly actor: Actor;
  readonly inventoryName: string | null;
  readonly purpose: UpstreamPurpose | null;
  /** The handle with which the upstream CA is polled or the certificate is confirmed. */
  readonly handle: string | null;
  /** The number of failures in a row. */
  readonly attempts: number;
  /** When an instance may process the order; while an instance processes it, when that instance's time ends. */
  readonly nextAt: number;
  /** The deadline for the requester; once the order is final, until when it is kept. */
  readonly expiresAt: number;
  /** The reason of the final or the latest failure; contains no secrets. */
  readonly reason: string | null;
  readonly code: FaultCode | null;
  /** A certificate that the upstream CA issued and Postern rejected, DER. */
  readonly refused: Uint8Array | null;
  readonly certificate: number | null;
}

/** The fields that administrators see. */
export type UpstreamRequestView = Omit<
  UpstreamRequest,
  'wanted' | 'request' | 'renews' | 'message' | 'refused' | 'handle' | 'answersFor' | 'purpose'
>;

/** The purpose of the certificate, besides delivery to the requester. */
export type UpstreamPurpose =
  /** Postern generated the key, which can be fetched together with the certificate. */
  | { readonly kind: 'key'; readonly key: KeyReference }
  /** The certificate makes one of our own keys a CA. */
  | {
      readonly kind: 'ca';
      readonly uniqueName: string;
      readonly type: number;
      readonly isActive: boolean;
      readonly key: KeyReference;
    };
