import type { CertificateTemplate } from '../x509/certificate.ts';
import type { RevocationReason } from '../x509/crl.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import type { Health } from './platform.ts';

declare const prepared: unique symbol;

/**
 * A certificate to be: made from a profile, linted, with its serial number. Only `prepare` mints it (and `recall`, from what it
 * minted), and an issuer takes nothing else; what our own CA signs is `tbs`, byte for byte.
 */
export interface Prepared {
  readonly template: CertificateTemplate;
  /** TBSCertificate, DER. */
  readonly tbs: Uint8Array;
  /** The request that it answers; absent for keys that were made here. */
  readonly request: VerifiedRequest | undefined;
  readonly [prepared]: true;
}

/** A certificate that is wanted. */
export interface Order {
  /**
   * `tbs`, linted, is what our own CA signs, byte for byte. An upstream CA gets the device's own `request` (in whatever words
   * its protocol has); for it `template` says what the profile wants to come of that. What it answers is checked against
   * `template` by whoever gave the order: key, names, usages and CA flag are to be those, the validity no longer.
   * `template.serial`, 16 octets, names the order for ever: it is the same whenever the order is given again, and no other
   * order has it. An upstream puts a serial number of its own into the certificate.
   */
  readonly prepared: Prepared;
  readonly operation: 'enrol' | 'renew';
  /** When it was given first, in milliseconds since 1970; absent when it is only checked. The same whenever it is given again. */
  readonly createdAt?: number | undefined;
  /** The certificate to be renewed, DER, where it is known. */
  readonly renews?: Uint8Array | undefined;
  /**
   * The message with which the device has asked for it, DER, byte for byte, its protection intact: a PKIMessage of CMP (RFC 9810) that
   * holds `request`. It is there when the request came so and is protected by a signature, which has been checked; a secret is known to
   * the device and this gateway alone, and proves nothing to anybody else. The same whenever the order is given again.
   */
  readonly message?: Uint8Array | undefined;
}

/** What an issuer makes of an order. `chain` leads from the certificate's issuer upwards, DER; empty where it is not told. */
export type IssuerAnswer =
  | {
      readonly kind: 'issued';
      readonly certificate: Uint8Array;
      readonly chain: readonly Uint8Array[];
      /** Whatever `confirm` needs, as text: the issuer waits to hear that the certificate is accepted. */
      readonly confirm?: string;
    }
  /** `handle`: whatever `poll` needs, as text. `retryAfter`: seconds, not negative. */
  | { readonly kind: 'pending'; readonly handle: string; readonly retryAfter: number };

/**
 * Issues certificates: our own CA, or a way to an upstream one. It answers `issued` or `pending` and throws on everything else;
 * it never tries again by itself, as that belongs to the engine (core/upstream). Nothing that it answers is trusted.
 *
 * Faults of every member: `unavailable` (no answer, or one that says to come back: whether the order arrived is not known;
 * with `retryAfter` where the upstream said when), and all others are final: `forbidden` (refused by the upstream), `badCsr`
 * and `badAlgorithm` (the request is not to its taste), `unsupported` (its protocol cannot say this), `malformed` (what it
 * answered cannot be read). Details are shown to devices: they hold no credentials and no more than 200 characters of what the
 * upstream said. A `signal` that is aborted ends a call with `unavailable`. Every call ends within `timeout`.
 *
 * Any number of instances of the gateway use the same upstream at once; calls may overlap.
 */
export interface Issuer {
  /** Signs inside this process: the intent and the certificate may share a transaction. */
  readonly inProcess?: boolean;
  /** How an upstream CA is talked to; absent for our own. It decides the type of CA that is made of it. */
  readonly protocol?: 'est' | 'cmp';
  /** Milliseconds after which every call has ended, one way or the other. */
  readonly timeout?: number;
  /**
   * An order whose answer was lost may be given again: the protocol has the upstream answer it as the first time, or at worst
   * make a second certificate that nobody sees. Where it is absent or false, such an order ends as failed.
   */
  readonly repeatable?: boolean;
  /** Seals again what the vault seals with an earlier master key; how many secrets that was. Absent where nothing is sealed. */
  reseal?(): Promise<number>;
  /** CA certificates from the issuing one up to its root, DER, as the upstream has them now. Never empty. */
  chain(signal?: AbortSignal): Promise<readonly Uint8Array[]>;
  /** Throws what can be said of an order before anything is sent: Faults unsupported, badCsr, badAlgorithm. */
  check?(order: Order): void;
  issue(order: Order, signal?: AbortSignal): Promise<IssuerAnswer>;
  /** Asks again for what was pending, by the latest handle. Absent where nothing ever is. */
  poll?(handle: string, order: Order, signal?: AbortSignal): Promise<IssuerAnswer>;
  /**
   * Tells the upstream that the certificate is accepted, or that it is not what was ordered. Called until it resolves, after the
   * certificate has been recorded and before anybody gets it: when it is refused, for whatever reason that is final, the certificate is
   * revoked. What cannot be read (`malformed`) is no refusal. Absent where no answer asks for it.
   */
  confirm?(handle: string, certificate: Uint8Array, accepted: boolean, signal?: AbortSignal): Promise<void>;
  /**
   * Has a certificate (DER) revoked, put on hold or released. Absent where the protocol has no words for it. Resolves too when
   * the upstream had done so before. Faults: forbidden, unsupported for a reason that cannot be told, unavailable.
   */
  revoke?(certificate: Uint8Array, reason: RevocationReason, signal?: AbortSignal): Promise<void>;
  /** What is to be done now and then, by one instance at a time: renews the credential that the upstream knows us by. */
  maintain?(signal?: AbortSignal): Promise<void>;
  /** What is known without asking anybody. Whether calls succeed is watched by the engine. */
  health(): Promise<Health>;
}
