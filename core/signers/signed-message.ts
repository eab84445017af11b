/** What a signer has signed: kept for as long as the signer is. */
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
