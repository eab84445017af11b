import type { KeyReference } from '../ports/keys.ts';

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
  readonly type: number;
  readonly certificate: Uint8Array;
  /** Its issuer first, DER. */
  readonly chain: readonly Uint8Array[];
  readonly key: KeyReference;
  /** For type 0: the one that the listener serves. */
  readonly isActive: boolean;
}
