import type { Throttle } from '../accounts/throttle.ts';
import type { ConfigurationCache } from '../configuration/configuration.ts';
import type { Backups } from '../ports/backups.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { KeyStore } from '../ports/keys.ts';
import type { LogFiles } from '../ports/log-files.ts';
import type { Log } from '../ports/logs.ts';
import type { Notifier } from '../ports/notifier.ts';
import type { Passwords } from '../ports/passwords.ts';
import type { Patterns } from '../ports/patterns.ts';
import type { Clock, Entropy } from '../ports/platform.ts';
import type { GatewaySettings } from '../ports/settings.ts';
import type { Ref, Store, Write } from '../ports/store.ts';
import type { Vault } from '../ports/vault.ts';
import type { Actor, AuditEvent } from '../records/audit-event.ts';
import type { Circuits } from '../upstream/circuits.ts';
import type { RefusalBudget } from './refusal-budget.ts';

/** What the core needs of the world. Key stores and issuers under their names in the configuration. */
export interface GatewayPorts {
  readonly store: Store;
  readonly keyStores: ReadonlyMap<string, KeyStore>;
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

/** The ports, the settings and what the use cases share. */
export interface Context extends GatewayPorts {
  readonly settings: GatewaySettings;
  readonly configuration: ConfigurationCache;
  readonly throttle: Throttle;
  readonly refusals: RefusalBudget;
  readonly circuits: Circuits;
}

export const systemActor: Actor = { kind: 'system', id: null, name: 'postern', address: '' };

/** The audit write that goes into the same commit as the change that it tells of. */
export function audit(
  context: Pick<Context, 'clock'>,
  actor: Actor,
  event: Pick<AuditEvent, 'action' | 'object'> & Partial<Pick<AuditEvent, 'outcome' | 'detail'>>,
  objectRef?: Ref,
): Write {
  const { action, object, outcome = 'success', detail = {} } = event;
  const told: AuditEvent = { at: context.clock.now(), actor, action, object, outcome, detail };
  return objectRef ? { op: 'audit', event: told, objectRef } : { op: 'audit', event: told };
}

/** Shortens what a stranger sent, for audit and log. */
export const brief = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text;

/** Stores the audit record of a refusal. A store that is out of reach does not change the answer; the log tells of it. */
export async function recordRefusal(context: Pick<Context, 'store' | 'log'>, write: Write): Promise<void> {
  try {
    await context.store.commit([write]);
  } catch (error) {
    context.log.error('a refusal could not be audited', error);
  }
}
