/** Human passwords: argon2id. Device secrets are random and long, and never come here. Faults: unavailable when too many wait. */
export interface Passwords {
  /** A self-describing hash with its own salt. */
  hash(password: string): Promise<string>;
  /** Takes as long for a wrong password as for the right one. False for a hash it cannot read. */
  verify(password: string, hash: string): Promise<boolean>;
  /** Whether it is among the passwords that are guessed first, in whatever case. */
  isCommon(password: string): boolean;
}
