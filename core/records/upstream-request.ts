import type { FaultCode } from '../fault.ts';
import type { Actor } from './audit-event.ts';
import type { KeyReference } from './credential.ts';

/**
 * `asked`: the upstream has been asked, or is about to be, and its answer is not known. `pending`: it is deciding. `received`: the
 * certificate is recorded, and the upstream waits to hear so. `issued` and `failed` are the end.
 */
export type UpstreamRequestState = 'asked' | 'pending' | 'received' | 'issued' | 'failed';

/** What is asked of an upstream CA. It is stored before the upstream hears of it, so that no answer finds nobody who asked. */
export interface UpstreamRequest {
  readonly id: number;
  readonly createdAt: number;
  /** The upstream's name in the configuration. */
  readonly issuer: string;
  readonly state: UpstreamRequestState;
  /**
   * The digest of what was asked (`requestDigest`) for as long as this is the answer to it, else null. Unique: whoever asks the
   * same again joins.
   */
  readonly answersFor: string | null;
  readonly operation: 'enrol' | 'renew';
  /** The CA that the certificate will be filed under; null for a CA of our own that is to be certified. */
  readonly ca: number | null;
  /** RFC 4514, as it is wanted. */
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
  /** What the upstream gave to ask it again by, or to confirm with. */
  readonly handle: string | null;
  /** Failures in a row. */
  readonly attempts: number;
  /** When it may be taken on; while somebody is at it, when that will have ended. */
  readonly nextAt: number;
  /** When nobody waits for it any more; at the end, until when it is remembered. */
  readonly expiresAt: number;
  /** Why it failed, at last or for now; nothing secret. */
  readonly reason: string | null;
  readonly code: FaultCode | null;
  /** What was answered and not accepted, DER. */
  readonly refused: Uint8Array | null;
  readonly certificate: number | null;
}

/** As administrators see it. */
export type UpstreamRequestView = Omit<
  UpstreamRequest,
  'wanted' | 'request' | 'renews' | 'message' | 'refused' | 'handle' | 'answersFor' | 'purpose'
>;

/** What the certificate is for, beyond being handed to who asked. */
export type UpstreamPurpose =
  /** The key was made here, and waits to be fetched with the certificate. */
  | { readonly kind: 'key'; readonly key: KeyReference }
  /** It makes a key of ours a CA. */
  | {
      readonly kind: 'ca';
      readonly uniqueName: string;
      readonly type: number;
      readonly isActive: boolean;
      readonly key: KeyReference;
    };
