/** Encrypts secrets at rest (device secrets, token keys) under the installation's master key. */
export interface Vault {
  /** AEAD: `context` (what the secret is for and whose) is authenticated, not stored. */
  seal(plain: Uint8Array, context: string): Uint8Array;
  /** Faults: internal when the bytes, the context or the master key are not those of `seal`. */
  open(sealed: Uint8Array, context: string): Uint8Array;
}
