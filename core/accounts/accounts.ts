import { type Permission, permissions } from '../access/permissions.ts';
import { mintPrincipal, type Principal } from '../access/principal.ts';
import { audit, brief, recordRefusal } from '../audit/record.ts';
import { currentSettings, type RuntimeSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { newHandle, type Write } from '../ports/store.ts';
import type { Role, Session, User } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { commitFor } from '../storage/made.ts';
import { checkPassword } from './password.ts';
import { type ServiceGrant, servicePrincipal, signInService } from './service-sign-in.ts';
import { endSessions } from './sessions.ts';
import type { WithThrottle } from './throttle.ts';
import { readTokenKey } from './token-key.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'passwords' | 'store' | 'vault'>,
    WithThrottle {}

const newUser = newHandle('user');

/** A sign-in at one moment: what the tokens given out for it say. */
export interface SessionGrant {
  readonly user: number;
  readonly session: number;
  /** How often it has been refreshed; a refresh token holds for one generation. */
  readonly generation: number;
  /** Of the access token and of the refresh token, ms since 1970. */
  readonly accessUntil: number;
  readonly refreshUntil: number;
}

/** An account, as it is shown to itself. */
export interface Self {
  readonly kind: 'user' | 'serviceAccount';
  readonly id: number;
  readonly name: string;
  readonly role: Role;
}

export interface Accounts {
  /** Faults: unauthenticated (the same for an unknown name and a wrong password), tooManyRequests. */
  signIn(username: string, password: string, address: string): Promise<SessionGrant>;
  /** Faults: unauthenticated; a generation that has been used before ends the session. */
  refresh(session: number, generation: number, address: string): Promise<SessionGrant>;
  /** Ends a session: none of its tokens is good any more. One that has ended stays so. */
  signOut(session: number, address: string): Promise<void>;
  /** The holder of a good access token. Faults: unauthenticated when user or session is gone. */
  principal(user: number, session: number, address: string): Promise<Principal>;
  /** The client credentials grant. Faults: unauthenticated (whatever is wrong), tooManyRequests. */
  signInService(clientId: string, clientSecret: string, address: string): Promise<ServiceGrant>;
  /** The holder of a good access token. Faults: unauthenticated when the account or its secret is another one now. */
  servicePrincipal(account: number, generation: number, address: string): Promise<Principal>;
  /** The account that a principal is. Faults: unauthenticated when it is gone. */
  self(principal: Principal): Promise<Self>;
  /** Faults: forbidden, which is audited. */
  authorize(principal: Principal, permission: Permission): Promise<void>;
  /** 32 octets that sign tokens, the same at every instance. */
  tokenKey(): Promise<Uint8Array>;
  /** For the command line. Faults: notFound. */
  roleNamed(name: string): Promise<Role>;
  /** For the command line. Faults: conflict with `field`, notFound (the role), malformed (the password). */
  createUser(username: string, password: string, role: string, actor: Actor): Promise<User>;
  /** Sets the password and ends all sessions. Faults: notFound, malformed. */
  setPassword(username: string, password: string, actor: Actor): Promise<void>;
  /** Everything, for commands run by whoever owns the data directory. */
  operator(name: string): Principal;
}

export function accounts(context: Dependencies): Accounts {
  const { store, clock, passwords } = context;
  let dummyHash: Promise<string> | undefined;
  let key: Promise<Uint8Array> | undefined;

  async function refuse(action: string, actor: Actor, reason: string): Promise<never> {
    await recordRefusal(
      context,
      audit(context, actor, { action, object: '', outcome: 'refused', detail: { reason } }),
    );
    throw new Fault(
      'unauthenticated',
      action === 'account.signIn' ? 'wrong user name or password' : 'the token is not valid',
    );
  }

  const grant = (
    { id, user, generation, expiresAt }: Pick<Session, 'id' | 'user' | 'generation' | 'expiresAt'>,
    { accessTokenSeconds }: RuntimeSettings,
  ): SessionGrant => ({
    user,
    session: id,
    generation,
    accessUntil: Math.min(clock.now() + accessTokenSeconds * 1000, expiresAt),
    refreshUntil: expiresAt,
  });

  async function roleNamed(uniqueName: string): Promise<Role> {
    const role = await store.find('role', { uniqueName });
    if (!role) throw new Fault('notFound', `there is no role called ${brief(uniqueName)}`, { field: 'role' });
    return role;
  }

  async function userActor(id: number, address: string): Promise<Actor> {
    const user = await store.get('user', id);
    return { kind: 'user', id, name: user?.username ?? '', address };
  }

  return {
    async signIn(username, password, address) {
      context.throttle.check(username, address);
      const user = await store.find('user', { username });
      dummyHash ??= passwords.hash(Buffer.from(context.entropy.bytes(16)).toString('hex'));
      // Verified against something in every case: an unknown name takes as long as a wrong password.
      const same = await passwords.verify(password, user?.passwordHash ?? (await dummyHash));
      // Again: of many guesses that come at once, all were let in before the first of them had failed.
      context.throttle.check(username, address);
      if (!user?.isActive || !same) {
        await context.throttle.failed(username, address);
        return refuse(
          'account.signIn',
          { kind: 'unknown', id: null, name: brief(username), address },
          'wrong credentials',
        );
      }
      const actor: Actor = { kind: 'user', id: user.id, name: user.username, address };
      const settings = await currentSettings(store);
      const expiresAt = clock.now() + settings.refreshTokenSeconds * 1000;
      const [id] = await store.commit([
        {
          op: 'insert',
          kind: 'session',
          values: { createdAt: clock.now(), user: user.id, generation: 0, expiresAt, isRevoked: false },
        },
        // Whoever changes the password meanwhile ends every session that is there: this one is there, or is not made.
        {
          op: 'update',
          kind: 'user',
          id: user.id,
          where: { passwordHash: user.passwordHash, isActive: true },
          set: { isActive: true },
        },
        audit(context, actor, { action: 'account.signIn', object: `user:${user.id}` }),
      ]);
      return grant({ id: id!, user: user.id, generation: 0, expiresAt }, settings);
    },

    async refresh(id, generation, address) {
      const session = await store.get('session', id);
      const unknown: Actor = { kind: 'unknown', id: null, name: '', address };
      if (!session || session.isRevoked || session.expiresAt <= clock.now()) {
        return refuse('account.refresh', unknown, 'the session has ended');
      }
      const actor = await userActor(session.user, address);
      const user = await store.get('user', session.user);
      if (!user?.isActive) return refuse('account.refresh', actor, 'the user is not active');
      if (generation !== session.generation) {
        // Somebody else holds a copy of the token: nobody keeps the session.
        await store.commit([
          { op: 'update', kind: 'session', id, set: { isRevoked: true } },
          audit(context, actor, {
            action: 'account.sessionRevoked',
            object: `user:${user.id}`,
            outcome: 'refused',
            detail: { reason: 'a refresh token was used again' },
          }),
        ]);
        return refuse('account.refresh', actor, 'a refresh token was used again');
      }
      const settings = await currentSettings(store);
      const expiresAt = clock.now() + settings.refreshTokenSeconds * 1000;
      const next = { generation: generation + 1, expiresAt };
      try {
        await store.commit([
          { op: 'update', kind: 'session', id, where: { generation, isRevoked: false }, set: next },
        ]);
      } catch (error) {
        if (error instanceof Fault && error.code === 'conflict') {
          return refuse('account.refresh', actor, 'a refresh token was used twice at once');
        }
        throw error;
      }
      return grant({ ...session, ...next }, settings);
    },

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
      if (!user?.isActive || !role || !session || session.isRevoked || session.user !== userId) {
        throw new Fault('unauthenticated', 'the token is not valid');
      }
      return mintPrincipal({ kind: 'user', id: user.id, name: user.username, address }, role.permissions);
    },

    async self({ actor: { kind, id, name } }) {
      if ((kind === 'user' || kind === 'serviceAccount') && id !== null) {
        const account = await store.get(kind, id);
        const role = account && (await store.get('role', account.role));
        if (role) return { kind, id, name, role };
      }
      throw new Fault('unauthenticated', 'the token is not valid');
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
      throw new Fault('forbidden', `this needs the permission ${permission}`);
    },

    tokenKey() {
      key ??= readTokenKey(context).catch((error) => {
        key = undefined;
        throw error;
      });
      return key;
    },

    async createUser(username, password, roleName, actor) {
      checkPassword(password);
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

    async setPassword(username, password, actor) {
      checkPassword(password);
      const user = await store.find('user', { username });
      if (!user) throw new Fault('notFound', `there is no user called ${username}`);
      const passwordHash = await passwords.hash(password);
      await store.commit([
        { op: 'update', kind: 'user', id: user.id, set: { passwordHash } },
        ...(await endSessions(context, user.id)),
        audit(context, actor, { action: 'user.password', object: `user:${user.id}` }),
      ]);
    },

    roleNamed,
    signInService: (clientId, clientSecret, address) =>
      signInService(context, clientId, clientSecret, address),
    servicePrincipal: (account, generation, address) =>
      servicePrincipal(context, account, generation, address),

    operator: (name) => mintPrincipal({ kind: 'system', id: null, name, address: '' }, permissions),
  };
}
