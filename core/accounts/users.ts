import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { User } from '../records/account.ts';
import { retried } from '../storage/commit.ts';
import { settingWrite } from '../storage/setting-content.ts';
import { checkPassword } from './password.ts';
import { grantableRole } from './roles.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'passwords' | 'store'>, WithConfiguration {}

export interface UserInput {
  readonly username: string;
  readonly role: number;
  readonly password: string;
  readonly isActive?: boolean;
}

/** Never the password's hash. */
export type UserView = Omit<User, 'passwordHash' | 'generation'>;

const guardName = 'administrators';

/**
 * Users. Nobody can give, or take over, an account that can do more than they themselves; and there is an active
 * administrator (a user with the protected role) at all times.
 */
export function users(context: Dependencies): Resource<'user', UserInput, UserView> {
  const { store, clock, passwords } = context;

  /**
   * The write that keeps two administrators from going at once: every commit that takes one away raises one counter,
   * under the guard that nobody else has raised it since the others were counted. Faults: conflict for the last one.
   */
  async function leave(user: User): Promise<readonly Write[]> {
    const role = await store.get('role', user.role);
    if (!role?.isProtected || !user.isActive) return [];
    const guard = await store.find('setting', { name: guardName });
    const others = await store.list('user', {
      where: [
        { field: 'role', is: 'equal', value: role.id },
        { field: 'isActive', is: 'equal', value: true },
      ],
      limit: 2,
    });
    if (others.records.every(({ id }) => id === user.id)) {
      throw new Fault('conflict', 'this is the last active administrator', {
        id: 'last_administrator',
        hint: `make another active user with the role ${role.uniqueName} first`,
      });
    }
    const changes = guard ? new DataView(guard.value.buffer, guard.value.byteOffset).getUint32(0) : 0;
    return [settingWrite(guardName, guard, count(changes + 1), false)];
  }

  const collection = resource<'user', UserInput, UserView>(context, {
    kind: 'user',
    reads: 'accounts.read',
    writes: 'accounts.write',
    view: ({ passwordHash: _, generation: __, ...shown }) => shown,
    summary: ({ username }) => ({ username }),
    async create({ username, role, password, isActive = true }, principal) {
      checkPassword(passwords, password, username);
      await grantableRole(context, principal, role);
      const passwordHash = await passwords.hash(password);
      const values = {
        createdAt: clock.now(),
        username,
        passwordHash,
        role,
        isActive,
        generation: 0,
        // Whoever creates the user knows the password.
        mustChangePassword: true,
      };
      return { values };
    },
    async update(user, { password, ...changes }, principal) {
      if (password !== undefined) checkPassword(passwords, password, changes.username ?? user.username);
      const role = await grantableRole(context, principal, user.role);
      const next = changes.role === undefined ? role : await grantableRole(context, principal, changes.role);
      const leaves = !next.isProtected || changes.isActive === false;
      const { actor } = principal;
      const isOwn = actor.kind === 'user' && actor.id === user.id;
      const { generation } = user;
      const hasNewRole = changes.role !== undefined && changes.role !== user.role;
      const isSwitched = changes.isActive !== undefined && changes.isActive !== user.isActive;
      const set = {
        ...changes,
        ...(password !== undefined && {
          passwordHash: await passwords.hash(password),
          mustChangePassword: !isOwn,
        }),
        // Ends the sessions and sign-ins of the generation before.
        ...((password !== undefined || hasNewRole || isSwitched) && { generation: generation + 1 }),
      };
      return [
        ...(leaves ? await leave(user) : []),
        // What was compared is still so: of two changes at once the later one looks again.
        ...updateWrites('user', user.id, set, { generation, role: user.role, isActive: user.isActive }),
      ];
    },
    async remove(user, principal) {
      await grantableRole(context, principal, user.role);
      return [...(await leave(user)), { op: 'delete', kind: 'user', id: user.id }];
    },
  });
  return {
    ...collection,
    update: (principal, id, changes) => retried(() => collection.update(principal, id, changes), cameBetween),
    remove: (principal, id) => retried(() => collection.remove(principal, id), cameBetween),
  };
}

function count(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value % 2 ** 32);
  return bytes;
}

/** Somebody else came between: what was counted is counted anew. */
const cameBetween = ({ hint, field }: Fault): boolean =>
  hint === undefined && (field === undefined || field === 'name');
