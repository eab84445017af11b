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

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'passwords' | 'store'>, WithConfiguration {}

export interface UserInput {
  readonly username: string;
  readonly role: number;
  readonly password: string;
  readonly isActive?: boolean;
}

/** Without the hash of the password. */
export type UserView = Omit<User, 'passwordHash' | 'generation'>;

const guardName = 'administrators';

/**
 * Users. An account cannot create or take over an account with more permissions than its own, and one user with the
 * protected role always stays active.
 */
export function users(context: Dependencies): Resource<'user', UserInput, UserView> {
  const { store, clock, passwords } = context;

  /**
   * Returns the write that prevents two administrators from being removed concurrently: every such commit raises one
   * counter, guarded by its value at the time of the count. Faults: conflict for the last administrator.
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
        // The creator of the user knows the password.
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
        // Ends the sessions and sign-ins of the previous generation.
        ...((password !== undefined || hasNewRole || isSwitched) && { generation: generation + 1 }),
      };
      return [
        ...(leaves ? await leave(user) : []),
        // The update is guarded by what was compared: of two concurrent changes, the later one reads again.
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

/** A concurrent change raised the counter: count again. */
const cameBetween = ({ hint, field }: Fault): boolean =>
  hint === undefined && (field === undefined || field === 'name');
