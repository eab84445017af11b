import type { Configuration } from '../configuration/configuration.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Device } from '../records/device.ts';
import type { Domain } from '../records/domain.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { Target } from './evidence.ts';
import type { Onboarding } from './idevid-device.ts';

declare const admitted: unique symbol;

/**
 * How the requester showed who it is, which decides what it may ask for. `password` stands for every shared secret; `idevid` for a
 * manufacturer's certificate (IEEE 802.1AR), which is none of ours; a `registrationAuthority` is a device whose certificate we issued for that purpose (id-kp-cmcRA, RFC 9480 §2.2).
 */
export type CredentialKind =
  | 'password'
  | 'idevid'
  | 'domainCredential'
  | 'issuedCertificate'
  | 'registrationAuthority';

/** Somebody whose evidence has been checked. Only `admit` mints it. */
export interface Requester {
  /** The configuration under which it was admitted; its whole request is served under that one. */
  readonly configuration: Configuration;
  /** Absent for the holder of a certificate that was issued to no device. */
  readonly device: Device | undefined;
  readonly domain: Domain;
  readonly target: Target;
  readonly credential: CredentialKind;
  /** The certificate it presented, one of ours. */
  readonly presented: { readonly record: StoredCertificate; readonly certificate: Certificate } | undefined;
  /** Of an IDevID: what it is bound to. */
  readonly onboarding: Onboarding | undefined;
  readonly address: string;
  readonly [admitted]: true;
}
