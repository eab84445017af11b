import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Page, Reads } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Permission } from './permissions.ts';

declare const authenticated: unique symbol;

/** An authenticated account. Only `core/accounts` creates it. */
export interface Principal {
  readonly actor: Actor;
  /** The current permissions of the account's role. */
  readonly permissions: ReadonlySet<string>;
  /** True for a user who must choose a new password before doing anything else. */
  readonly mustChangePassword: boolean;
  readonly [authenticated]: true;
}

/** Checks a permission. Faults: forbidden. */
export function demand(principal: Principal, permission: Permission): void {
  if (!principal.permissions.has(permission)) {
    throw new Fault('forbidden', `this requires the permission ${permission}`, {
      id: 'permission_missing',
      values: { permission },
    });
  }
}

/**
 * Returns the reads that the store separates by account, see `Store.readsFor`. The log names the damaged records that a list
 * leaves out.
 */
export function readsOf({ store, log }: Pick<Ports, 'log' | 'store'>, { actor }: Principal): Reads {
  const reads: Reads = store.readsFor?.(`${actor.kind}:${actor.id}`) ?? store;
  const named = <P extends Page<unknown>>(page: P): P => {
    for (const damage of page.damaged ?? [])
      log.error('a damaged record is omitted from a list', damage, { kind: damage.kind, id: damage.id });
    return page;
  };
  return {
    count: (...query) => reads.count(...query),
    tally: (...query) => reads.tally(...query),
    list: async (kind, query) => named(await reads.list(kind, query)),
    listWithout: async (kind, fields, query) => named(await reads.listWithout(kind, fields, query)),
  };
}

/** Creates a principal. Only `core/accounts` calls it, after authentication. */
export function mintPrincipal(
  actor: Actor,
  granted: readonly string[],
  mustChangePassword = false,
): Principal {
  const allowed: ReadonlySet<string> = new Set(granted);
  return { actor, permissions: allowed, mustChangePassword } as Principal;
}
