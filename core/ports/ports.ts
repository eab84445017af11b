import type { Backups } from './backups.ts';
import type { Issuer } from './issuer.ts';
import type { KeyStore } from './keys.ts';
import type { Notifier } from './notifier.ts';
import type { Clock, Entropy, Log, LogFiles, Passwords, Patterns, Vault } from './platform.ts';
import type { Store } from './store.ts';

/** What the core needs of the world. Key stores and issuers under their names in the configuration. */
export interface Ports {
  readonly store: Store;
  readonly keyStores: ReadonlyMap<string, KeyStore>;
  /** Those that are part of Postern and keep keys in the memory of this process; default: none. */
  readonly ownKeyStores?: ReadonlySet<string>;
  readonly issuers: ReadonlyMap<string, Issuer>;
  readonly vault: Vault;
  /** Absent where the service has no place of its own: in tests. */
  readonly backups?: Backups;
  readonly notifier: Notifier;
  readonly passwords: Passwords;
  readonly patterns: Patterns;
  readonly log: Log;
  readonly logFiles: LogFiles;
  readonly clock: Clock;
  readonly entropy: Entropy;
}
