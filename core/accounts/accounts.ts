import { type Permission, permissions } from '../access/permissions.ts';
import { mintPrincipal, type Principal } from '../access/principal.ts';
import { demandVisibleNames } from '../access/resource.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { newHandle, type Write } from '../ports/store.ts';
import type { Role, User } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { sameSecret } from '../security/secrets.ts';
import { commitFor, retried } from '../storage/commit.ts';
import { checkPassword } from './password.ts';
import { type ServiceGrant, servicePrincipal, signInService } from './service-sign-in.ts';
import { belongsTo, refreshSession, type SessionGrant, tokenNotValid } from './sessions.ts';
import type { WithThrottle } from './throttle.ts';
import { readTokenKey } from './token-key.ts';
import { userSignIn } from './user-sign-in.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'passwords' | 'store' | 'vault'>,
    WithSettings,
    WithThrottle {}

const newUser = newHandle('user');

/** An account as it sees itself. */
export interface Self {
  readonly kind: 'user' | 'serviceAccount';
  readonly id: number;
  readonly name: string;
  readonly role: Role;
  /** Nothing else is permitted until the password has been changed. */
  readonly mustChangePassword: boolean;
}

export interface Accounts {
  /** Signs a user in. Faults: unauthenticated (the same for an unknown name and a wrong password), tooManyRequests. */
  signIn(username: string, password: string, address: string): Promise<SessionGrant>;
  /**
   * Changes the user's own password, opens a new session and ends all others. Faults: malformed with `field` for either
   * password, tooManyRequests, as for a sign-in; forbidden for accounts that are not users.
   */
  changePassword(principal: Principal, current: string, next: string): Promise<SessionGrant>;
  /** Refreshes a session. Faults: unauthenticated; a refresh token that was used before ends the session. */
  refresh(session: number, generation: number, address: string): Promise<SessionGrant>;
  /** Ends a session and invalidates all its tokens. An ended session stays ended. */
  signOut(session: number, address: string): Promise<void>;
  /** Returns the principal of a valid access token. Faults: unauthenticated if the user or session no longer exists. */
  principal(user: number, session: number, address: string): Promise<Principal>;
  /** Performs the client credentials grant. Faults: unauthenticated (the same for every cause), tooManyRequests. */
  signInService(clientId: string, clientSecret: string, address: string): Promise<ServiceGrant>;
  /**
   * Returns the principal of a valid access token. Faults: unauthenticated if the account or its secret has changed.
   */
  servicePrincipal(account: number, generation: number, address: string): Promise<Principal>;
  /** Returns the account of a principal. Faults: unauthenticated if it no longer exists. */
  self(principal: Principal): Promise<Self>;
  /** Checks a permission, and audits a refusal. Faults: forbidden. */
  authorize(principal: Principal, permission: Permission): Promise<void>;
  /** Returns the key (32 octets) that signs tokens, the same on every instance. */
  tokenKey(): Promise<Uint8Array>;
  /** Returns a role, for the command line. Faults: notFound. */
  roleNamed(name: string): Promise<Role>;
  /**
   * Creates a user, for the command line. `mustChangePassword`: the user must choose another password at the first
   * sign-in. Faults: conflict with `field`, notFound (the role), malformed (name or password).
   */
  createUser(
    username: string,
    password: string,
    role: string,
    actor: Actor,
    mustChangePassword?: boolean,
  ): Promise<User>;
  /** Sets the password and ends all sessions, for the command line. Faults: notFound, malformed. */
  setPassword(username: string, password: string, actor: Actor, mustChangePassword?: boolean): Promise<void>;
  /** Returns a principal that may only read the metrics, if `token` is the scrape token of the configuration. */
  scraper(token: string): Principal | undefined;
  /** Returns a principal with all permissions, for commands run by the owner of the data directory. */
  operator(name: string): Principal;
}

