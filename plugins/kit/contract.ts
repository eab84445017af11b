import type { Static, TObject } from '@sinclair/typebox';
import type { Mount } from '#adapters/inbound/http/exchange.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { Clock, Entropy, Log, Vault } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';

/** Raised when a plugin written for the contract before would not work with this one. */
export const contractVersion = 4;

/** What an inbound plugin adds to the service. */
export interface Inbound {
  readonly mounts: readonly Mount[];
  close?(): Promise<void>;
}

/** Slot → the port that its plugins open. */
export interface Ports {
  readonly store: Store;
  readonly keys: KeyStore;
  readonly issuers: Issuer;
  readonly inbound: Inbound;
}

export type Slot = keyof Ports;

/** How many plugins a slot takes. They open in this order and close in reverse. */
export const slots = {
  store: { least: 1, most: 1 },
  keys: { least: 1, most: Number.POSITIVE_INFINITY },
  issuers: { least: 0, most: Number.POSITIVE_INFINITY },
  inbound: { least: 1, most: Number.POSITIVE_INFINITY },
} as const satisfies Record<Slot, { least: number; most: number }>;

/** What every plugin is given. */
export interface Surroundings {
  /** Its name in the configuration: `hsm` of `[keys.hsm]`. */
  readonly name: string;
  /** The data directory, absolute. Relative paths in the configuration are relative to the configuration file. */
  readonly dataDirectory: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** For what the plugin keeps at rest itself. Key stores have one under a key of their own. */
  readonly vault: Vault;
  /** Of issuers: the key stores by their names in the configuration, opened before. */
  readonly keyStores?: ReadonlyMap<string, KeyStore>;
}

/** What an inbound plugin is given on top: the use cases, and how the service is reached. */
export interface InboundSurroundings extends Surroundings {
  readonly gateway: Gateway;
  /** `https://host:port`, without a trailing slash. */
  readonly baseUrl: string;
}

export interface Plugin<S extends Slot = Slot, C extends TObject = TObject> {
  readonly contract: number;
  readonly slot: S;
  readonly name: string;
  /** One sentence for `postern plugin list`. */
  readonly summary: string;
  /**
   * The members of its table in the configuration, `plugin` and `module` aside. Unknown ones are refused. Text marked
   * `pathname: true` arrives as an absolute path; `title` says in errors what is wanted ("a URL like …").
   */
  readonly config: C;
  /**
   * Of an inbound plugin that answers OCSP (RFC 6960) for every CA: at which path, below the public URL. Profiles whose
   * authorityInfoAccess names the service name it in certificates.
   */
  ocspPath?(config: Static<C>): string;
  /** Of a store: several serving processes on one machine only get in each other's way. */
  readonly oneProcess?: boolean;
  /**
   * Of a store: fills an empty one with a snapshot, all of it or nothing, and leaves the setting `unsettledRestore` behind. Faults:
   * conflict when it is not empty, unsupported for a snapshot of a later version. Absent where it cannot be restored.
   */
  restore?(config: Static<C>, surroundings: Omit<Surroundings, 'vault'>, snapshot: Snapshot): Promise<void>;
  open(
    config: Static<C>,
    surroundings: S extends 'inbound' ? InboundSurroundings : Surroundings,
  ): Promise<Ports[S]>;
}

/** A plugin is data. Returning the wrong port for the slot does not compile. */
export function definePlugin<S extends Slot, C extends TObject>(
  plugin: Omit<Plugin<S, C>, 'contract'>,
): Plugin<S, C> {
  return { contract: contractVersion, ...plugin };
}
