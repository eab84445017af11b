export interface Role {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly permissions: readonly string[];
  /** Cannot be changed or deleted. */
  readonly isProtected: boolean;
}

export interface User {
  readonly id: number;
  readonly createdAt: number;
  readonly username: string;
  /** argon2id, self-describing. */
  readonly passwordHash: string;
  readonly role: number;
  readonly isActive: boolean;
}

/** One sign-in and the refresh tokens that follow from it; only the newest is good. */
export interface Session {
  readonly id: number;
  readonly createdAt: number;
  readonly user: number;
  /** Counts the refreshes; a token with a smaller one has been used before. */
  readonly generation: number;
  readonly expiresAt: number;
  readonly isRevoked: boolean;
}

/** A program's account: signs in with a secret of its own, over the APIs alone. */
export interface ServiceAccount {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly role: number;
  readonly isActive: boolean;
  /** SHA-256 of the secret, which is 256 random bits: there is nothing to guess, so no slow hash. */
  readonly secretHash: Uint8Array;
  /** Counts the rotations of the secret and the deactivations; a token with a smaller one was given before. */
  readonly generation: number;
}
