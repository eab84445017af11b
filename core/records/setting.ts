/** A small value that the store keeps under a name: the token key, the identity of the installation and the like. */
export interface Setting {
  readonly id: number;
  readonly name: string;
  readonly value: Uint8Array;
}

/** Where backups go: a directory of this machine or of another one, and how the last one went. */
export interface Backup {
  readonly id: number;
  readonly createdAt: number;
  /** An absolute path, or `sftp://user@host/path`. */
  readonly remoteDirectory: string;
  /** The name of who made this option. */
  readonly user: string;
  readonly lastRunAt: number | null;
  /** `success: <file>` or `failed: <why>`. */
  readonly lastResult: string | null;
}
