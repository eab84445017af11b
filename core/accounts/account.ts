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
