/** Returns the name of a file while it is being written. An interrupted backup leaves it behind. */
export const temporaryName = (name: string): string => `.${name}.part`;

/** A directory for backups. Faults: conflict for problems that the operator can correct; unavailable. */
export interface Destination {
  /** Writes a file, with a temporary name until it is complete and durable. Returns its number of octets. */
  put(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Returns the names of all files in the directory. */
  names(): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}
