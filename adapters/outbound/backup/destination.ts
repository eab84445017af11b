/** Of a file that is being written. Whoever dies meanwhile leaves it behind. */
export const temporaryName = (name: string): string => `.${name}.part`;

/** A directory that backups are put in. Failures are Faults: conflict for what the operator can change, or unavailable. */
export interface Destination {
  /** Under a temporary name until the file is whole and durable. Octets. */
  put(name: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Everything in it. */
  names(): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}
