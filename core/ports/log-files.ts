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
