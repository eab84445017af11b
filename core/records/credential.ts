import type { SignatureAlgorithm } from '../x509/algorithm.ts';
import type { KeyReference } from './key-reference.ts';

export const credentialType = {
  tlsServer: 0,
  rootCa: 1,
  issuingCa: 2,
  issuedCredential: 3,
  devOwnerId: 4,
  signer: 5,
} as const;

/** A certificate whose private key this service holds. */
export interface Credential {
  readonly id: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly uniqueName: string;
  readonly type: number;
  /** Of the certificate's subject; empty when it has none. */
  readonly commonName: string;
  readonly notValidAfter: number;
  /** What its key signs with by default. */
  readonly signatureSuite: SignatureAlgorithm;
  readonly certificate: Uint8Array;
  /** Its issuer first, DER. */
  readonly chain: readonly Uint8Array[];
  readonly key: KeyReference;
  /** For type 0: the one that the listener serves. */
  readonly isActive: boolean;
  /** For types 1 and 2: the CA that it is, and whose key it refers to. */
  readonly issuingCa: number | null;
}
