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
  /** Counts the changes of password, role and activation; each ends the sessions and sign-ins of an earlier generation. */
  readonly generation: number;
  /** An administrator has set the password and knows it: until the user changes it, nothing else is allowed. */
  readonly mustChangePassword: boolean;
}

/** One sign-in and the refresh tokens that follow from it; only the newest is good. */
export interface Session {
  readonly id: number;
  readonly createdAt: number;
  readonly user: number;
  /** The user's generation at sign-in. Once the user has another one, the session has ended. */
  readonly userGeneration: number;
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
  /** Counts the changes of secret, role and activation; a token with a smaller one was given before. */
  readonly generation: number;
}

/** One failed login, counted until it is pruned. */
export interface LoginFailure {
  readonly id: number;
  readonly at: number;
  /** Realm, whether the address was known, address and name, separated by spaces: `device unknown 10.0.0.7 pump-1`. */
  readonly subject: string;
}

/** An address from which an account has signed in. */
export interface KnownAddress {
  readonly id: number;
  /** The kind of account. */
  readonly realm: string;
  readonly name: string;
  /** As failed logins are counted: of IPv6 the network. */
  readonly address: string;
  /** Of the last sign-in, to the day. */
  readonly at: number;
}
