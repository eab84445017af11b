import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { type Credential, credentialType } from '../records/credential.ts';

interface Dependencies extends Pick<Ports, 'keyStores' | 'store'>, WithConfiguration {}

/** A certificate and key for the listener, DER; `chain` leads from the certificate's issuer upwards. */
export interface TlsCredential {
  readonly id: number;
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly privateKey: Uint8Array;
}

/** The TLS server credential of this process's listener. */
export class TlsCredentials {
  readonly #context: Dependencies;
  readonly #listeners: (() => Promise<void>)[] = [];
  #current: { readonly counter: number; readonly credential: TlsCredential } | undefined;

  constructor(context: Dependencies) {
    this.#context = context;
  }

  /** Returns the active credential: the same object while the configuration is unchanged. Faults: unavailable. */
  async current(): Promise<TlsCredential> {
    const { store, keyStores, configuration } = this.#context;
    const { counter } = await configuration.current();
    if (this.#current?.counter === counter) return this.#current.credential;
    const active = await store.find('credential', { type: credentialType.tlsServer, isActive: true });
    if (!active) throw new Fault('unavailable', 'there is no TLS server credential');
    const known = this.#current?.credential;
    const credential = known?.id === active.id ? known : await read(keyStores, active);
    this.#current = { counter, credential };
    return credential;
  }

  /** Registers `serve`, which is called when this process has activated another credential. */
  onActivation(serve: () => Promise<void>): void {
    this.#listeners.push(serve);
  }

  async activated(): Promise<void> {
    await Promise.all(this.#listeners.map((serve) => serve()));
  }
}

async function read(
  keyStores: Ports['keyStores'],
  { id, certificate, chain, key }: Credential,
): Promise<TlsCredential> {
  const keys = keyStores.get(key.store);
  if (!keys?.export) {
    throw new Fault(
      'unavailable',
      'the key of the TLS server credential cannot be read: its key store is missing',
    );
  }
  return { id, certificate, chain, privateKey: await keys.export(key.id) };
}
