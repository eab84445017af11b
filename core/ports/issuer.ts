import type { CertificateTemplate } from '../x509/certificate.ts';
import type { RevocationReason } from '../x509/crl.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import type { Health } from './platform.ts';

declare const prepared: unique symbol;

/**
 * A certificate that is ready to be signed: built from a profile, linted, with its serial number. Only `prepare`
 * creates it (and `recall`, from an earlier `prepare`), and an issuer accepts nothing else. Our own CA signs `tbs` byte
 * for byte.
 */
export interface Prepared {
  readonly template: CertificateTemplate;
  /** TBSCertificate, DER. */
  readonly tbs: Uint8Array;
  /** The certification request; absent if the key was generated here. */
  readonly request: VerifiedRequest | undefined;
  readonly [prepared]: true;
}

/** An order for one certificate, given to our own CA or to an upstream CA. */
export interface Order {
  /**
   * Our own CA signs the linted `tbs` byte for byte. An upstream CA receives the device's own `request` in the form of
   * its protocol; for it, `template` states what the profile expects. The caller checks the issued certificate against
   * `template`: key, names, usages and CA flag must match, the validity period need not.
   * `template.serial` (16 octets) identifies the order permanently: it is the same on every retry, and no two orders
   * share it. An upstream CA puts its own serial number into the certificate.
   */
  readonly prepared: Prepared;
  readonly operation: 'enrol' | 'renew';
  /**
   * When the order was first placed, in milliseconds since 1970; absent if the order is only checked. Every retry
   * carries the same time.
   */
  readonly createdAt?: number | undefined;
  /** The certificate to be renewed, DER, if known. */
  readonly renews?: Uint8Array | undefined;
  /**
   * The device's original message, DER, byte for byte with its protection: a CMP PKIMessage (RFC 9810) that contains
   * `request`. Present only if the device used CMP with signature protection, which has been verified. A message
   * protected by a shared secret is not passed on, because only the device and this gateway know the secret. Every
   * retry carries the same message.
   */
  readonly message?: Uint8Array | undefined;
}

/**
 * The response of an issuer to an order. `chain` leads from the certificate's issuer upwards, DER; empty if the issuer
 * does not send it.
 */
export type IssuerAnswer =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array;
      readonly chain: readonly Uint8Array[];
      /** The issuer waits for a confirmation that the certificate is accepted: the text that `confirm` needs. */
      readonly confirm?: string;
    }
  /** `handle`: the text that `poll` needs. `retryAfter`: seconds, not negative. */
  | { readonly kind: 'pending'; readonly handle: string; readonly retryAfter: number };

/** What administrators see of an upstream CA. Contains no secrets. */
export interface IssuerDescription {
  /** The address of every request. */
  readonly url: string;
  /** EST: the label of a CA or profile (RFC 7030 §3.2.2). */
  readonly label?: string | undefined;
  /** CMP: the name of a certificate profile (certProfile, RFC 9483 §4.1.1). */
  readonly profile?: string | undefined;
  /** The certificate with which this gateway authenticates itself, DER; absent if it uses a secret or nothing. */
  readonly clientCertificate?: Uint8Array | undefined;
}

/**
 * Issues certificates: our own CA, or an upstream CA. Returns `issued` or `pending` and throws in every other case. An
 * issuer never retries by itself, because the engine (core/upstream) does. Nothing that an issuer returns is trusted.
 * Faults of every member: `unavailable` means that there was no response, or a response that asks for a retry; it is
 * unknown whether the order arrived, and `retryAfter` is set if the upstream CA sent it. All other Faults are final:
 * `forbidden` (rejected by the upstream CA), `badCsr` and `badAlgorithm` (the upstream CA does not accept the request),
 * `unsupported` (the protocol cannot express the order), `malformed` (the response cannot be read). Devices see the
 * details: they hold no credentials and at most 200 characters of the upstream CA's text. An aborted `signal` ends a
 * call with `unavailable`. Every call ends within `timeout`.
 * Any number of gateway instances use the same upstream CA at once; calls may overlap.
 */
export interface Issuer {
  /** True if signing happens inside this process: the intent and the certificate may then share a transaction. */
  readonly inProcess?: boolean;
  /** The protocol of an upstream CA; absent for our own CA. It determines the type of the CA record. */
  readonly protocol?: 'est' | 'cmp';
  /** Milliseconds within which every call ends, whether it succeeds or fails. */
  readonly timeout?: number;
  /**
   * True if an order whose response was lost may be repeated: the upstream CA sends the same response again, or at
   * worst issues a second certificate that nobody uses. If absent or false, such an order fails.
   */
  readonly repeatable?: boolean;
  /**
   * Re-encrypts all secrets that the vault sealed with an earlier master key, and returns how many there were. Absent
   * if the issuer seals nothing.
   */
  reseal?(): Promise<number>;
  /** Returns the current CA certificates of the upstream CA from the issuing CA up to its root, DER. Never empty. */
  chain(signal?: AbortSignal): Promise<readonly Uint8Array[]>;
  /** Throws every Fault that can be determined before anything is sent: unsupported, badCsr, badAlgorithm. */
  check?(order: Order): void;
  issue(order: Order, signal?: AbortSignal): Promise<IssuerAnswer>;
  /** Asks again for a pending certificate, with the latest handle. Absent if the issuer never returns `pending`. */
  poll?(handle: string, order: Order, signal?: AbortSignal): Promise<IssuerAnswer>;
  /**
   * Tells the upstream CA whether the certificate is accepted. The engine retries until the promise resolves, after it
   * has recorded the certificate and before anybody receives it. If the upstream CA rejects the confirmation with a
   * final Fault, the certificate is revoked; an unreadable response (`malformed`) is not a rejection. Absent if no
   * response asks for a confirmation.
   */
  confirm?(handle: string, certificate: Uint8Array, accepted: boolean, signal?: AbortSignal): Promise<void>;
  /**
   * Revokes a certificate (DER), puts it on hold or releases it. Also resolves if the upstream CA had already done so.
   * Absent if the protocol has no such message. Faults: forbidden, unsupported (a reason that the protocol cannot
   * express), unavailable.
   */
  revoke?(certificate: Uint8Array, reason: RevocationReason, signal?: AbortSignal): Promise<void>;
  /**
   * Performs periodic maintenance, on one instance at a time: renews the credential with which the upstream CA
   * authenticates us.
   */
  maintain?(signal?: AbortSignal): Promise<void>;
  /** Describes the upstream CA for administrators, without a network call. */
  describe?(): Promise<IssuerDescription>;
  /** Returns what is known without a network call. The engine watches whether calls succeed. */
  health(): Promise<Health>;
}
