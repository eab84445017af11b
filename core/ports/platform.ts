/** The wall clock. Milliseconds since 1970, never decreasing by more than clock adjustments do. */
export interface Clock {
  now(): number;
}

/** Cryptographically strong randomness, a fresh array at each call. */
export interface Entropy {
  bytes(length: number): Uint8Array;
}

/** State of something outside the process, for health and metrics. `detail` holds no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly detail?: string;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log. `event` is a short stable phrase; no secrets in fields, ever. Never throws. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `cause` goes to the log with its stack, and nowhere else. */
  error(event: string, cause?: unknown, fields?: LogFields): void;
}

export interface LogFile {
  /** Without any path. */
  readonly name: string;
  /** Octets. */
  readonly size: number;
  /** Last written, ms since 1970. */
  readonly modified: number;
}

/** The files that the log is written to. Faults of every member: unavailable. */
export interface LogFiles {
  /** Oldest first, the current one last. */
  list(): Promise<readonly LogFile[]>;
  /** The end of a file that `list` names, at most `most` octets of it. Fault notFound for any other name, whatever is there. */
  read(name: string, most: number): Promise<Uint8Array>;
  /** Fault notFound as for `read`. */
  remove(name: string): Promise<void>;
}

/** Human passwords: argon2id. Device secrets are random and long, and never come here. Faults: unavailable when too many wait. */
export interface Passwords {
  /** A self-describing hash with its own salt. */
  hash(password: string): Promise<string>;
  /** Takes as long for a wrong password as for the right one. False for a hash it cannot read. */
  verify(password: string, hash: string): Promise<boolean>;
  /** Whether it is among the passwords that are guessed first, in whatever case. */
  isCommon(password: string): boolean;
}

/** Regular expressions of administrators, in a dialect whose matching time is linear in the text (RE2). */
export interface Patterns {
  /** A full-match test. Faults: malformed, naming what is wrong with the pattern. At most 1,000 characters. */
  compile(pattern: string): (text: string) => boolean;
}

/** Encrypts secrets at rest (device secrets, token keys) under the installation's master key. */
export interface Vault {
  /** AEAD: `context` (what the secret is for and whose) is authenticated, not stored. */
  seal(plain: Uint8Array, context: string): Uint8Array;
  /** Faults: internal when the bytes, the context or the master key are not those of `seal`. */
  open(sealed: Uint8Array, context: string): Uint8Array;
  /** The same secret under the current master key; undefined when it is under that already. Faults: those of `open`. */
  reseal(sealed: Uint8Array, context: string): Uint8Array | undefined;
}
