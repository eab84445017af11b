import type { Static, TObject } from '@sinclair/typebox';
import type { Mount } from '#adapters/inbound/http/exchange.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { Clock, Entropy, Log, Vault } from '#core/ports/platform.ts';
import type { Snapshot } from '#core/ports/snapshot.ts';
import type { Store } from '#core/ports/store.ts';

/** Increased when plugins written for the previous contract would no longer work. */
export const contractVersion = 4;

/** The part of the service that an inbound plugin adds. */
export interface Inbound {
  readonly mounts: readonly Mount[];
  close?(): Promise<void>;
}

/** The port that the plugins of each slot open. */
export interface Ports {
  readonly store: Store;
  readonly keys: KeyStore;
  readonly issuers: Issuer;
  readonly inbound: Inbound;
}

export type Slot = keyof Ports;

/** The number of plugins that each slot needs and allows. Slots open in this order and close in reverse. */
export const slots = {
  store: { min: 1, max: 1 },
  keys: { min: 1, max: Number.POSITIVE_INFINITY },
  issuers: { min: 0, max: Number.POSITIVE_INFINITY },
  inbound: { min: 1, max: Number.POSITIVE_INFINITY },
} as const satisfies Record<Slot, { min: number; max: number }>;

/** What every plugin receives when it opens. */
export interface Surroundings {
  /** The name of the plugin in the configuration: `hsm` of `[keys.hsm]`. */
  readonly name: string;
  /** The absolute path of the data directory. Paths in the configuration are relative to the configuration file instead. */
  readonly dataDirectory: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** Encrypts what the plugin itself stores. The vault of key stores has a key of its own. */
  readonly vault: Vault;
  /** For issuers: the opened key stores by their names in the configuration. */
  readonly keyStores?: ReadonlyMap<string, KeyStore>;
}

/** What an inbound plugin receives in addition: the use cases and the URL of the service. */
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
   * The schema of its table in the configuration, without `plugin` and `module`. Unknown keys are rejected. Text with
   * `pathname: true` is passed as an absolute path. Error messages use `title` to describe the expected value ("a URL like …").
   * The reference is generated from `description`, `examples` and `unset`, which describes an absent key without a `default`.
   */
  readonly config: C;
  /**
   * For an inbound plugin that is an OCSP responder (RFC 6960) of all CAs: returns its path below the public URL. Certificates of
   * profiles with an authorityInfoAccess extension contain that URL.
   */
  ocspPath?(config: Static<C>): string;
  /** For a store: only one process on a machine may serve requests with it. */
  readonly oneProcess?: boolean;
  /**
   * For a store: fills an empty store with a snapshot, completely or not at all, and sets `unsettledRestore`. Throws Fault `conflict`
   * if the store is not empty, `unsupported` for a snapshot of a later version. Absent if the store cannot be restored.
   */
  restore?(config: Static<C>, surroundings: Omit<Surroundings, 'vault'>, snapshot: Snapshot): Promise<void>;
  open(
    config: Static<C>,
    surroundings: S extends 'inbound' ? InboundSurroundings : Surroundings,
  ): Promise<Ports[S]>;
}

/** Defines a plugin. The compiler checks that `open` returns the port of the slot. */
export function definePlugin<S extends Slot, C extends TObject>(
  plugin: Omit<Plugin<S, C>, 'contract'>,
): Plugin<S, C> {
  return { contract: contractVersion, ...plugin };
}
