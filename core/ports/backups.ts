/** Where a backup is written. */
export type BackupLocation =
  /** An existing directory (absolute path). The service chooses the file name. */
  | { readonly kind: 'directory'; readonly path: string }
  /** An existing directory on another machine. */
  | {
      readonly kind: 'sftp';
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly path: string;
    }
  /** A new file (absolute path). */
  | { readonly kind: 'file'; readonly path: string };

export interface BackupFile {
  /** The file name inside the directory, or the full path if the location was a file. */
  readonly name: string;
  /** Octets. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly finishedAt: number;
}

/** Writes a consistent snapshot of the store, the keys and the configuration into one encrypted file. */
export interface Backups {
  /**
   * Writes the backup file. The file appears complete and durable, or not at all. Memory use does not grow with the
   * size of the store. `alive` is called repeatedly with the number of octets written so far; if it throws, the backup
   * is aborted. `options.passphrase` replaces the configured passphrase. Faults: conflict (no passphrase, or an
   * unusable location), unavailable.
   */
  run(
    location: BackupLocation,
    alive: (octets: number) => Promise<void>,
    options?: { readonly passphrase?: string },
  ): Promise<BackupFile>;
}
