/** Encrypts secrets at rest (device secrets, token keys) under the installation's master key. */
export interface Vault {
  /** AEAD: `context` (what the secret is for and whose) is authenticated, not stored. */
  seal(plain: Uint8Array, context: string): Uint8Array;
  /** Faults: internal when the bytes, the context or the master key are not those of `seal`. */
  open(sealed: Uint8Array, context: string): Uint8Array;
  /** The same secret under the current master key; undefined when it is under that already. Faults: those of `open`. */
  reseal(sealed: Uint8Array, context: string): Uint8Array | undefined;
}
