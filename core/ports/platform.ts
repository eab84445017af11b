/** The wall clock. Milliseconds since 1970, never decreasing by more than clock adjustments do. */
export interface Clock {
  now(): number;
}

/** Cryptographically strong randomness, a fresh array at each call. */
export interface Entropy {
  bytes(length: number): Uint8Array;
}

/** State of a component outside the process, for health and metrics. `detail` holds no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly detail?: string;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log. `event` is a short stable phrase; fields never hold secrets. Never throws. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `cause` goes to the log with its stack, and nowhere else. */
  error(event: string, cause?: unknown, fields?: LogFields): void;
}

/** Identifies a request in its response, its log lines and its audit events. */
export interface RequestTrace {
  /** Made by Postern: 128 random bits, hexadecimal. */
  readonly id: string;
  /** The `traceparent` of the client (W3C Trace Context), checked. */
  readonly traceparent?: string;
}

/** Tells which request the running code works for. */
export interface RequestContext {
  /** Runs `work`, and everything that it starts, for a request. */
  run<T>(trace: RequestTrace, work: () => T): T;
  /** Undefined for periodic work, which belongs to no request. */
  current(): RequestTrace | undefined;
}

export interface LogFile {
  /** The file name, without a path. */
  readonly name: string;
  /** Octets. */
  readonly size: number;
  /** Last written, ms since 1970. */
  readonly modified: number;
}

/** The file system that holds a directory of the service. */
export interface Disk {
  /** What the directory is for: `data`, `log`. */
  readonly name: string;
  /** Octets that this account can still write, and the size of the file system. */
  readonly free: number;
  readonly size: number;
}

/** The log files. Faults of every member: unavailable. */
export interface LogFiles {
  /** Returns the files, oldest first, the current file last. */
  list(): Promise<readonly LogFile[]>;
  /**
   * Returns the end of a file that `list` names, at most `most` octets. Fault notFound for every other name, even if
   * such a file exists.
   */
  read(name: string, most: number): Promise<Uint8Array>;
  /** Deletes a log file. Fault notFound as for `read`. */
  remove(name: string): Promise<void>;
}

/**
 * Hashes passwords of people with argon2id. Device secrets are long and random, and are not hashed here. Faults:
 * unavailable if too many calls wait.
 */
export interface Passwords {
  /** Returns a self-describing hash with its own salt. */
  hash(password: string): Promise<string>;
  /** Compares in the same time for a wrong password as for the right one. Returns false for a hash it cannot read. */
  verify(password: string, hash: string): Promise<boolean>;
  /** Returns whether the password is on the list of common passwords, ignoring case. */
  isCommon(password: string): boolean;
}

/** Regular expressions of administrators, in a dialect with matching time linear in the text (RE2). */
export interface Patterns {
  /**
   * Compiles a pattern into a full-match test. At most 1,000 characters. Faults: malformed, with the error in the
   * pattern.
   */
  compile(pattern: string): (text: string) => boolean;
}

/** Encrypts secrets at rest (device secrets, token keys) under the master key of the installation. */
export interface Vault {
  /** AEAD: `context` (the purpose of the secret and its owner) is authenticated, not stored. */
  seal(plain: Uint8Array, context: string): Uint8Array;
  /** Faults: internal if the bytes, the context or the master key differ from those of `seal`. */
  open(sealed: Uint8Array, context: string): Uint8Array;
  /**
   * Seals the secret again under the current master key; undefined if it is sealed under that key already. Faults:
   * those of `open`.
   */
  reseal(sealed: Uint8Array, context: string): Uint8Array | undefined;
}
