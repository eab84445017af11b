import type { KeyType, SignatureAlgorithm } from '../x509/algorithm.ts';
import type { Health } from './platform.ts';

export interface StoredKey {
  /** Unique in the key store for ever: never given to another key. Letters, digits, '-' only, at most 64. */
  readonly id: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array;
}

/** Keys as text, encrypted as they are at rest. Faults: unavailable. */
export interface KeyFiles {
  /** Their ids. */
  list(): Promise<readonly string[]>;
  /** Undefined when it is gone. */
  read(id: string): Promise<string | undefined>;
  /** What `read` gave in another installation with the same master key. Faults: malformed (no id), conflict (another key has it). */
  write(id: string, contents: string): Promise<void>;
}

/**
 * Holds private keys and signs with them. A key is durable when `generate` or `import` returns.
 * Faults of every member: unavailable (the device is out of reach), notFound (no such key), internal.
 */
export interface KeyStore {
  /** Key types it can make; others are refused with Fault badAlgorithm. */
  readonly keyTypes: readonly KeyType[] | 'all';
  /**
   * Signing happens inside this process, so a crash before the result is stored leaves no signature behind.
   * Where it is absent or false, the intent to sign is stored durably first.
   */
  readonly inProcess?: boolean;
  /** The key as this process holds it in memory: another object once it has been read again. Absent where keys stay outside. */
  held?(id: string): object | undefined;
  /** `label` is for people and tools of the device (at most 100 characters); it need not be unique. */
  generate(type: KeyType, label: string): Promise<StoredKey>;
  /** Absent where keys cannot come from outside. `pkcs8` is an unencrypted PrivateKeyInfo, DER. */
  import?(pkcs8: Uint8Array, label: string): Promise<StoredKey>;
  publicKey(id: string): Promise<Uint8Array>;
  /** A key that other tools may have made, by its label. Absent where there are none. Fault conflict when several have it. */
  find?(label: string): Promise<StoredKey>;
  /**
   * Signs `data` (not its digest). The signature is X.509-ready: ECDSA as DER SEQUENCE, never raw r‖s.
   * Answers at once where nothing has to be waited for. Fault badAlgorithm when the algorithm does not fit the key.
   */
  sign(
    id: string,
    algorithm: SignatureAlgorithm,
    data: Uint8Array,
    signal?: AbortSignal,
  ): Uint8Array | Promise<Uint8Array>;
  /**
   * Signs a digest as it is, by an algorithm that hashes: its hash has made the digest. As `sign` else. Absent where keys sign
   * whole messages only. Fault badAlgorithm too when the digest has another length than the hash.
   */
  signDigest?(id: string, algorithm: SignatureAlgorithm, digest: Uint8Array): Promise<Uint8Array>;
  /** PKCS#8, DER. Absent where keys never leave. */
  export?(id: string): Promise<Uint8Array>;
  /** The keys as they are kept, for backups. Absent where keys stay in a device. */
  readonly files?: KeyFiles;
  /** Seals again what the vault seals with an earlier master key; how many secrets that was. Absent where nothing is sealed. */
  reseal?(): Promise<number>;
  /** Destroys the key; it is no error if it is gone already. */
  remove(id: string): Promise<void>;
  health(): Promise<Health>;
  close(): Promise<void>;
}
