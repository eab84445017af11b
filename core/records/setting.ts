/** A small value that the store keeps under a name: the token key, the identity of the installation and the like. */
export interface Setting {
  readonly id: number;
  readonly name: string;
  readonly value: Uint8Array;
}

/** A directory for backups, on this machine or another one, with the result of the last run. */
export interface Backup {
  readonly id: number;
  readonly createdAt: number;
  /** An absolute path, or `sftp://user@host/path`. */
  readonly remoteDirectory: string;
  /** The name of the user who created this backup location. */
  readonly user: string;
  readonly lastRunAt: number | null;
  /** `success: <file>` or `failed: <reason>`. */
  readonly lastResult: string | null;
}
