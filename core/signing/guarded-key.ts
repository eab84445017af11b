import { Fault } from '../fault.ts';
import type { KeyStore } from '../ports/keys.ts';
import type { Clock } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { KeyReference } from '../records/credential.ts';
import type { SignatureAlgorithm } from '../x509/algorithm.ts';
import { type PublicKey, verifySignature } from '../x509/public-key.ts';
import { signByCa } from './key-stores.ts';

/**
 * Milliseconds for which a verified signature vouches for later signatures of the same key in the memory of this
 * process.
 */
const provenFor = 10_000;

/** A private key whose signatures are verified under the public key of a certificate. */
export interface GuardedKey {
  /** See `KeyStore.inProcess`. */
  readonly inProcess: boolean;
  /** Signs like `KeyStore.sign`. Further Faults: internal for a signature that does not verify. */
  sign(algorithm: SignatureAlgorithm, data: Uint8Array, signal?: AbortSignal): Promise<Uint8Array>;
  health: KeyStore['health'];
}

/**
 * Returns the key that `reference` names. Every signature is verified under `publicKey`, so that a replaced key is
 * detected before one of its signatures is used. For keys of Postern's own stores that sign in this process, it is
 * enough to verify the first signature after the key has been read, and then one every ten seconds. Faults: unavailable
 * without its key store.
 */
export function guardedKey(
  ports: Pick<Ports, 'keyStores' | 'ownKeyStores' | 'clock'>,
  { store: name, id }: KeyReference,
  publicKey: PublicKey,
): GuardedKey {
  const keys = ports.keyStores.get(name);
  if (!keys) throw new Fault('unavailable', `the key store "${name}" is not configured`);
  const proof = ports.ownKeyStores?.has(name) ? new Proof(keys, id, ports.clock) : undefined;

  function verified(algorithm: SignatureAlgorithm, data: Uint8Array, signature: Uint8Array): Uint8Array {
    if (proof?.holds()) return signature;
    if (!verifySignature(publicKey, algorithm, data, signature)) {
      const cause = new Error(`the key ${id} in the key store "${name}" does not match its certificate`);
      throw new Fault('internal', 'internal error', { cause });
    }
    proof?.renew();
    return signature;
  }

  return {
    inProcess: keys.inProcess === true,
    sign: async (algorithm, data, signal) =>
      verified(algorithm, data, await signByCa(keys, id, algorithm, data, signal)),
    health: () => keys.health(),
  };
}

/** Remembers that a verified signature proved the key in the memory of this process. */
class Proof {
  readonly #keys: KeyStore;
  readonly #id: string;
  readonly #clock: Clock;
  #held: object | undefined;
  #at = Number.NEGATIVE_INFINITY;

  constructor(keys: KeyStore, id: string, clock: Clock) {
    this.#keys = keys;
    this.#id = id;
    this.#clock = clock;
  }

  holds(): boolean {
    const age = this.#clock.now() - this.#at;
    return (
      age >= 0 && age < provenFor && this.#held !== undefined && this.#held === this.#keys.held?.(this.#id)
    );
  }

  renew(): void {
    this.#held = this.#keys.held?.(this.#id);
    this.#at = this.#clock.now();
  }
}
