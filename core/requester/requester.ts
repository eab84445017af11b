import type { Configuration } from '../configuration/configuration.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Device } from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { Target } from './evidence.ts';
import type { Onboarding } from './idevid-device.ts';

declare const admitted: unique symbol;

/**
 * The kind of credential, which decides what the requester may request. `password` is any shared secret; `idevid` is a manufacturer's
 * certificate (IEEE 802.1AR), which this gateway did not issue; a `registrationAuthority` is a device with a certificate of ours for
 * that purpose (id-kp-cmcRA, RFC 9480 §2.2).
 */
export type CredentialKind =
  | 'password'
  | 'idevid'
  | 'domainCredential'
  | 'issuedCertificate'
  | 'registrationAuthority';

/** An authenticated requester. Only `admit` creates it. */
export interface Requester {
  /**
   * The configuration at admission. The whole request is served under it, so that no request mixes two configurations. Only the response
   * of an upstream CA, which may come much later, is checked under the configuration at its arrival.
   */
  readonly configuration: Configuration;
  /** Undefined for the holder of a certificate that was issued to no device. */
  readonly device: Device | undefined;
  readonly domain: Domain;
  readonly target: Target;
  readonly credential: CredentialKind;
  /** The presented certificate, if this gateway issued it. */
  readonly presented: { readonly record: StoredCertificate; readonly certificate: Certificate } | undefined;
  /** The onboarding configuration that the IDevID is bound to. */
  readonly onboarding: Onboarding | undefined;
  readonly address: string;
  readonly [admitted]: true;
}
