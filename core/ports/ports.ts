import type { Backups } from './backups.ts';
import type { Issuer } from './issuer.ts';
import type { KeyStore } from './keys.ts';
import type { Notifier } from './notifier.ts';
import type {
  Clock,
  Disk,
  Entropy,
  Log,
  LogFiles,
  Passwords,
  Patterns,
  RequestContext,
  Vault,
} from './platform.ts';
import type { Store } from './store.ts';

/**
 * The interfaces through which the core reaches everything outside. Key stores and issuers are listed by their names in
 * the configuration.
 */
export interface Ports {
  readonly store: Store;
  readonly keyStores: ReadonlyMap<string, KeyStore>;
  /** Names of the key stores that are part of Postern and keep keys in the memory of this process; default: none. */
  readonly ownKeyStores?: ReadonlySet<string>;
  readonly issuers: ReadonlyMap<string, Issuer>;
  readonly vault: Vault;
  /** Absent in tests, where the service has no data directory. */
  readonly backups?: Backups;
  readonly notifier: Notifier;
  readonly passwords: Passwords;
  readonly patterns: Patterns;
  readonly log: Log;
  /** Absent where no requests are served: in commands and tests. */
  readonly requests?: RequestContext;
  readonly logFiles: LogFiles;
  /** Returns the disks of the data and the log directory. Absent in tests, where there are none. */
  readonly disks?: () => Promise<readonly Disk[]>;
  readonly clock: Clock;
  readonly entropy: Entropy;
}
