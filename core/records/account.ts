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
  /**
   * Counts changes of password, role and activation. Each change ends the sessions and sign-ins of earlier generations.
   */
  readonly generation: number;
  /** An administrator set the password and knows it: until the user chooses a new one, nothing else is permitted. */
  readonly mustChangePassword: boolean;
}

/** One sign-in with the refresh tokens that follow from it. Only the newest token is valid. */
export interface Session {
  readonly id: number;
  readonly createdAt: number;
  readonly user: number;
  /** The user's generation at sign-in. The session ends when the user's generation changes. */
  readonly userGeneration: number;
  /** Counts the refreshes. A token with a lower count has been used before. */
  readonly generation: number;
  readonly expiresAt: number;
  readonly isRevoked: boolean;
}

/** The account of a program, which signs in with its own secret and uses only the APIs. */
export interface ServiceAccount {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly role: number;
  readonly isActive: boolean;
  /** SHA-256 of the secret. The secret is 256 random bits, so a slow password hash would add nothing. */
  readonly secretHash: Uint8Array;
  /** Counts changes of secret, role and activation. A token with a lower count is no longer valid. */
  readonly generation: number;
}

/** One failed login, counted until it is pruned. */
export interface LoginFailure {
  readonly id: number;
  readonly at: number;
  /** Realm, whether the address was known, address, and name, separated by spaces: `device unknown 10.0.0.7 pump-1`. */
  readonly subject: string;
}

/** An address from which an account has signed in. */
export interface KnownAddress {
  readonly id: number;
  /** The kind of account. */
  readonly realm: string;
  readonly name: string;
  /** The address as failed logins are counted: for IPv6, the network. */
  readonly address: string;
  /** The day of the last sign-in. */
  readonly at: number;
}
