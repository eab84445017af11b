import type { ExchangeWithResponse } from '../transactions/exchange.ts';
import type { CertReqMsg } from '../x509/crmf.ts';
import type { Name } from '../x509/name.ts';

/** A certification request as it came, DER: PKCS#10, or CertReqMsg of CRMF. Its proof of possession is checked in the core. */
export interface EncodedRequest {
  readonly kind: 'pkcs10' | 'crmf';
  readonly der: Uint8Array;
}

/** The same where it comes from a requester: messages of CRMF have been read for what is in them beside the request. */
export type ReceivedRequest = ReceivedPkcs10 | CertReqMsg;

interface ReceivedPkcs10 extends EncodedRequest {
  readonly kind: 'pkcs10';
  /** A key is to be made for it here: its own, and its signature, do not count. */
  readonly keyMadeHere?: boolean | undefined;
}

/** Names a certificate that one of our CAs has issued. */
export interface CertificateReference {
  readonly issuer: Name;
  /** Upper-case hex, as `Certificate` has it. */
  readonly serialNumber: string;
}

/** What a requester wants: a certificate for a new purpose, or the one it presented again. */
export interface EnrolmentRequest {
  readonly operation: 'enrol' | 'renew';
  readonly request: ReceivedRequest;
  /** The certificate to be renewed, where the request names it: it has to be the one that was presented. */
  readonly renews?: CertificateReference | undefined;
  /** See `Order.message`. */
  readonly message?: Uint8Array | undefined;
  /**
   * EST: the channel binding of the TLS connection that the request came by, for a challengePassword in it. It is asked for only
   * then. Undefined when TLS ends elsewhere.
   */
  readonly channelBinding?: (() => Uint8Array | undefined) | undefined;
  /** The transaction that the certificate comes of; the answer is stored in one commit with it. */
  readonly exchange?: IssuanceExchange | undefined;
}

export type Issuance = Extract<EnrolmentResult, { readonly kind: 'issued' }>;
export type Deferral = Extract<EnrolmentResult, { readonly kind: 'pending' }>;

export interface IssuanceExchange extends ExchangeWithResponse<Issuance> {
  /** Milliseconds for the requester to confirm the certificate, before it is revoked; undefined: it need not. */
  readonly confirmWithin: number | undefined;
}

/** Pending is not an error: the same request asked again joins it. */
export type EnrolmentResult =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array;
      /** Its issuer first, then upwards to the root, DER. */
      readonly chain: readonly Uint8Array[];
      /** It says something else than the request, or more. */
      readonly modified: boolean;
      /** For a request without a key: the one that was made here, PKCS#8, DER. It is not kept. */
      readonly privateKey?: Uint8Array | undefined;
    }
  | {
      readonly kind: 'pending';
      readonly id: number;
      /** Seconds. */
      readonly retryAfter: number;
      /** Milliseconds for which there may still be another answer; undefined: as long as anybody asks. */
      readonly lasts?: number;
      /** It waits for an upstream CA, not for people here. */
      readonly upstream?: true;
    };
