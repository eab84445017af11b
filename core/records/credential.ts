import type { SignatureAlgorithm } from '../x509/algorithm.ts';

/** Names a private key: its key store (the name in the configuration) and its id there. */
export interface KeyReference {
  readonly store: string;
  readonly id: string;
  /** The key existed before this service used it, so its owner destroys it, not this service. */
  readonly found?: true;
}

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
  /** The common name of the certificate's subject; empty if there is none. */
  readonly commonName: string;
  readonly notValidAfter: number;
  /** The default signature algorithm of its key. */
  readonly signatureSuite: SignatureAlgorithm;
  readonly certificate: Uint8Array;
  /** Its issuer first, DER. */
  readonly chain: readonly Uint8Array[];
  readonly key: KeyReference;
  /** For type 0: whether the listener serves this credential. */
  readonly isActive: boolean;
  /** For types 1 and 2: the CA that this credential represents; the key belongs to that CA. */
  readonly issuingCa: number | null;
}

/** A signature that a signer made. It is evidence: a signer with signatures cannot be deleted. */
export interface SignedMessage {
  readonly id: number;
  readonly createdAt: number;
  /** The credential that signed. */
  readonly signer: number;
  /** The name of the signer at that time. */
  readonly signerName: string;
  /** The digest, lower-case hexadecimal. */
  readonly hashValue: string;
  /** Lower-case hexadecimal. */
  readonly signature: string;
}