export function accounts(context: Dependencies): Accounts {
  const { store, clock, passwords } = context;
  const users = userSignIn(context);
  let key: Promise<Uint8Array> | undefined;

  async function roleNamed(uniqueName: string): Promise<Role> {
    const role = await store.find('role', { uniqueName });
    if (!role)
      throw new Fault('notFound', `the role "${shorten(uniqueName)}" does not exist`, { field: 'role' });
    return role;
  }

  async function userActor(id: number, address: string): Promise<Actor> {
    const user = await store.get('user', id);
    return { kind: 'user', id, name: user?.username ?? '', address };
  }

  return {
    ...users,
    refresh: (session, generation, address) => refreshSession(context, session, generation, address),

    async signOut(id, address) {
      const session = await store.get('session', id);
      if (!session || session.isRevoked) return;
      const actor = await userActor(session.user, address);
      await store.commit([
        { op: 'update', kind: 'session', id, set: { isRevoked: true } },
        audit(context, actor, { action: 'account.signOut', object: `user:${session.user}` }),
      ]);
    },

    async principal(userId, sessionId, address) {
      const [user, session] = await Promise.all([store.get('user', userId), store.get('session', sessionId)]);
      const role = user && (await store.get('role', user.role));
      if (!user || !role || !session || !belongsTo(session, user)) throw tokenNotValid();
      const actor: Actor = { kind: 'user', id: user.id, name: user.username, address };
      // The user has no permissions, not even those of the role: the adapter reports why.
      if (user.mustChangePassword) return mintPrincipal(actor, [], true);
      return mintPrincipal(actor, role.permissions);
    },

    async self({ actor: { kind, id, name }, mustChangePassword }) {
      if ((kind === 'user' || kind === 'serviceAccount') && id !== null) {
        const account = await store.get(kind, id);
        const role = account && (await store.get('role', account.role));
        if (role) return { kind, id, name, role, mustChangePassword };
      }
      throw tokenNotValid();
    },

    async authorize({ actor, permissions }, permission) {
      if (permissions.has(permission)) return;
      const event = {
        action: 'account.authorize',
        object: '',
        outcome: 'refused',
        detail: { permission },
      } as const;
      await recordRefusal(context, audit(context, actor, event));
      throw new Fault('forbidden', `this requires the permission ${permission}`, {
        id: 'permission_missing',
        values: { permission },
      });
    },

    tokenKey() {
      key ??= readTokenKey(context).catch((error) => {
        key = undefined;
        throw error;
      });
      return key;
    },

    async createUser(username, password, roleName, actor, mustChangePassword = false) {
      demandVisibleNames({ username });
      checkPassword(passwords, password, username);
      const role = await roleNamed(roleName);
      const writes: readonly Write[] = [
        {
          op: 'insert',
          kind: 'user',
          as: newUser,
          values: {
            createdAt: clock.now(),
            username,
            passwordHash: await passwords.hash(password),
            role: role.id,
            isActive: true,
            generation: 0,
            mustChangePassword,
          },
        },
        audit(
          context,
          actor,
          { action: 'user.create', object: 'user', detail: { username, role: roleName } },
          newUser,
        ),
      ];
      const id = await commitFor(store, writes, newUser);
      return (await store.get('user', id))!;
    },

    async setPassword(username, password, actor, mustChangePassword = false) {
      checkPassword(passwords, password, username);
      const passwordHash = await passwords.hash(password);
      await retried(async () => {
        const user = await store.find('user', { username });
        if (!user) throw new Fault('notFound', `the user "${shorten(username)}" does not exist`);
        const { id, generation } = user;
        const set = { passwordHash, generation: generation + 1, mustChangePassword };
        await store.commit([
          { op: 'update', kind: 'user', id, where: { generation }, set },
          audit(context, actor, { action: 'user.password', object: `user:${id}` }),
        ]);
      });
    },

    roleNamed,
    signInService: (clientId, clientSecret, address) =>
      signInService(context, clientId, clientSecret, address),
    servicePrincipal: (account, generation, address) =>
      servicePrincipal(context, account, generation, address),

    scraper(token) {
      const { scrapeToken } = context.settings;
      if (scrapeToken === undefined || !sameSecret(token, scrapeToken)) return undefined;
      return mintPrincipal({ kind: 'system', id: null, name: 'scraper', address: '' }, ['metrics.read']);
    },
    operator: (name) => mintPrincipal({ kind: 'system', id: null, name, address: '' }, permissions),
  };
}
