import type { KeyType, SignatureAlgorithm } from '../x509/algorithm.ts';
import type { Health } from './platform.ts';

export interface StoredKey {
  /**
   * Unique within the key store: an id is never reused for another key. Letters, digits and '-' only, at most 64
   * characters.
   */
  readonly id: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
}

/** Key files as text, encrypted as they are at rest. Faults: unavailable. */
export interface KeyFiles {
  /** Returns the ids of all keys. */
  list(): Promise<readonly string[]>;
  /** Returns undefined if there is no such key. */
  read(id: string): Promise<string | undefined>;
  /**
   * Writes a key file that `read` returned, possibly in another installation with the same master key. Faults:
   * malformed (invalid id), conflict (the id belongs to another key).
   */
  write(id: string, contents: string): Promise<void>;
}

/**
 * Holds private keys and signs with them. A key is durable when `generate` or `import` returns. Faults of every member:
 * unavailable (the key device is unreachable), notFound (no such key), internal.
 */
export interface KeyStore {
  /** The key types that the store can generate; other types are rejected with Fault badAlgorithm. */
  readonly keyTypes: readonly KeyType[] | 'all';
  /**
   * True if signing happens inside this process, so that a crash before the result is stored leaves no signature
   * behind. If absent or false, Postern stores the intent to sign before it asks for the signature.
   */
  readonly inProcess?: boolean;
  /**
   * Returns the object that holds the key in the memory of this process; reading the key again makes a new object.
   * Absent if keys stay outside of the process.
   */
  held?(id: string): object | undefined;
  /**
   * Generates a key. `label` is shown to people and to tools of the key device (at most 100 characters) and need not be
   * unique.
   */
  generate(type: KeyType, label: string): Promise<StoredKey>;
  /** Imports a private key. `pkcs8` is an unencrypted PrivateKeyInfo, DER. Absent if the store cannot import keys. */
  import?(pkcs8: Uint8Array, label: string): Promise<StoredKey>;
  publicKey(id: string): Promise<Uint8Array>;
  /**
   * Finds a key by its label; other tools may have generated it. Absent if the store holds only its own keys. Fault
   * conflict if several keys have this label.
   */
  find?(label: string): Promise<StoredKey>;
  /**
   * Signs `data` (not its digest). The signature has the X.509 form: ECDSA as a DER SEQUENCE, never raw r‖s. Returns
   * the signature directly if no I/O is needed. Fault badAlgorithm if the algorithm does not fit the key.
   */
  sign(
    id: string,
    algorithm: SignatureAlgorithm,
    data: Uint8Array,
    signal?: AbortSignal,
  ): Uint8Array | Promise<Uint8Array>;
  /**
   * Signs a digest that the hash of `algorithm` has produced. Behaves like `sign` otherwise. Absent if the keys sign
   * only whole messages. Fault badAlgorithm also if the length of the digest does not match the hash.
   */
  signDigest?(id: string, algorithm: SignatureAlgorithm, digest: Uint8Array): Promise<Uint8Array>;
  /** Returns the private key as PKCS#8, DER. Absent if keys never leave the store. */
  export?(id: string): Promise<Uint8Array>;
  /** The key files, for backups. Absent if the keys stay in a device. */
  readonly files?: KeyFiles;
  /**
   * Re-encrypts all keys that the vault sealed with an earlier master key, and returns how many there were. Absent if
   * the store seals nothing.
   */
  reseal?(): Promise<number>;
  /** Destroys the key. A missing key is no error. */
  remove(id: string): Promise<void>;
  health(): Promise<Health>;
  close(): Promise<void>;
}
