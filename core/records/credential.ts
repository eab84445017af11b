import type { SignatureAlgorithm } from '../x509/algorithm.ts';

/** Names a private key: the key store it is in (its name in the configuration) and its id there. */
export interface KeyReference {
  readonly store: string;
  readonly id: string;
  /** It was there before this service knew of it: whoever put it there has it destroyed, not this service. */
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

/** What a signer has signed. It is evidence: a signer that has signed cannot be deleted. */
export interface SignedMessage {
  readonly id: number;
  readonly createdAt: number;
  /** Its credential. */
  readonly signer: number;
  /** What the signer was called then. */
  readonly signerName: string;
  /** The digest, lower-case hexadecimal. */
  readonly hashValue: string;
  /** Lower-case hexadecimal. */
  readonly signature: string;
}
