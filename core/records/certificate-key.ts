import type { KeyReference } from './key-reference.ts';

/** The private key of a certificate that was asked for without one. It waits to be fetched, once. */
export interface CertificateKey {
  readonly id: number;
  readonly createdAt: number;
  readonly certificate: number;
  readonly key: KeyReference;
}
