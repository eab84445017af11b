import { permissionMeanings, permissions, shippedRoles } from '#core/access/permissions.ts';
import { code, type Parts, table } from './page.ts';

const roles = Object.entries(shippedRoles);

/** The table of `docs/reference/permissions.md`. */
export const permissionParts: Parts = {
  permissions: table(
    ['Permission', 'Allows', ...roles.map(([name]) => name)],
    permissions.map((name) => [
      code(name),
      permissionMeanings[name],
      ...roles.map(([, role]) => (role.permissions.includes(name) ? 'yes' : '')),
    ]),
  ),
};
