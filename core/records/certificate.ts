import type { RevocationReason } from '../x509/crl.ts';
import type { KeyReference } from './credential.ts';

/**
 * `intended`: the serial number is reserved and a key outside this process may have signed the certificate. `failed`:
 * an intent without a certificate. `hold` is certificateHold and can become `good` again; `revoked` cannot.
 */
export type CertificateStatus = 'intended' | 'failed' | 'good' | 'hold' | 'revoked';

export interface StoredCertificate {
  readonly id: number;
  readonly createdAt: number;
  /** The name in the inventory; a change never touches the signed bytes. */
  readonly commonName: string;
  readonly ca: number;
  /** Upper-case hex, unique within a CA. */
  readonly serialNumber: string;
  /** RFC 4514. */
  readonly subject: string;
  readonly notValidBefore: number;
  readonly notValidAfter: number;
  /** SHA-256 of the certificate, upper-case hex; empty while intended. */
  readonly fingerprint: string;
  /** DER; for an intent its TBSCertificate. */
  readonly der: Uint8Array;
  readonly status: CertificateStatus;
  readonly revokedAt: number | null;
  readonly revocationReason: RevocationReason | null;
  readonly invalidityDate: number | null;
  readonly device: number | null;
  readonly domain: number | null;
  readonly profile: number | null;
  readonly protocol: string;
  /** Removed from lists; the certificate and its revocation status stay. */
  readonly hidden: boolean;
}

/** The private key of a certificate whose key Postern generated. It can be fetched once. */
export interface CertificateKey {
  readonly id: number;
  readonly createdAt: number;
  readonly certificate: number;
  readonly key: KeyReference;
}
