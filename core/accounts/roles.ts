import type { Permission } from '../access/permissions.ts';
import type { Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Role } from '../records/account.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store'>, WithConfiguration {}

export interface RoleInput {
  readonly uniqueName: string;
  readonly permissions: readonly Permission[];
}

/** Roles: sets of permissions. An account can only grant permissions that it has itself. */
export function roles(context: Dependencies): Resource<'role', RoleInput, Role> {
  return resource<'role', RoleInput, Role>(context, {
    kind: 'role',
    reads: 'accounts.read',
    writes: 'accounts.write',
    view: (record) => record,
    summary: ({ uniqueName }) => ({ uniqueName }),
    async create({ uniqueName, permissions }, principal) {
      demandCovers(principal, permissions);
      const values = { createdAt: context.clock.now(), uniqueName, permissions, isProtected: false };
      return { values };
    },
    async update(role, changes, principal) {
      demandOpen(role);
      demandCovers(principal, [...role.permissions, ...(changes.permissions ?? [])]);
      return updateWrites('role', role.id, changes);
    },
    async remove(role, principal) {
      demandOpen(role);
      demandCovers(principal, role.permissions);
      return [{ op: 'delete', kind: 'role', id: role.id }];
    },
  });
}

function demandOpen({ isProtected }: Role): void {
  if (isProtected) throw new Fault('conflict', 'this role is protected', { id: 'role_protected' });
}

/** Faults: forbidden if `granted` has more permissions than the principal. */
function demandCovers(principal: Principal, granted: readonly string[]): void {
  const beyond = granted.find((permission) => !principal.permissions.has(permission));
  if (beyond !== undefined) {
    throw new Fault('forbidden', `you cannot grant the permission ${beyond}, because you do not have it`, {
      id: 'permission_not_held',
      values: { permission: beyond },
    });
  }
}

/**
 * Returns the role for an account. Faults: malformed with field `role`; forbidden if it has more permissions than the
 * principal.
 */
export async function grantableRole(
  context: Pick<Ports, 'store'>,
  principal: Principal,
  id: number,
): Promise<Role> {
  const role = await context.store.get('role', id);
  if (!role) throw new Fault('malformed', 'there is no such role', { field: 'role' });
  demandCovers(principal, role.permissions);
  return role;
}
