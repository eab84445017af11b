/** Where a backup is written. */
export type BackupLocation =
  /** A directory that is there, absolute. The name is the service's choice. */
  | { readonly kind: 'directory'; readonly path: string }
  /** The same on another machine. */
  | {
      readonly kind: 'sftp';
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly path: string;
    }
  /** One file that is not there yet, absolute. */
  | { readonly kind: 'file'; readonly path: string };

export interface BackupFile {
  /** Its name in the directory; its path where it was named. */
  readonly name: string;
  /** Octets. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly finishedAt: number;
}

/** Writes the store as it stands at one moment, the keys and the configuration into one encrypted file. */
export interface Backups {
  /**
   * The file is there whole and durable, or not at all. Memory does not grow with the store. `alive` is called again and again
   * meanwhile with the octets so far; what it throws ends the run. `passphrase` in place of the configured one.
   * Faults: conflict (no passphrase; a location that cannot be used, and why), unavailable.
   */
  run(
    location: BackupLocation,
    alive: (octets: number) => Promise<void>,
    options?: { readonly passphrase?: string },
  ): Promise<BackupFile>;
}
