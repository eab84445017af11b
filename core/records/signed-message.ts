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
