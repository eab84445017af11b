import type { ExchangeWithResponse } from '../transactions/exchange.ts';
import type { CertReqMsg } from '../x509/crmf.ts';
import type { Name } from '../x509/name.ts';

/** An encoded certification request (DER): PKCS#10, or CertReqMsg of CRMF. The core checks its proof of possession. */
export interface EncodedRequest {
  readonly kind: 'pkcs10' | 'crmf';
  readonly der: Uint8Array;
}

/** A certification request of a requester. CRMF messages are already parsed, because they contain more than the request. */
export type ReceivedRequest = ReceivedPkcs10 | CertReqMsg;

interface ReceivedPkcs10 extends EncodedRequest {
  readonly kind: 'pkcs10';
  /** Server-side key generation: the key and the signature in the request are ignored. */
  readonly keyMadeHere?: boolean | undefined;
}

/** Names a certificate that one of our CAs has issued. */
export interface CertificateReference {
  readonly issuer: Name;
  /** Upper-case hex, as `Certificate` has it. */
  readonly serialNumber: string;
}

/** A request for a new certificate, or for the renewal of the presented one. */
export interface EnrolmentRequest {
  readonly operation: 'enrol' | 'renew';
  readonly request: ReceivedRequest;
  /** The certificate to be renewed, if the request names it; it must be the presented one. */
  readonly renews?: CertificateReference | undefined;
  /** See `Order.message`. */
  readonly message?: Uint8Array | undefined;
  /**
   * EST: returns the channel binding of the TLS connection, or undefined when TLS ends at a proxy. Called only when the request contains
   * a challengePassword.
   */
  readonly channelBinding?: (() => Uint8Array | undefined) | undefined;
  /** The exchange of the certificate; its response is stored in one commit with the certificate. */
  readonly exchange?: IssuanceExchange | undefined;
}

export type Issuance = Extract<EnrolmentResult, { readonly kind: 'issued' }>;
export type Deferral = Extract<EnrolmentResult, { readonly kind: 'pending' }>;

export interface IssuanceExchange extends ExchangeWithResponse<Issuance> {
  /** Milliseconds in which the requester has to confirm the certificate, or it is revoked; undefined: no confirmation. */
  readonly confirmWithin: number | undefined;
}

/** The certificate, or a deferral. Pending is not an error: a repeated request joins the pending one. */
export type EnrolmentResult =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array;
      /** Its issuer first, then upwards to the root, DER. */
      readonly chain: readonly Uint8Array[];
      /** The certificate differs from the request, or contains more. */
      readonly modified: boolean;
      /** A key that was made here, PKCS#8, DER. It is not kept. */
      readonly privateKey?: Uint8Array | undefined;
    }
  | {
      readonly kind: 'pending';
      readonly id: number;
      /** Seconds. */
      readonly retryAfter: number;
      /** Milliseconds for which the request can stay pending; undefined: unlimited. */
      readonly lasts?: number;
      /** The request is pending at an upstream CA, not with approvers here. */
      readonly upstream?: true;
    };
