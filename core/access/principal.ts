import { Fault } from '../fault.ts';
import type { Reads, Store } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { Permission } from './permissions.ts';

declare const authenticated: unique symbol;

/** An account that has shown who it is. Only `core/accounts` mints it. */
export interface Principal {
  readonly actor: Actor;
  /** The role's permissions at this moment. */
  readonly permissions: ReadonlySet<string>;
  /** A user who is allowed nothing but to choose a password. */
  readonly mustChangePassword: boolean;
  readonly [authenticated]: true;
}

/** Faults: forbidden. */
export function demand(principal: Principal, permission: Permission): void {
  if (!principal.permissions.has(permission)) {
    throw new Fault('forbidden', `this needs the permission ${permission}`, {
      id: 'permission_missing',
      values: { permission },
    });
  }
}

/** The reads of many records that an account asks for. */
export const readsOf = (store: Store, { actor }: Principal): Reads =>
  store.readsFor?.(`${actor.kind}:${actor.id}`) ?? store;

/** For `core/accounts` alone: whoever calls it has checked who it is. */
export function mintPrincipal(
  actor: Actor,
  granted: readonly string[],
  mustChangePassword = false,
): Principal {
  const allowed: ReadonlySet<string> = new Set(granted);
  return { actor, permissions: allowed, mustChangePassword } as Principal;
}
